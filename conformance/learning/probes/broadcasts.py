"""Broadcasts: what they need, what events show, duplicates (sections 2.8 and 4.8).

They are sent before any active endpoint is created, so that they reach those alone that were there
before.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from hookproof.conformance.learning.probes.required import learn_one_of, learn_required
from hookproof.conformance.learning.session import BROADCAST, SOURCES, ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import (
    has_value,
    items,
    refused,
    shown,
    shown_uid,
)
from hookproof.spec.dialect.vocabulary import Duplicate, HeaderValues

REQUIRES: Final = "requests.create_broadcast_event_requires"
ONE_OF: Final = "requests.create_broadcast_event_requires_one_of"
# Whether the answer to a duplicate shows the first event, and whether it is flagged.
DUPLICATES: Final = {
    (True, True): Duplicate.FLAGGED_FIRST_EVENT,
    (True, False): Duplicate.FIRST_EVENT,
    (False, True): Duplicate.FLAGGED_EVENT,
}
# Beyond ASCII, and beyond what one byte of Latin-1 can be.
TEXTS: Final = (("ascii", "\u00e9"), ("latin_1", "\u914d"))
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
    await _probe_header_text(session, body)


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
    status = event.get("status")
    if isinstance(status, str) and status:
        answers.see("words.event_created", status, shown_by=whole)
    shows = {
        "event_raw": ("payload", has_value(event.get("raw"))),
        "event_headers": ("sent", has_value(event.get("headers"))),
        "event_acknowledged_at": (
            "sent",
            has_value(event.get("acknowledged_at")) and "acknowledged_at" in sent,
        ),
        "event_source": ("listed", has_value(event.get("source_id"))),
        "event_application": ("project", has_value(event.get("app_id"))),
        "event_query": ("request", has_value(event.get("url_query_params"))),
    }
    if not any(items(each) for each in session.exchanges if each.operation_id == SOURCES):
        del shows["event_source"]
        answers.miss("representation.event_source", "the project has no source to be named")
    _read_header_values(session, whole)
    for field, (word, has_it) in shows.items():
        answers.see(f"representation.{field}", word if has_it else "none", shown_by=whole)


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
    again = await session.call(BROADCAST, "the same again", body=sent)
    if not first.succeeded or again.status is None:
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


async def _probe_header_text(session: ProbeSession, body: NewBody) -> None:
    """Which characters the value of a custom header can have."""
    field = "requests.header_text"
    for form, character in TEXTS:
        headers = {f"X-{session.word('Header')}": f"a{character}b"}
        answer = await session.call(
            BROADCAST,
            f"with {character!a} in a header",
            body=body(custom_headers=headers),
        )
        if refused(answer):
            session.answers.see(field, form, shown_by=answer)
            return
        if not answer.succeeded:
            return
    session.answers.see(field, "any", shown_by=answer)
