"""Section 4.3: what a roll shows in its answer, and afterwards when the endpoint is fetched."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hookproof.conformance.checks.api.resources.endpoint import CONFIGURATION
from hookproof.conformance.checks.api.resources.secret import is_generated, uids, values
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, holds, judged, not_applicable
from hookproof.conformance.observations.answer import has_value, shown
from hookproof.conformance.observations.case import Case
from hookproof.conformance.observations.timestamp import unix_seconds
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import SecretDisplay

# How far expires_at may be off for the rounding of timestamps and the way of the request, in
# seconds.
ROUNDING_S: Final = 2.0

# The same for long times, as a share of them.
SHARE: Final = 0.01


@check("4.3-11", experiments=("roll_answers",))
def a_roll_leaves_the_configuration_as_it_was(
    case: Case, _context: CheckContext
) -> Iterator[Judgement]:
    """Fetched before and after."""
    before, after = case.exchange("fetch before"), case.exchange("fetch")
    if before is not None and after is not None and shown(before) and shown(after):
        changed = [
            name for name in CONFIGURATION if shown(before).get(name) != shown(after).get(name)
        ]
        message = "A roll changes the configuration of an endpoint"
        yield judged(
            not changed,
            "4.3-11",
            message,
            expected="as before",
            actual=changed,
            exchanges=[before, after],
        )


@check("4.3-12", experiments=("roll_answers",))
def the_secret_sent_is_among_those_in_the_answer(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Every way of showing secrets shows it there."""
    if context.dialect.representation.secrets_shown.decided:
        for roll, body in _rolls(case):
            if "secret" in body:
                message = "The secret that a roll was sent is not among the endpoint's secrets in its answer"
                yield judged(
                    body["secret"] in values(roll),
                    "4.3-12",
                    message,
                    expected="the secret that was sent",
                    actual=f"{len(values(roll))} other secrets",
                    exchanges=[roll],
                )


@check("4.3-13", experiments=("roll_answers",))
def a_roll_shows_when_the_endpoint_is_fetched(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """The secrets of the last answer, by identifier, and by value where the dialect always shows
    them.
    """
    rolls, fetched = case.all_exchanges("roll"), case.exchange("fetch")
    if not rolls or fetched is None or not shown(rolls[-1]) or not shown(fetched):
        return
    always = context.dialect.representation.secrets_shown.allowed == (SecretDisplay.ALWAYS,)
    newest = [
        uid for uid in uids(rolls[-1]) if uid not in uids(case.exchange("fetch before") or rolls[0])
    ]
    fits = set(newest) <= set(uids(fetched)) and (
        not always or {str(one.get("value")) for one in _current(rolls[-1])} <= set(values(fetched))
    )
    message = "A roll does not show when the endpoint is fetched"
    yield judged(
        fits,
        "4.3-13",
        message,
        expected=uids(rolls[-1]),
        actual=uids(fetched),
        exchanges=[rolls[-1], fetched],
    )


@check("4.3-14", experiments=("roll_answers",))
def a_roll_leaves_the_secrets_of_others_alone(
    case: Case, _context: CheckContext
) -> Iterator[Judgement]:
    """Another endpoint of the project, created before."""
    created, fetched = case.exchange("create other"), case.exchange("fetch other")
    if created is not None and fetched is not None and uids(created) and shown(fetched):
        expiring = [one for one in _secrets(fetched) if has_value(one.get("expires_at"))]
        message = "A roll changes the secrets of another endpoint"
        yield judged(
            uids(created) == uids(fetched) and not expiring,
            "4.3-14",
            message,
            expected=uids(created),
            actual=f"{uids(fetched)}, {len(expiring)} of them expiring",
            exchanges=[created, *case.all_exchanges("roll"), fetched],
        )


@check("4.3-15", "4.3-18", experiments=("roll_answers",))
def the_old_secret_expires_when_the_roll_says(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """expires_at lies as far after the roll as expiration says, or the dialect's default; an old
    one may be gone.
    """
    yield from _demanded("4.3-18", "expiration", context.dialect)
    form = context.dialect.representation.timestamp
    before = case.exchange("fetch before")
    current = _current_uids(before) if before is not None else set()
    for roll, body in _rolls(case):
        wanted, requirement = (
            _overlap_s(body, context.dialect),
            "4.3-15" if "expiration" in body else "4.3-18",
        )
        replaced = [one for one in _secrets(roll) if str(one.get("uid")) in current]
        if wanted == 0 and not replaced:
            yield holds(requirement)
        elif wanted is not None and replaced and form.decided:
            expires_at = unix_seconds(replaced[0].get("expires_at"), form.value)
            length = None if expires_at is None else expires_at - roll.sent_at
            yield judged(
                length is not None
                and abs(length - wanted) <= ROUNDING_S + roll.duration_s + SHARE * wanted,
                requirement,
                "The old secret does not expire as long after the roll as it should",
                expected=f"{wanted:g} s after the roll",
                actual="no expires_at" if length is None else f"{length:.1f} s after the roll",
                exchanges=[roll],
            )
        current = _current_uids(roll)


def _overlap_s(body: Mapping[str, Any], dialect: Dialect) -> float | None:
    """How long the old secret lives after a roll with this body, in seconds; None where the dialect
    does not say.
    """
    default = dialect.rolling.default_expiration
    amount = body.get("expiration", default.value if default.decided else None)
    return None if amount is None else float(amount) * dialect.rolling.expiration_unit.in_seconds


@check("4.3-17", experiments=("roll_answers",))
def the_new_secret_does_not_expire(case: Case, _context: CheckContext) -> Iterator[Judgement]:
    """At least one secret goes on, and none of those that the last roll brought in has an end."""
    before = case.exchange("fetch before")
    known = set(uids(before)) if before is not None else set()
    for roll, _ in _rolls(case):
        if not known:  # the secrets before could not be read, so that none can be told to be new
            known = set(uids(roll))
            continue
        new = [one for one in _secrets(roll) if str(one.get("uid")) not in known]
        known |= set(uids(roll))
        expiring = [one.get("expires_at") for one in new if has_value(one.get("expires_at"))]
        message = "The secret that a roll brings in has an expires_at"
        yield judged(
            bool(new) and not expiring,
            "4.3-17",
            message,
            expected="a new secret without end",
            actual=expiring,
            exchanges=[roll],
        )


@check("4.3-19", experiments=("roll_answers",))
def a_roll_without_a_secret_brings_in_one(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """Made by the service, in the dialect's form."""
    yield from _demanded("4.3-19", "secret", context.dialect)
    if not context.dialect.representation.secrets_shown.decided:
        return
    given = set(case.facts["given"])
    for roll, body in _rolls(case):
        if "secret" not in body:
            made = [value for value in values(roll) if value not in given]
            message = "A roll without a secret brings in none of the dialect's form"
            yield judged(
                any(is_generated(value, context.dialect.signatures.secret) for value in made),
                "4.3-19",
                message,
                expected="a secret made by the service",
                actual=f"{len(made)} new secrets",
                exchanges=[roll],
            )


def _demanded(requirement: str, field: str, dialect: Dialect) -> Iterator[Judgement]:
    """Where the dialect requires a field, there is no roll without it."""
    if field in dialect.requests.expire_endpoint_secret_requires:
        yield not_applicable(requirement, f"the dialect requires {field} of every roll")


def _rolls(case: Case) -> Iterator[tuple[Exchange, Mapping[str, Any]]]:
    """Each roll that succeeded, with its body."""
    for roll, body in zip(case.all_exchanges("roll"), case.facts["rolls"], strict=False):
        if shown(roll):
            yield roll, body


def _secrets(exchange: Exchange) -> list[Mapping[str, Any]]:
    secrets = shown(exchange).get("secrets")
    return [one for one in secrets if isinstance(one, dict)] if isinstance(secrets, list) else []


def _current(exchange: Exchange) -> list[Mapping[str, Any]]:
    """The secrets that have no end."""
    return [one for one in _secrets(exchange) if not has_value(one.get("expires_at"))]


def _current_uids(exchange: Exchange) -> set[str]:
    return {str(one.get("uid")) for one in _current(exchange)}
