"""Broadcasts: what they need, what events show, duplicates (sections 2.8 and 4.8).

They are sent before any active endpoint is created, so that they reach those alone that were there
before.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from hookproof.conformance.checks.reading import Reading
from hookproof.conformance.learning.probes.optional_requests import ask, read_beside
from hookproof.conformance.learning.probes.required import learn_one_of, learn_required
from hookproof.conformance.learning.probes.rolls import read_time
from hookproof.conformance.learning.session import BROADCAST, SOURCES, ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import (
    accepted_or_refused,
    has_value,
    items,
    shown,
    shown_uid,
)
from hookproof.conformance.subjects.questions.evidence import (
    HEADER_TEXTS,
    QUESTIONS,
    HeaderTextTried,
)
from hookproof.spec.dialect.vocabulary import Duplicate, HeaderText, HeaderValues

AGAIN: Final = "the same again"
REQUIRES: Final = "requests.create_broadcast_event_requires"
ONE_OF: Final = "requests.create_broadcast_event_requires_one_of"
# Whether the answer to a duplicate shows the first event, and whether it is flagged.
DUPLICATES: Final = {
    (True, True): Duplicate.FLAGGED_FIRST_EVENT,
    (True, False): Duplicate.FIRST_EVENT,
    (False, True): Duplicate.FLAGGED_EVENT,
}
# Makes a body with every field, with these fields as they are given and all others new.
NewBody = Callable[..., dict[str, Any]]


async def probe_broadcasts(session: ProbeSession) -> None:
    """Learn what a broadcast needs and what its event shows."""
    for acknowledged_at in session.bodies.timestamps():  # until the target takes one
        body = partial(_body, session, acknowledged_at)
        query = {"learned": "yes"}
        whole = await session.call(BROADCAST, "with every field", query=query, body=body())
        if whole.succeeded:
            break
    else:
        session.answers.miss(REQUIRES, "every broadcast was refused; a success would show it")
        return
    _read_event(session, whole)
    await _probe_required(session, body, whole)
    await _probe_duplicate(session, body)
    await _probe_header_text(session)
    read_event_words(session)


def _body(session: ProbeSession, acknowledged_at: str, **fields: Any) -> dict[str, Any]:
    names = ("custom_headers", "data", "event_type", "idempotency_key")
    values = {name: session.bodies.event_value(name) for name in names}
    return {"acknowledged_at": acknowledged_at, **values, **fields}


async def _probe_required(session: ProbeSession, body: NewBody, whole: Exchange) -> None:
    async def without(name: str) -> Exchange:
        rest = {other: value for other, value in body().items() if other != name}
        return await session.call(BROADCAST, f"without {name}", body=rest)

    async def with_alone(names: tuple[str, ...]) -> Exchange:
        part = {name: value for name, value in body().items() if name in names}
        return await session.call(BROADCAST, f"with {' and '.join(names) or 'nothing'}", body=part)

    every = body()
    required = await learn_required(session, REQUIRES, every, without, whole=whole)
    optional = [name for name in every if name not in required]
    await learn_one_of(session, ONE_OF, required, optional, with_alone)


def _read_event(session: ProbeSession, whole: Exchange) -> None:
    answers, event, sent = session.answers, shown(whole), whole.request_json
    answers.see("success.created", whole.status, shown_by=whole)
    if not {"uid", "status", "event_type"}.intersection(event):
        for field in answers.fields:
            if field.startswith("representation.event_"):
                answers.miss(field, "the answer to a broadcast shows no event")
        return
    sources = [
        item.get("uid")
        for each in session.exchanges
        if each.operation_id == SOURCES
        for item in items(each)
    ]
    # What is shown, what it should agree with, and the word for one that does.
    shows: Mapping[str, tuple[str, str, Callable[[Any], bool]]] = {
        "event_raw": ("raw", "payload", lambda raw: _is_payload(raw, sent["data"])),
        "event_headers": ("headers", "sent", partial(_has_headers, sent["custom_headers"])),
        "event_acknowledged_at": ("acknowledged_at", "sent", partial(_same_time, sent)),
        "event_source": ("source_id", "listed", lambda source_id: source_id in sources),
        "event_application": ("app_id", "project", lambda app_id: app_id == session.project.id),
        "event_query": ("url_query_params", "request", lambda text: "learned=yes" in str(text)),
    }
    if not sources:
        shows = {name: each for name, each in shows.items() if name != "event_source"}
        answers.miss("representation.event_source", "the project has no source to be named")
    _read_header_values(session, whole)
    for name, (member, word, agrees) in shows.items():
        field, value = f"representation.{name}", event.get(member)
        if not has_value(value):
            answers.see(field, "none", shown_by=whole)
        elif _agrees(agrees, value):
            answers.see(field, word, shown_by=whole)
        else:
            answers.miss(field, f"the {member} that an event shows is not what was sent")


def _agrees(agrees: Callable[[Any], bool], value: Any) -> bool:
    try:
        return bool(agrees(value))
    except (AttributeError, TypeError, ValueError):  # it is of another type than the document's
        return False


def _is_payload(raw: Any, data: Any) -> bool:
    return isinstance(raw, str) and json.loads(raw) == data


def _has_headers(sent: Mapping[str, Any], value: Any) -> bool:
    return {name.lower() for name in sent} <= {name.lower() for name in value}


def _same_time(sent: Mapping[str, Any], value: Any) -> bool:
    times = read_time(value), read_time(sent["acknowledged_at"])
    return times[0] is not None and times[1] is not None and abs(times[0] - times[1]) <= 1


def read_event_words(session: ProbeSession) -> None:
    """The states that new events show; a duplicate may show how far the first one is."""
    seen: dict[str, Exchange] = {}
    known: set[str] = set()
    for each in session.exchanges:
        uid, status = shown_uid(each), shown(each).get("status")
        is_new = uid is not None and uid not in known and each.role != AGAIN
        if each.operation_id == BROADCAST and is_new and isinstance(status, str) and status:
            seen.setdefault(status, each)
        known.add(uid or "")
    if seen:
        first = next(iter(seen.values()))
        session.answers.see("words.event_created", *seen, shown_by=first, count=len(known))


def _read_header_values(session: ProbeSession, whole: Exchange) -> None:
    field, headers = "representation.event_header_values", shown(whole).get("headers")
    values = list(headers.values()) if isinstance(headers, dict) else []
    for kind, form in ((str, HeaderValues.TEXT), (list, HeaderValues.LIST)):
        if values and all(isinstance(value, kind) for value in values):
            session.answers.see(field, form.value, shown_by=whole)
            return
    session.answers.miss(field, "an event shows no headers, or some as texts and some as lists")


async def _probe_duplicate(session: ProbeSession, body: NewBody) -> None:
    answers = session.answers
    sent = body()
    first = await session.call(BROADCAST, "the first with its key", body=sent)
    again = await session.call(BROADCAST, AGAIN, body=sent)
    if not first.succeeded or not accepted_or_refused(again):
        return
    answers.see("idempotency.duplicate_status", again.status, shown_by=again)
    if not again.succeeded:
        answers.miss(
            "idempotency.duplicate", "a duplicate is not answered with success, so with no event"
        )
    elif shown_uid(again) is not None and shown_uid(first) is not None:
        is_first = shown_uid(again) == shown_uid(first)
        is_flagged = shown(again).get("is_duplicate_event") is True
        meaning = DUPLICATES.get((is_first, is_flagged))
        if meaning is not None:
            answers.see("idempotency.duplicate", meaning.value, shown_by=again)
        else:
            answers.miss(
                "idempotency.duplicate",
                "a duplicate is answered with another event that is not flagged as one;"
                " `hookproof check` judges that",
            )


async def _probe_header_text(session: ProbeSession) -> None:
    """Which characters the value of a custom header can have."""
    field = "requests.header_text"
    largest = HeaderText.ASCII
    asked = await ask(session, QUESTIONS[HeaderTextTried], {BROADCAST})
    for needs, each in zip(HEADER_TEXTS, asked, strict=True):
        read = read_beside(session, field, each)
        if read is None:
            return
        shown_by = replace(each.exchanges[0], role=each.name)
        if read is Reading.REFUSED:
            break
        largest = needs
    session.answers.see(field, largest.value, shown_by=shown_by)
