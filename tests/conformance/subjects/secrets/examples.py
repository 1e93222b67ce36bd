"""Examples for sections 2.4 and 4.3: the secrets of endpoints, and rolls of them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.subjects.secrets.evidence import (
    AT_ONCE,
    ExpiredSecret,
    RollAnswer,
    RollsAtOnce,
)
from tests.conformance.canned_evidence import NOW, context, exchange, observation
from tests.conformance.checks.api.example import (
    AT,
    LATER,
    OTHER_UID,
    UID,
    Example,
    created,
    endpoint,
    fetched,
    secret,
)
from tests.conformance.subjects.endpoints.examples import minimal, shown_with

OLD, NEW = "01ARZ3NDEKTSV4RRFFQ69G5FA0", "01ARZ3NDEKTSV4RRFFQ69G5FA1"
ONE_HOUR_ON = "2027-01-15T09:00:00.000000Z"  # NOW and an hour
assert NOW == 1_800_000_000.0, "ONE_HOUR_ON counts from NOW"
GIVEN = "a-secret-that-was-given"


def with_secrets(
    role: str, operation_id: str, *secrets: dict[str, Any], request: Any = None, **fields: Any
) -> Exchange:
    """An endpoint with these secrets in the answer to an operation."""
    return exchange(
        role,
        operation_id,
        data=endpoint(secrets=list(secrets), **fields),
        request=request,
        path={"endpointID": UID},
    )


def roll(
    *secrets: dict[str, Any],
    body: dict[str, Any],
    fetched_secrets: Any = None,
    in_answer: dict[str, Any] | None = None,
    **changed: Any,
) -> RollAnswer:
    """A roll that was answered with these secrets, between two fetches, examined as at intake.

    The answer has other fields `in_answer`, and the last fetch those `changed`. Another endpoint
    stays as it is.
    """
    after = list(secrets) if fetched_secrets is None else fetched_secrets
    return observation(
        RollAnswer,
        with_secrets("create other", "createEndpoint", secret(OTHER_UID)),
        with_secrets("fetch before", "getEndpoint", secret(OLD, GIVEN)),
        with_secrets("roll", "expireEndpointSecret", *secrets, request=body, **(in_answer or {})),
        with_secrets("fetch", "getEndpoint", *after, **changed),
        with_secrets("fetch other", "getEndpoint", secret(OTHER_UID)),
        given=(GIVEN,),
    ).examined(context().dialect)


EXPIRING = secret(OLD, GIVEN, expires_at=ONE_HOUR_ON)
BODY = {"secret": "new-secret", "expiration": 3600}
ROLLED = roll(EXPIRING, secret(NEW, "new-secret"), body=BODY)


def expired(*left: dict[str, Any]) -> ExpiredSecret:
    """An endpoint that shows these secrets when its first one has expired."""
    return observation(
        ExpiredSecret,
        with_secrets("create", "createEndpoint", secret(OLD, GIVEN)),
        with_secrets("roll", "expireEndpointSecret", EXPIRING, secret(NEW, "new-secret")),
        with_secrets("fetch", "getEndpoint", *left),
    )


# What is fetched after a roll of each pair: the names of the secrets, oldest first.
Fetched = Sequence[str]


def showing(names: Iterable[str], role: str = "fetch") -> Exchange:
    shown = [secret(name, value=f"value of {name}") for name in names]
    return with_secrets(role, "getEndpoint", *shown)


def rolled(name: str, role: str = AT_ONCE, **changed: Any) -> Exchange:
    request = {"secret": f"value of {name}", "expiration": 60}
    shown = secret(name, value=request["secret"])
    answer = with_secrets(role, "expireEndpointSecret", shown, request=request)
    return replace(answer, **changed)


def rolls(
    *pairs: tuple[str, Fetched], in_turn: Fetched = ("old", "a", "b"), later: Fetched = ()
) -> RollsAtOnce:
    """Rolls to `a` and `b` in turn, then pairs of rolls, each with what was fetched afterwards, and
    in the end once more.
    """
    exchanges = [
        showing(["old"], "fetch before"),
        *(rolled(name, "roll in turn") for name in "ab"),
        showing(in_turn),
    ]
    for names, shown in pairs:
        exchanges += [*map(rolled, names), showing(shown)]
    if later:
        exchanges.append(showing(later, "fetch again"))
    return observation(RollsAtOnce, created(), *exchanges)


KEPT = ("cd", ["old", "a", "b", "c", "d"])
LOST = ("cd", ["old", "a", "b", "d"])


OF_SECRET = (
    *(
        Example(requirement="4.3-22", kept=expired(*kept), broken=expired(*broken), dialect=dialect)
        for dialect, kept, broken in (
            ("reference", (EXPIRING, secret(NEW)), (secret(NEW),)),
            ("contrary", (secret(NEW),), (EXPIRING, secret(NEW))),
        )
    ),
    Example(
        requirement="2.3-11",
        kept=shown_with(created({"secrets": [secret(value=GIVEN)]}, {"secret": GIVEN})),
        broken=shown_with(created({"secrets": [secret()]}, {"secret": GIVEN})),
    ),
    *(
        Example(
            requirement=requirement,
            kept=minimal(
                created({"secrets": [secret(value="s" * 43)]}),
                created({"secrets": [secret(value="t" * 43)]}),
            ),
            broken=minimal(*[created({"secrets": [secret(value=value)]}) for value in values]),
        )
        for requirement, values in (
            ("2.3-12", ("", "s" * 43)),
            ("2.3-13", ("short", "s" * 43)),
            ("2.3-14", ("s" * 43,) * 2),
        )
    ),
    Example(
        requirement="2.4-5",
        kept=shown_with(created({"secrets": [secret(expires_at=None)]})),
        broken=shown_with(created({"secrets": [secret(expires_at=AT)]})),
    ),
    Example(
        requirement="4.2-6",
        kept=shown_with(created(), fetched()),
        broken=shown_with(created(), fetched({"secrets": [secret(value="another")]})),
    ),
    *(
        Example(
            requirement="4.2-6",
            kept=shown_with(created({"secrets": [secret(created_at=kept)]}), fetched()),
            broken=shown_with(created({"secrets": [secret(created_at=LATER)]}), fetched()),
        )
        for kept in (None, AT)
    ),
    *(
        Example(
            requirement="2.4-2",
            kept=fetched({"secrets": [secret(OLD), secret(NEW), *others]}),
            broken=fetched({"secrets": [secret(OLD), secret(OLD), *others]}),
        )
        for others in ([], [{"value": "one"}, {"value": "another"}])
    ),
    Example(
        requirement="2.4-4",
        kept=shown_with(
            created({}, {"secret": GIVEN}), fetched({"secrets": [secret(value=GIVEN)]})
        ),
        broken=shown_with(
            created({}, {"secret": GIVEN}), fetched({"secrets": [secret(value="***")]})
        ),
    ),
    Example(
        requirement="2.4-4",
        kept=shown_with(
            created({}, {"secret": GIVEN}), fetched({"secrets": [secret(value="***")]})
        ),
        broken=shown_with(
            created({}, {"secret": GIVEN}), fetched({"secrets": [secret(value=GIVEN)]})
        ),
        dialect="contrary",
    ),
)

ROLLS = (
    *(
        Example(
            requirement="4.3-11",
            kept=ROLLED,
            broken=roll(EXPIRING, secret(NEW, "new-secret"), body=BODY, **changed),
        )
        for other in ({"url": "https://two.invalid"},)
        for changed in (other, {"in_answer": other})
    ),
    Example(
        requirement="4.3-12", kept=ROLLED, broken=roll(EXPIRING, secret(NEW, "another"), body=BODY)
    ),
    Example(
        requirement="4.3-13",
        kept=ROLLED,
        broken=roll(
            EXPIRING, secret(NEW, "new-secret"), body=BODY, fetched_secrets=[secret(OLD, GIVEN)]
        ),
    ),
    Example(requirement="4.3-13", kept=rolls(KEPT), broken=rolls(LOST)),
    Example(
        requirement="4.3-14",
        kept=ROLLED,
        broken=observation(
            RollAnswer,
            *ROLLED.exchanges[:-1],
            with_secrets(
                "fetch other", "getEndpoint", secret(OTHER_UID, expires_at=AT), secret(NEW)
            ),
            given=ROLLED.given,
        ),
    ),
    Example(
        requirement="4.3-15",
        kept=ROLLED,
        broken=roll(
            secret(OLD, GIVEN, expires_at="2027-01-15T08:01:00.000000Z"),
            secret(NEW, "new-secret"),
            body=BODY,
        ),
    ),
    Example(
        requirement="4.3-18",
        kept=roll(secret(NEW, "new-secret"), body={"secret": "new-secret"}),
        broken=roll(EXPIRING, secret(NEW, "new-secret"), body={"secret": "new-secret"}),
    ),
    Example(
        requirement="4.3-17",
        kept=ROLLED,
        broken=roll(EXPIRING, secret(NEW, "new-secret", expires_at=ONE_HOUR_ON), body=BODY),
    ),
    Example(
        requirement="4.3-19",
        kept=roll(EXPIRING, secret(NEW, "g" * 43), body={"expiration": 3600}),
        broken=roll(EXPIRING, secret(NEW, ""), body={"expiration": 3600}),
    ),
)


EXAMPLES = (
    *OF_SECRET,
    *ROLLS,
)
