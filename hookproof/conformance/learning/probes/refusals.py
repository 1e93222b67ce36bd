"""How requests are refused that are wrong in themselves (sections 2.9 and 7)."""

from typing import Any, Final

from hookproof.conformance.checks.reading import is_taken_over
from hookproof.conformance.learning.probes.access import miss_undecided, see_status
from hookproof.conformance.learning.probes.rolls import roll
from hookproof.conformance.learning.session import BROADCAST, CREATE, UPDATE, ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import accepted_or_refused, refused, shown_uid

BROKEN: Final = b'{"name":"half'
TEXT: Final = ("Content-Type", "text/plain")
UNKNOWN: Final = "undocumented_field"
TAKEN_OVER: Final = (
    "a field that the document {} comes back in the answer: it is neither ignored nor refused"
)
# What an endpoint shows and no request has: only the service sets it, if anybody does.
OF_SERVICE: Final = (
    "uid",
    "project_id",
    "status",
    "events",
    "failure_rate",
    "created_at",
    "updated_at",
    "deleted_at",
)
USUAL: Final = OF_SERVICE[0]
# The roles of requests with a field that the document does not name, and with one of those.
UNLISTED: Final = {UNKNOWN: "with an unknown field", USUAL: f"with {USUAL}"}


async def probe_refusals(session: ProbeSession) -> None:
    """Requests that no service should accept, and fields that it may refuse."""
    project = f"/api/v1/projects/{session.project.id}"
    broken = await session.call(CREATE, "with half a body", raw_body=BROKEN)
    see_status(session, "errors.malformed_body", broken)
    path = await session.send("a path outside the API", "GET", f"{project}/{session.word('no')}")
    see_status(session, "errors.unknown_path", path)
    method = await session.send("another method", "PATCH", f"{project}/endpoints", {})
    see_status(session, "errors.method_not_allowed", method)
    if not session.endpoint_fields:
        return
    wrong_type = await session.call(
        CREATE, "with a text as http_timeout", body=session.endpoint(http_timeout="twelve")
    )
    see_status(session, "errors.invalid_value", wrong_type)
    text = await session.call(
        CREATE, "declared as plain text", body=session.endpoint(), headers=[TEXT]
    )
    see_status(session, "errors.unsupported_media_type", text)


async def probe_unlisted_fields(session: ProbeSession, created: Exchange) -> None:
    """What happens to fields that the document does not name, or that only the service sets."""
    uid = shown_uid(created)
    if uid is None:
        return
    answers, secret = session.answers, session.bodies.secret
    least = max(0, answers.value("requests.expiration_minimum") or 0)
    known = await roll(session, uid, "with known fields", expiration=least, secret=secret())
    tried = await _with_unlisted(session, UNKNOWN)
    if known.succeeded:
        fields = {"expiration": least, "secret": secret(), UNKNOWN: session.word("given")}
        tried.append(await roll(session, uid, UNLISTED[UNKNOWN], **fields))
    if not all(map(accepted_or_refused, tried)):
        return
    if any(is_taken_over(each, UNKNOWN) for each in tried):
        answers.miss("requests.unknown_fields", TAKEN_OVER.format("does not name"))
    else:
        _see_kinds(session, "requests.unknown_fields", tried)
    await _probe_service_fields(session, unknown_refused=refused(tried[0]))


async def _with_unlisted(session: ProbeSession, name: str) -> list[Exchange]:
    """Requests with this field: a new endpoint, a broadcast where one is taken without it, and the
    updates of a portal link.
    """
    role, given = UNLISTED[name], {name: session.word("given")}
    tried = [await session.call(CREATE, role, body=session.endpoint(**given))]
    plain = await session.ordinary(BROADCAST)
    if plain is not None and plain.succeeded:
        body = session.bodies.broadcast(**given)
        tried.append(await session.call(BROADCAST, role, body=body))
    updates = [each for each in session.exchanges if each.operation_id == UPDATE]
    return tried + [each for each in updates if each.role == role]


async def _probe_service_fields(session: ProbeSession, *, unknown_refused: bool) -> None:
    """Each field of a response in a request, where others of its kind are treated otherwise."""
    values: dict[str, Any] = dict.fromkeys(OF_SERVICE, session.word("given"))
    values |= {"events": 1, "failure_rate": 1}
    values |= {name: session.bodies.timestamp() for name in OF_SERVICE if name.endswith("_at")}
    field, listed = "requests.service_assigned_input", "requests.service_assigned"
    everywhere = await _with_unlisted(session, USUAL)
    usual = everywhere[0]
    tried = {USUAL: usual}
    for name in OF_SERVICE[1:]:
        body = session.endpoint(**{name: values[name]})
        tried[name] = await session.call(CREATE, f"with {name}", body=body)
    for answer in (*everywhere, *tried.values()):
        if not accepted_or_refused(answer):
            miss_undecided(session, listed, answer)
            return
    treated = [name for name, answer in tried.items() if refused(answer) == refused(usual)]
    asked = [(each, USUAL) for each in everywhere] + [(tried[name], name) for name in treated]
    if any(is_taken_over(answer, name) for answer, name in asked):
        session.answers.miss(field, TAKEN_OVER.format("has in responses alone"))
    else:
        _see_kinds(session, field, everywhere)
    if refused(usual) == unknown_refused:
        session.answers.miss(
            listed, "fields that only the service sets are treated as fields that it does not know"
        )
        return
    session.answers.see(listed, treated, shown_by=usual, count=len(tried))


def _see_kinds(session: ProbeSession, field: str, tried: list[Exchange]) -> None:
    kinds = dict.fromkeys("refused" if refused(each) else "ignored" for each in tried)
    session.answers.see(field, *kinds, shown_by=tried[0], count=len(tried))
