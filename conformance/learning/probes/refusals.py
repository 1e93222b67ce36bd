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
# Those of every resource; a service that sets any of them sets these.
OF_ALL: Final = frozenset({"uid", "project_id", "created_at", "updated_at", "deleted_at"})


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
    unknown = await roll(
        session, uid, "with an unknown field", expiration=least, secret=secret(), **{UNKNOWN: "x"}
    )
    if known.succeeded and (unknown.succeeded or refused(unknown)):
        kind = "refused" if refused(unknown) else "ignored"
        answers.see("requests.unknown_fields", kind, shown_by=unknown)
        await _probe_service_fields(session, unknown_refused=refused(unknown))


async def _probe_service_fields(session: ProbeSession, *, unknown_refused: bool) -> None:
    """Each field of a response in a request, where others of its kind are treated otherwise."""
    values: dict[str, Any] = {name: session.word("given") for name in OF_SERVICE}
    values |= {"events": 1, "failure_rate": 1}
    values |= {name: session.bodies.timestamp() for name in OF_SERVICE if name.endswith("_at")}
    tried = await session.call(CREATE, "with uid", body=session.endpoint(uid=values["uid"]))
    field = "requests.service_assigned_input"
    if not tried.succeeded and not refused(tried):
        return
    session.answers.see(field, "refused" if refused(tried) else "ignored", shown_by=tried)
    if refused(tried) == unknown_refused:
        session.answers.miss(
            "requests.service_assigned",
            "fields that only the service sets are treated as fields that it does not know",
        )
        return
    treated = list(OF_ALL)
    for name in OF_SERVICE:
        if name in OF_ALL:
            continue
        body = session.endpoint(**{name: values[name]})
        answer = await session.call(CREATE, f"with {name}", body=body)
        if not accepted_or_refused(answer):
            miss_undecided(session, "requests.service_assigned", answer)
            return
        if refused(answer) == refused(tried):
            treated.append(name)
    treated.sort(key=OF_SERVICE.index)
    session.answers.see("requests.service_assigned", treated, shown_by=tried, count=len(OF_SERVICE))
