"""Examples for sections 2.8, 3, 4.8 and 6: events and duplicates in the answers to broadcasts."""

from dataclasses import replace
from typing import Any

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.subjects.events.evidence import (
    BroadcastAnswer,
    BroadcastWithField,
    BroadcastWithPayload,
    BroadcastWithQuery,
    DifferentEvents,
    DuplicatesAtOnce,
    EventBesideSources,
    EventDifference,
    RepeatedKey,
)
from tests.conformance.canned_evidence import exchange, observation
from tests.conformance.checks.api.example import OTHER_UID, UID, Example, endpoint, event, refusal

KEYED = {"event_type": "order.paid", "data": {"n": 1}, "idempotency_key": "key"}
HEADED = {"data": {"n": 1}, "custom_headers": {"X-Shop": "example"}}
FIRST = event(KEYED, "first", idempotency_key="key")


def with_field(field: str, answer: Exchange) -> BroadcastWithField:
    """A broadcast with a field besides the required ones."""
    return observation(BroadcastWithField, answer, field=field)


def with_payload(answer: Exchange) -> BroadcastAnswer:
    """A broadcast with data of some kind."""
    return observation(BroadcastWithPayload, answer)


def with_query(query: str, shown: str | None) -> BroadcastAnswer:
    """A broadcast to a URL with this query, whose event shows these url_query_params."""
    answer = event(url_query_params=shown)
    return observation(BroadcastWithQuery, replace(answer, url=f"{answer.url}?{query}"))


def beside_sources(**changed: Any) -> EventBesideSources:
    """An event whose source differs in these fields from the one that is listed."""
    source = {"uid": UID, "name": "Open door", "verifier": {"type": "noop"}}
    return observation(
        EventBesideSources,
        exchange("inventory", "listSources", data={"content": [source]}),
        event(source_id=UID, source_metadata=source | changed),
    )


def duplicate(*exchanges: Exchange) -> RepeatedKey:
    """A broadcast and a second one with its key."""
    return observation(RepeatedKey, *exchanges)


def different(difference: EventDifference, *exchanges: Exchange) -> DifferentEvents:
    """Broadcasts that are not duplicates of each other."""
    return observation(DifferentEvents, *exchanges, difference=difference)


def again(status: int = 201, **fields: object) -> Exchange:
    """The answer to a broadcast with a key that was used before."""
    return replace(event(KEYED, "again", **fields), status=status)


def at_once(*flags: bool) -> DuplicatesAtOnce:
    """Broadcasts with one key at once, flagged like this."""
    answers = [
        event(KEYED, "at once", uid=f"{UID}{number}", is_duplicate_event=flag)
        for number, flag in enumerate(flags)
    ]
    return observation(DuplicatesAtOnce, *answers)


EXAMPLES = (
    *(
        Example(
            requirement=requirement,
            kept=with_field(field, event({field: value}, **kept)),
            broken=with_field(field, event({field: value}, **broken)),
            dialect=dialect,
        )
        for requirement, field, name, value in (
            ("2.8-15", "custom_headers", "headers", {"X-Shop": "example"}),
            ("2.8-16", "acknowledged_at", "acknowledged_at", "2024-05-06T07:08:09Z"),
        )
        for dialect, kept, broken in (
            ("reference", {name: value}, {name: None}),
            ("reference", {name: value}, {}),
            ("contrary", {}, {name: value}),
        )
    ),
    *(
        Example(
            requirement="2.8-11",
            kept=with_payload(event(HEADED, raw=kept)),
            broken=with_payload(event(HEADED, raw=broken)),
            dialect=dialect,
        )
        for dialect, kept, broken in (
            ("reference", '{"n":1}', None),
            ("reference", '{ "n" : 1 }', '"{\\"n\\":1}"'),
            ("reference", '{"n":1}', "eyJuIjoxfQ=="),
            ("contrary", None, '{"n":1}'),
            ("contrary", "", '{"n":1}'),
        )
    ),
    *(
        Example(requirement="2.8-12", kept=beside_sources(**kept), broken=beside_sources(**broken))
        for kept, broken in (
            ({}, {"name": "open door"}),
            ({"name": None}, {"verifier": {"type": "other"}}),
            ({"verifier": {}}, {"verifier": [{"type": "noop"}]}),
        )
    ),
    *(
        Example(requirement="2.8-12", kept=event(**kept), broken=event(**broken), dialect=dialect)
        for dialect, kept, broken in (
            (
                "reference",
                {"source_id": UID, "source_metadata": {"uid": UID}},
                {"source_id": UID, "source_metadata": {"uid": OTHER_UID}},
            ),
            ("reference", {"source_id": UID}, {"source_id": UID, "source_metadata": [1]}),
            ("contrary", {}, {"source_id": UID}),
            ("contrary", {"source_id": ""}, {"source_metadata": {"uid": UID}}),
        )
    ),
    *(
        Example(
            requirement="2.8-13",
            kept=event(app_id=kept),
            broken=event(app_id=broken),
            dialect=dialect,
        )
        for dialect, kept, broken in (
            ("reference", "p1", None),
            ("reference", "p1", UID),
            ("contrary", None, "p1"),
        )
    ),
    *(
        Example(
            requirement="2.8-14",
            kept=with_query("a=1&b=one%20two", kept),
            broken=with_query("a=1&b=one%20two", broken),
            dialect=dialect,
        )
        for dialect, kept, broken in (
            ("reference", "a=1&b=one+two", "a=1"),
            ("reference", "?b=one%20two&a=1", None),
            ("contrary", None, "a=1&b=one%20two"),
        )
    ),
    *(
        Example(requirement=requirement, kept=event(), broken=event(**{field: value}))
        for requirement, field, value in (
            ("2.8-1", "uid", ""),
            ("6-1", "status", 1),
            ("6-2", "is_duplicate_event", "no"),
        )
    ),
    Example(requirement="3-3", kept=event(), broken=event(status="Stuck")),
    Example(requirement="2.8-3", kept=event(), broken=event(data=[200, 256])),
    Example(requirement="2.8-3", kept=event(data=[]), broken=event(data="eyJuIjoxfQ==")),
    Example(
        requirement="2.8-4",
        kept=with_payload(event(data=list(b'{ "n": 1 }'))),
        broken=with_payload(event(data=list(b'{"n":2}'))),
    ),
    Example(
        requirement="2.8-5",
        kept=with_field("custom_headers", event(HEADED, headers={"x-shop": ["example"]})),
        broken=with_field("custom_headers", event(HEADED, headers={"X-Shop": "other"})),
    ),
    Example(
        requirement="2.8-7",
        kept=event(endpoints=[UID], endpoint_metadata=[endpoint()]),
        broken=event(endpoints=[UID], endpoint_metadata=[endpoint(uid=OTHER_UID)]),
    ),
    Example(
        requirement="4.8-4",
        kept=with_field("event_type", event()),
        broken=with_field("event_type", event(event_type="order")),
    ),
    Example(
        requirement="4.8-5",
        kept=with_field("idempotency_key", event(KEYED, idempotency_key="key")),
        broken=with_field("idempotency_key", event(KEYED)),
    ),
    Example(
        requirement="4.8-6",
        kept=with_field("acknowledged_at", event()),
        broken=with_field("acknowledged_at", refusal(400, "createBroadcastEvent", role="create")),
    ),
    Example(
        requirement="4.8-7",
        kept=with_payload(event()),
        broken=with_payload(refusal(400, "createBroadcastEvent", role="create")),
    ),
    Example(requirement="2.8-8", kept=event(), broken=event(is_duplicate_event=True)),
    Example(
        requirement="2.8-9",
        kept=duplicate(FIRST),
        broken=duplicate(event(KEYED, "first", is_duplicate_event=True)),
    ),
    Example(
        requirement="2.8-2",
        kept=different(EventDifference.NO_KEY, event(), event(uid=OTHER_UID)),
        broken=different(EventDifference.NO_KEY, event(), event()),
    ),
    *(
        Example(
            requirement=requirement,
            kept=different(difference, FIRST, again(uid=OTHER_UID)),
            broken=different(difference, FIRST, again(uid=OTHER_UID, is_duplicate_event=True)),
        )
        for requirement, difference in (
            ("4.8-10", EventDifference.KEY),
            ("4.8-12", EventDifference.PROJECT),
        )
    ),
    Example(
        requirement="4.8-8",
        kept=duplicate(FIRST, again(uid=OTHER_UID, is_duplicate_event=True)),
        broken=duplicate(FIRST, again(uid=OTHER_UID)),
    ),
    Example(
        requirement="4.8-8",
        kept=duplicate(FIRST, again(200)),
        broken=duplicate(FIRST, again(200, uid=OTHER_UID, is_duplicate_event=True)),
        dialect="contrary",
    ),
    Example(
        requirement="4.8-8", kept=at_once(True, False, True), broken=at_once(False, False, True)
    ),
)
