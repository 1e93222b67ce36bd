"""Rolling a secret: what it needs, its unit of time, its bounds (section 4.3).

All rolls are of the secrets of one disabled endpoint.
"""

import re
from typing import Any, Final

from hookproof.conformance.learning.probes.access import see_unknown_resource
from hookproof.conformance.learning.probes.endpoints import least_accepted
from hookproof.conformance.learning.probes.required import learn_required
from hookproof.conformance.learning.session import GET, ROLL, ProbeSession, unknown_uid
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import (
    Kind,
    accepted_or_refused,
    has_value,
    refused,
    resources,
    shown,
    shown_uid,
)
from hookproof.conformance.observations.timestamp import unix_seconds
from hookproof.spec.dialect.vocabulary import TIMESTAMP_PATTERNS, TimeUnit

# Few services have a smaller maximum, in whichever unit.
WINDOW: Final = 600
# By how much a time that was shown may differ from ours, as a share of the window.
SHARE: Final = 0.2
SLACK_S: Final = 5.0


async def probe_rolls(session: ProbeSession, created: Exchange) -> None:
    """Learn what a roll needs and what its window means."""
    uid = shown_uid(created)
    if uid is None:
        return
    await _probe_required(session, uid)
    await _probe_unit(session, uid)
    await probe_default_expiration(session, uid)
    unknown = await roll(
        session, unknown_uid(uid), "of an endpoint that does not exist", **session.bodies.roll()
    )
    see_unknown_resource(session, unknown)


async def roll(session: ProbeSession, uid: str, role: str, **fields: Any) -> Exchange:
    """Roll the secret of an endpoint."""
    return await session.call(ROLL, role, path={"endpointID": uid}, body=fields)


async def _probe_required(session: ProbeSession, uid: str) -> None:
    field = "requests.expire_endpoint_secret_requires"
    least, whole = await _probe_least(session, uid)
    if whole.succeeded:
        session.answers.see("success.ok", whole.status, shown_by=whole)

    async def without(left_out: str) -> Exchange:
        body = _whole_body(session, least)
        del body[left_out]
        return await roll(session, uid, f"without {left_out}", **body)

    if whole.succeeded:
        await learn_required(session, field, ("expiration", "secret"), without, whole=whole)
    else:
        session.answers.miss(field, "every roll was refused; a success of one would show it")


async def _probe_least(session: ProbeSession, uid: str) -> tuple[int, Exchange]:
    """Learn the smallest expiration; returns one that is accepted, if any is, and the answer."""
    field = "requests.expiration_minimum"

    async def tried(expiration: int) -> Exchange:
        role = f"with a secret and an expiration of {expiration}"
        return await roll(session, uid, role, **_whole_body(session, expiration))

    whole = await tried(0)
    if whole.succeeded:
        below = await tried(-1)
        if accepted_or_refused(below):
            session.answers.see(field, None if below.succeeded else 0, shown_by=below)
    elif refused(whole) and (found := await least_accepted(tried)) is not None:
        session.answers.see(field, found[0], shown_by=found[1])
        return found
    return 0, whole


async def _probe_unit(session: ProbeSession, uid: str) -> None:
    """The old secret expires when its window is over: how long that is shows the unit."""
    field = "rolling.expiration_unit"
    answer = await roll(
        session, uid, f"with an expiration of {WINDOW}", **_whole_body(session, WINDOW)
    )
    window_s = shown_window_s(answer)
    if window_s is None:
        session.answers.miss(field, "a roll shows no expires_at of the old secret")
        return
    least_s, most_s = window_s
    fitting = [
        unit.value
        for unit in TimeUnit
        if least_s - _slack_s(wanted_s := WINDOW * unit.in_seconds) <= wanted_s
        if wanted_s <= most_s + _slack_s(wanted_s)
    ]
    if fitting:
        session.answers.see(field, *fitting, shown_by=answer)
    else:
        session.answers.miss(
            field, f"an expiration of {WINDOW} led to an expires_at {most_s:.0f} s later"
        )


def _whole_body(session: ProbeSession, window: int) -> dict[str, Any]:
    return {"expiration": window, "secret": session.bodies.secret()}


def _slack_s(expected_s: float) -> float:
    return max(SHARE * expected_s, min(SLACK_S, expected_s))


def shown_window_s(answer: Exchange) -> tuple[float, float] | None:
    """How long after a roll the old secret expires at least and at most, by what the answer shows.

    The new secret was created when the old one was rolled: at some time before the answer came,
    where it does not show when.
    """
    parts = shown_secrets(answer)
    ends = [read_time(part.get("expires_at")) for part in parts[:-1]]
    known = [end for end in ends if end is not None]
    began = read_time(parts[-1].get("created_at")) if parts else None
    if not known:
        return None
    if began is not None:
        return known[-1] - began, known[-1] - began
    return known[-1] - answer.sent_at - answer.duration_s, known[-1] - answer.sent_at


def shown_secrets(answer: Exchange) -> list[dict[str, Any]]:
    """The secrets that an answer shows, the new one, which has no end, last."""
    held = shown(answer).get("secrets")
    parts = [part for part in held if isinstance(part, dict)] if isinstance(held, list) else []
    ended = [has_value(part.get("expires_at")) for part in parts]
    return parts[::-1] if ended[-1:] == [True] and not ended[0] else parts


def read_time(value: object) -> float | None:
    """A timestamp of any of the known forms in Unix seconds, None for anything else."""
    text = value if isinstance(value, str) else ""
    form = next((form for form, known in TIMESTAMP_PATTERNS.items() if re.match(known, text)), None)
    return None if form is None else unix_seconds(text, form)


def _current(answer: Exchange) -> set[str]:
    """The identifiers of the secrets without end."""
    return {
        uid
        for part in resources(answer)
        if part.kind is Kind.SECRET
        and (uid := part.text("uid")) is not None
        and not has_value(part.fields.get("expires_at"))
    }


def _is_gone(current: set[str], answer: Exchange) -> bool:
    """Whether an answer shows other secrets, and none of these any more."""
    uids = {part.text("uid") for part in resources(answer) if part.kind is Kind.SECRET}
    return bool(current and uids) and current.isdisjoint(uids)


async def probe_default_expiration(session: ProbeSession, uid: str) -> None:
    """Learn how long an old secret stays valid after a roll that does not say it."""
    field = "rolling.default_expiration"
    required = session.answers.value("requests.expire_endpoint_secret_requires") or []
    if "expiration" in required:
        session.answers.miss(field, "a roll without expiration is refused")
        return
    before = await session.call(GET, "before that", path={"endpointID": uid})
    answer = await roll(session, uid, "without expiration", secret=session.bodies.secret())
    window_s = shown_window_s(answer)
    if _is_gone(_current(before), answer):
        window_s = (0.0, 0.0)
    if not answer.succeeded or window_s is None:
        session.answers.miss(field, "a roll without expiration shows no expires_at")
        return
    unit = TimeUnit(session.answers.value("rolling.expiration_unit"))
    least, most = (max(0, round(each_s / unit.in_seconds)) for each_s in window_s)
    if least == most:
        session.answers.see(field, most, shown_by=answer)
    else:
        session.answers.miss(
            field, f"it is {least} to {most}: a roll shows no created_at of its new secret"
        )
