"""Rolling a secret: what it needs, its unit of time, its bounds (section 4.3).

All rolls are of the secrets of one disabled endpoint.
"""

import asyncio
import re
from typing import Any, Final

from hookproof.conformance.learning.probes.access import see_unknown_resource
from hookproof.conformance.learning.probes.endpoints import least_accepted
from hookproof.conformance.learning.probes.required import learn_required
from hookproof.conformance.learning.session import CREATE, GET, ROLL, ProbeSession, unknown_uid
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import (
    Kind,
    has_value,
    refused,
    resources,
    shown,
    shown_uid,
)
from hookproof.conformance.observations.timestamp import unix_seconds
from hookproof.spec.dialect.vocabulary import TIMESTAMP_PATTERNS, ExpiredSecrets, TimeUnit

# Few services have a smaller maximum, in whichever unit.
WINDOW: Final = 600
# By how much a time that was shown may differ from ours, as a share of the window.
SHARE: Final = 0.2
SLACK_S: Final = 5.0
UNIX_SECONDS_DIGITS: Final = 12
# How often a roll without an expiration is tried: it may not always mean the same.
ROLLS: Final = 2
# How long a window may be that is waited for, and how long after it even a clock that counts whole
# seconds has it over.
LONGEST_WINDOW_S: Final = 2.0
WHOLE_SECONDS_S: Final = 2.2


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
    return await session.call(ROLL, role, uid=uid, body=fields)


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
        if below.succeeded:
            session.answers.assume(field, None, "none down to -1 was met")
        elif refused(below):
            session.answers.see(field, 0, shown_by=below)
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
    *old, new = shown_secrets(answer) or [{}]
    known = [part for part in old if read_time(part.get("expires_at")) is not None]
    if not known:
        return None
    end = read_time(known[-1]["expires_at"]) or 0.0
    began = read_time(new.get("created_at"))
    if began is not None:
        # Of two times in whole seconds both are so much earlier; of one, it alone is.
        cut = _cut_s(known[-1]["expires_at"]) - _cut_s(new["created_at"])
        return end - began + min(0.0, cut), end - began + max(0.0, cut)
    return end - answer.sent_at - answer.duration_s, end - answer.sent_at


def _cut_s(time: str) -> float:
    """By how much a timestamp may be earlier than what it stands for."""
    is_whole = "." not in time if "T" in time.upper() else len(time) <= UNIX_SECONDS_DIGITS
    return float(is_whole)


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
    unit = TimeUnit(session.answers.value("rolling.expiration_unit"))
    windows = [await _default_window(session, uid, unit) for _ in range(ROLLS)]
    known = [window for window in windows if window is not None]
    if len(known) < len(windows):
        session.answers.miss(field, "a roll without expiration shows no expires_at")
        return
    (least, most, answer), *_ = known
    if all(window[0] == window[1] for window in known):
        session.answers.see(
            field, *dict.fromkeys(window[0] for window in known), shown_by=answer, count=len(known)
        )
    else:
        session.answers.miss(
            field, f"it is {least} to {most}: a roll does not show exactly when its window began"
        )


async def _default_window(
    session: ProbeSession, uid: str, unit: TimeUnit
) -> tuple[int, int, Exchange] | None:
    """How many units a window has at least and at most that a roll does not ask for."""
    before = await session.call(GET, "before that", uid=uid)
    answer = await roll(session, uid, "without expiration", secret=session.bodies.secret())
    window_s = shown_window_s(answer)
    if _is_gone(_current(before), answer):
        window_s = (0.0, 0.0)
    if not answer.succeeded or window_s is None:
        return None
    least, most = (max(0, round(each_s / unit.in_seconds)) for each_s in window_s)
    return least, most, answer


async def probe_expired_secrets(session: ProbeSession) -> None:
    """Learn whether an endpoint still shows a secret once its window is over.

    That it is shown before is the control. A window that began before an answer came is over so
    long after that, by whichever clock; some services count whole seconds.
    """
    field, answers = "representation.expired_secrets", session.answers
    unit = TimeUnit(answers.value("rolling.expiration_unit"))
    least = max(0, answers.value("requests.expiration_minimum") or 0)
    if least * unit.in_seconds > LONGEST_WINDOW_S:
        answers.miss(field, "no window is so short that a secret expires soon")
        return
    created = await session.call(CREATE, "for its secrets", body=session.endpoint())
    uid, first = shown_uid(created), _identities(created)
    if uid is None or len(first) != 1:
        answers.miss(field, "a new endpoint does not show one secret")
        return
    valid = await roll(session, uid, "that both outlive", **_whole_body(session, WINDOW))
    second = _identities(valid) - first
    if not first < _identities(valid) or len(second) != 1:
        answers.miss(field, "a roll does not show both the old secret and the new one")
        return
    ended = await roll(session, uid, "whose window ends soon", **_whole_body(session, least))
    if not ended.succeeded:
        answers.miss(field, "a roll with a short window is refused")
        return
    await asyncio.sleep(least * unit.in_seconds + WHOLE_SECONDS_S)
    looks = [
        await session.call(GET, "after that", uid=uid),
        await roll(session, uid, "after that", **_whole_body(session, least)),
    ]
    if not all(_identities(each) for each in looks):
        answers.miss(field, "the endpoint shows no secrets after that")
        return
    meanings = [
        ExpiredSecrets.LISTED if second & _identities(each) else ExpiredSecrets.LEFT_OUT
        for each in looks
    ]
    answers.see(
        field,
        *dict.fromkeys(meaning.value for meaning in meanings),
        shown_by=looks[0],
        count=len(looks),
    )


def _identities(answer: Exchange) -> set[str]:
    """What tells the secrets apart that an answer shows."""
    parts = [part for part in resources(answer) if part.kind is Kind.SECRET]
    known = [part.text("uid") or part.text("value") for part in parts]
    return set(filter(None, known))
