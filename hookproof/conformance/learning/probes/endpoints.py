"""What creating an endpoint needs and answers (sections 2.3, 2.4, 4.1 and 4.2)."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from hookproof.conformance.learning.probes.access import see_unknown_resource
from hookproof.conformance.learning.probes.authentication import MASKS
from hookproof.conformance.learning.probes.required import learn_required
from hookproof.conformance.learning.session import CREATE, GET, ROLL, ProbeSession, unknown_uid
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import (
    accepted_or_refused,
    has_value,
    refused,
    sent,
    shown,
    shown_uid,
)
from hookproof.spec.dialect.given_settings import ABOUT
from hookproof.spec.dialect.groups.requests import accepted_timeout
from hookproof.spec.dialect.vocabulary import GivenSetting

# The fields that services need most often; the others are only tried where these are not enough.
CORE: Final = ("name", "url", "owner_id")
# What is not tried to find what is required: it has conditions of its own.
INTRICATE: Final = frozenset({"authentication", "mtls_client_cert", "secret", "is_disabled"})
# Beyond this no number is tried as the smallest one.
LARGEST_LEAST: Final = 1 << 12
REQUIRES: Final = "requests.create_endpoint_requires"
# The field that has the state of an endpoint, by whether it was created disabled.
STATES: Final = {True: "words.endpoint_disabled", False: "words.endpoint_active"}
FAILED_VISIT: Final = "delivery.failed_visit"
UNSEEN: Final = "every creation of an endpoint was refused; a success of one would show it"

# Sends a request with a number in one of its fields.
Try = Callable[[int], Awaitable[Exchange]]


async def probe_creation(session: ProbeSession) -> Exchange | None:
    """Find what the creation of an endpoint needs; returns one that succeeded."""
    schema = session.contract.operations[CREATE].body_schema or {}
    untried = INTRICATE.union(session.answers.extended.requests.service_assigned)
    every = [name for name in schema.get("properties", {}) if name not in untried]
    created = await _create(session, every)
    if created is None and session.answering_url and session.target.receiver.can_be_trusted:
        # What has to answer a visit may be all that is wrong with these endpoints.
        session.answers.see(FAILED_VISIT, "refused", shown_by=session.exchanges[-1])
        created = await _create(session, every)
        if created is None:
            session.answers.forget(FAILED_VISIT, UNSEEN)
    if created is None:
        session.answers.miss(REQUIRES, UNSEEN)
        session.endpoint_fields = ()
    return created


async def _create(session: ProbeSession, every: Sequence[str]) -> Exchange | None:
    """An endpoint with the usual fields, or with all of them; None if both are refused."""
    for fields in (CORE, every):
        session.endpoint_fields = tuple(fields)
        created = await session.call(CREATE, f"with {', '.join(fields)}", body=session.endpoint())
        if created.succeeded:
            uid = shown_uid(created)
            if uid is not None:
                session.paths |= {name: {"endpointID": uid} for name in (GET, ROLL)}
            session.endpoint_fields = await _required(session, fields, created)
            session.answers.see("success.created", created.status, shown_by=created)
            return created
    return None


async def _required(
    session: ProbeSession, fields: Sequence[str], created: Exchange
) -> tuple[str, ...]:
    """The fields without each of which no endpoint is created."""
    body = session.endpoint()
    bare = {name: value for name, value in body.items() if name in ("is_disabled", "url")}
    least = await session.call(CREATE, "with nothing but url", body=bare)

    async def without(name: str) -> Exchange:
        left = {field: value for field, value in session.endpoint().items() if field != name}
        return await session.call(CREATE, f"without {name}", body=left)

    tried = ("url",) if least.succeeded else fields
    return await learn_required(session, REQUIRES, tried, without, whole=created)


def read_endpoints(session: ProbeSession) -> None:
    """The words for states of endpoints, and the defaults that they show, wherever they are shown:
    what differs from one answer to another may be either.
    """
    bodies = {
        uid: sent(each)
        for each in session.exchanges
        if each.operation_id == CREATE and (uid := shown_uid(each)) is not None
    }
    shown_by: dict[str, dict[Any, Exchange]] = {}
    for each in session.exchanges:
        body = bodies.get(shown_uid(each) or "")
        if body is not None and each.operation_id in (CREATE, GET, ROLL):
            for field, value in _states_and_defaults(shown(each), body):
                shown_by.setdefault(field, {}).setdefault(value, each)
    for field, proofs in shown_by.items():
        session.answers.see(field, *proofs, shown_by=next(iter(proofs.values())))


def _states_and_defaults(
    resource: Mapping[str, Any], body: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    status, is_disabled = resource.get("status"), body.get("is_disabled")
    if isinstance(status, str) and status and isinstance(is_disabled, bool):
        yield STATES[is_disabled], status
    for field, member in (
        ("delivery.default_timeout_s", "http_timeout"),
        ("delivery.default_rate_limit_duration", "rate_limit_duration"),
    ):
        value = resource.get(member)
        if type(value) is int and value > 0 and member not in body:
            yield field, value


async def probe_endpoint(session: ProbeSession, created: Exchange) -> None:
    """Fetch an endpoint, and one that does not exist."""
    uid = shown_uid(created)
    if uid is None:
        return
    fetched = await session.call(GET, "the endpoint", uid=uid)
    if fetched.succeeded:
        session.answers.see("success.get_endpoint", fetched.status, shown_by=fetched)
        _read_secret_display(session, created, fetched)
    answer = await session.call(GET, "an endpoint that does not exist", uid=unknown_uid(uid))
    see_unknown_resource(session, answer)


def _read_secret_display(session: ProbeSession, created: Exchange, fetched: Exchange) -> None:
    clear, later = generated_secret(created), generated_secret(fetched)
    field = "representation.secrets_shown"
    if clear is None or MASKS.fullmatch(clear):
        session.answers.miss(field, "the answer to a creation shows no secret")
    else:
        display = "always" if later == clear else "when_set"
        session.answers.see(field, display, shown_by=fetched)


async def probe_active_endpoint(session: ProbeSession) -> None:
    """The word for an endpoint that is not disabled, and what appID and zeros mean."""
    field, answers = "requests.app_id", session.answers
    owner, usual = session.word("app"), session.word("owner")
    body = session.active_endpoint(appID=owner)
    if "owner_id" in body:
        body["owner_id"] = ""
    active = await session.call(CREATE, "active, with appID", body=body)
    owned = await session.call(CREATE, "with an owner", body=session.endpoint(owner_id=usual))
    if not active.succeeded:
        body = session.active_endpoint()
        active = await session.call(CREATE, "an active endpoint", body=body)
        answers.miss(field, "an endpoint with appID in place of owner_id is refused")
    elif shown(active).get("owner_id") == owner:
        answers.see(field, "owner_alias", shown_by=active)
    elif shown(owned).get("owner_id") == usual:
        answers.see(field, "ignored", shown_by=active)
    else:
        answers.miss(field, "an endpoint does not show its owner")
    read_endpoints(session)


async def probe_given_settings(session: ProbeSession) -> None:
    """Learn whether a time-out and contacts are kept, from two endpoints with different ones.

    The control is an endpoint that was given none: what is dropped is shown as there.
    """
    control = await session.call(CREATE, "without settings", body=session.endpoint())
    given = [
        await session.call(
            CREATE, "with a time-out and contacts", body=session.endpoint(**settings)
        )
        for settings in (_settings(session, 11), _settings(session, 12))
    ]
    for answer_about in dict.fromkeys(ABOUT.values()):
        field = f"requests.{answer_about}"
        settings = [name for name in ABOUT if ABOUT[name] == answer_about]
        if not control.succeeded or not all(answer.succeeded for answer in given):
            session.answers.miss(field, "an endpoint with a time-out and contacts is refused")
            continue
        fates = {_fate(control, answer, name) for answer in given for name in settings}
        if len(fates) == 1 and (fate := fates.pop()) is not None:
            session.answers.see(field, fate.value, shown_by=given[-1], count=len(given))
        else:
            session.answers.miss(
                field, "what endpoints show is neither what they were given nor none"
            )


def _settings(session: ProbeSession, seconds: int) -> dict[str, Any]:
    bodies, rules = session.bodies, session.answers.extended.requests
    settings = {name: bodies.endpoint_value(name) for name in ABOUT}
    return {**settings, "http_timeout": accepted_timeout(rules, seconds)}


def _fate(control: Exchange, answer: Exchange, name: str) -> GivenSetting | None:
    """Whether the setting was kept or dropped; None if it shows neither."""
    given, usual, actual = (
        where.get(name) for where in (sent(answer), shown(control), shown(answer))
    )
    if given == usual or not shown(control) or not shown(answer):
        return None
    if actual == given:
        return GivenSetting.KEPT
    is_usual = actual == usual or not (has_value(actual) or has_value(usual))
    return GivenSetting.DROPPED if is_usual and name not in sent(control) else None


async def probe_zeros(session: ProbeSession) -> None:
    """Learn whether a limit and a time-out of 0 are accepted; both endpoints are disabled."""
    limit = await session.call(CREATE, "with rate_limit 0", body=session.endpoint(rate_limit=0))
    field, kept = "delivery.zero_rate_limit", shown(limit).get("rate_limit")
    if limit.succeeded and kept not in (0, None):
        session.answers.miss(field, f"a rate_limit of 0 is shown as {kept}")
    elif limit.succeeded or refused(limit):
        meaning = "refused" if refused(limit) else "unlimited"
        session.answers.see(field, meaning, shown_by=limit)

    async def with_timeout(seconds: int) -> Exchange:
        body = session.endpoint(http_timeout=seconds)
        return await session.call(CREATE, f"with http_timeout {seconds}", body=body)

    timeout = await with_timeout(0)
    field = "requests.http_timeout_minimum"
    if timeout.succeeded:
        session.answers.see(field, 0, shown_by=timeout)
    elif refused(timeout):
        session.answers.see("delivery.zero_http_timeout", "refused", shown_by=timeout)
        least = await least_accepted(with_timeout)
        if least is None:
            session.answers.miss(field, f"no http_timeout up to {LARGEST_LEAST} is accepted")
        else:
            session.answers.see(field, least[0], shown_by=timeout)


async def least_accepted(tried: Try) -> tuple[int, Exchange] | None:
    """The smallest number above 0 that is accepted, by doubling and then by halves, and its answer;
    None if none is found.
    """
    smallest, refused_one = 1, 0
    while not (proof := await tried(smallest)).succeeded:
        refused_one, smallest = smallest, smallest * 2
        if smallest > LARGEST_LEAST or not refused(proof):
            return None
    while smallest - refused_one > 1:
        middle = (smallest + refused_one) // 2
        answer = await tried(middle)
        if not accepted_or_refused(answer):
            return None
        if refused(answer):
            refused_one = middle
        else:
            smallest, proof = middle, answer
    return smallest, proof


def generated_secret(exchange: Exchange) -> str | None:
    """The value of the last secret that an endpoint shows, None if it shows none."""
    held = shown(exchange).get("secrets")
    last: Mapping[str, Any] = held[-1] if isinstance(held, list) and held else {}
    value = last.get("value") if isinstance(last, dict) else None
    return value if isinstance(value, str) and value else None
