"""How requests are refused that are wrong in themselves (sections 2.9 and 7)."""

from typing import Any, Final

from hookproof.conformance.learning.probes.access import miss_undecided, see_status
from hookproof.conformance.learning.probes.rolls import roll
from hookproof.conformance.learning.session import CREATE, ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import accepted_or_refused, refused, shown_uid

BROKEN: Final = b'{"name":"half'
TEXT: Final = ("Content-Type", "text/plain")
UNKNOWN: Final = "undocumented_field"
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
    tried = [
        await session.call(CREATE, "with an unknown field", body=session.endpoint(**{UNKNOWN: "x"}))
    ]
    if known.succeeded:
        fields = {"expiration": least, "secret": secret(), UNKNOWN: "x"}
        tried.append(await roll(session, uid, "with an unknown field", **fields))
    if not all(map(accepted_or_refused, tried)):
        return
    kinds = ["refused" if refused(each) else "ignored" for each in tried]
    answers.see(
        "requests.unknown_fields", *dict.fromkeys(kinds), shown_by=tried[0], count=len(tried)
    )
    await _probe_service_fields(session, unknown_refused=refused(tried[0]))


async def _probe_service_fields(session: ProbeSession, *, unknown_refused: bool) -> None:
    """Each field of a response in a request, where others of its kind are treated otherwise."""
    values: dict[str, Any] = {name: session.word("given") for name in OF_SERVICE}
    values |= {"events": 1, "failure_rate": 1}
    values |= {name: session.bodies.timestamp() for name in OF_SERVICE if name.endswith("_at")}
    field, listed = "requests.service_assigned_input", "requests.service_assigned"
    tried: dict[str, Exchange] = {}
    for name in OF_SERVICE:
        answer = await session.call(
            CREATE, f"with {name}", body=session.endpoint(**{name: values[name]})
        )
        if not accepted_or_refused(answer):
            miss_undecided(session, listed, answer)
            return
        tried[name] = answer
    usual = tried["uid"]
    session.answers.see(field, "refused" if refused(usual) else "ignored", shown_by=usual)
    if refused(usual) == unknown_refused:
        session.answers.miss(
            listed, "fields that only the service sets are treated as fields that it does not know"
        )
        return
    treated = [name for name, answer in tried.items() if refused(answer) == refused(usual)]
    session.answers.see(listed, treated, shown_by=usual, count=len(tried))
