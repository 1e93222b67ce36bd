"""Sections 2.8, 3, 4.8 and 6: the event that a broadcast is answered with."""

from collections.abc import Iterator, Mapping
from typing import Any

from hookproof.conformance.checks.support.agreement import echoes
from hookproof.conformance.checks.support.json_equality import exact, same
from hookproof.conformance.checks.support.json_objects import objects_in
from hookproof.conformance.checks.support.success import success_of
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged, not_applicable
from hookproof.conformance.observations.answer import has_value, sent, shown
from hookproof.conformance.observations.resources.broadcast_answer import (
    BroadcastAnswer,
    BroadcastWithField,
    BroadcastWithPayload,
)
from hookproof.spec.dialect.vocabulary import EventEcho
from hookproof.spec.field_roles import shown_as_sent


@check("2.8-1", "6-1", "6-2")
def an_event_has_uid_status_and_duplicate_flag(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """A text that is not empty, a string and a boolean."""
    if exchange.operation_id == "createBroadcastEvent" and shown(exchange):
        uid, status, flag = (
            shown(exchange).get(name) for name in ("uid", "status", "is_duplicate_event")
        )
        for requirement, name, fits, actual in (
            ("2.8-1", "uid", isinstance(uid, str) and uid != "", uid),
            ("6-1", "status", isinstance(status, str), status),
            ("6-2", "is_duplicate_event", isinstance(flag, bool), flag),
        ):
            yield judged(
                fits,
                requirement,
                f"A created event has no {name} of its type",
                expected="a boolean" if name == "is_duplicate_event" else "a text",
                actual=actual,
                exchanges=[exchange],
            )


@check("3-3")
def a_created_event_has_the_dialects_status(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """Duplicates aside: the first event may have gone on meanwhile."""
    word = context.dialect.words.event_created
    if exchange.operation_id == "createBroadcastEvent" and shown(exchange) and word.decided:
        if has_value(sent(exchange).get("idempotency_key")):
            return
        actual = shown(exchange).get("status", "absent")
        yield judged(
            word.allows(actual),
            "3-3",
            "The status of a created event is another word than the dialect's",
            expected=" or ".join(word.allowed),
            actual=actual,
            exchanges=[exchange],
        )


@check("2.8-3")
def the_data_of_an_event_are_bytes(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """One integer for each."""
    data = shown(exchange).get("data")
    if exchange.operation_id == "createBroadcastEvent" and shown(exchange):
        yield judged(
            _bytes(data) is not None,
            "2.8-3",
            "The data of an event is not an array of bytes",
            expected="integers from 0 to 255",
            actual=data,
            exchanges=[exchange],
        )


@check("2.8-4")
def the_bytes_of_an_event_are_the_data_sent(
    broadcast: BroadcastAnswer, _context: CheckContext
) -> Iterator[Judgement]:
    """As JSON: white space and the order of members may differ."""
    created = broadcast.created
    stored = None if created is None else _bytes(shown(created).get("data"))
    if created is not None and created.request_body is not None and stored is not None:
        wanted = exact(created.request_body).get("data")
        yield judged(
            same(exact(stored), wanted),
            "2.8-4",
            "The bytes in an event's data are not JSON equal to the data sent",
            expected=wanted,
            actual=stored,
            exchanges=[created],
        )


def _bytes(data: Any) -> bytes | None:
    if not isinstance(data, list) or not {int}.issuperset(map(type, data)):
        return None
    try:
        return bytes(data)
    except ValueError:  # a number that is no byte
        return None


@check("2.8-5")
def the_headers_of_an_event_hold_the_custom_ones(
    broadcast: BroadcastAnswer, context: CheckContext
) -> Iterator[Judgement]:
    """Names in any case, each value alone or in a list; their form is a gap."""
    created = broadcast.created
    if created is None:
        return
    given, headers = sent(created).get("custom_headers"), shown(created).get("headers")
    if given and context.dialect.representation.event_headers.allowed == (EventEcho.NONE,):
        yield not_applicable("2.8-5", "the dialect says that an event shows no headers")
    elif isinstance(given, dict) and isinstance(headers, Mapping) and headers:
        held = {name.lower(): value for name, value in headers.items()}
        lacking = [
            name for name, value in given.items() if held.get(name.lower()) not in (value, [value])
        ]
        yield judged(
            not lacking,
            "2.8-5",
            "The headers of an event lack a custom header that was sent",
            expected=given,
            actual=headers,
            exchanges=[created],
        )


@check("2.8-7")
def an_event_has_the_records_of_its_endpoints(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """Wherever both endpoints and endpoint_metadata have a value."""
    named, records = (shown(exchange).get(name) for name in ("endpoints", "endpoint_metadata"))
    if exchange.operation_id == "createBroadcastEvent" and has_value(named) and has_value(records):
        uids = [record.get("uid") for record in objects_in(records)]
        yield judged(
            isinstance(named, list) and sorted(map(str, uids)) == sorted(map(str, named)),
            "2.8-7",
            "The records in endpoint_metadata are not those of the identifiers in endpoints",
            expected=named,
            actual=uids,
            exchanges=[exchange],
        )


@check(*shown_as_sent("createBroadcastEvent").values(), "4.8-6", "4.8-7")
def a_broadcast_is_taken_with_every_field(
    broadcast: BroadcastAnswer, context: CheckContext
) -> Iterator[Judgement]:
    """event_type and idempotency_key are shown again; acknowledged_at and any data are accepted."""
    created = broadcast.created
    if created is None:
        return
    yield from echoes(created, created, "The {field} of a created event is not the one sent")
    accepted = _accepted(broadcast, context)
    if accepted is not None:
        requirement, what = accepted
        message = f"A broadcast event cannot be created with {what}"
        yield from success_of(created, requirement, message, *broadcast.all_exchanges("tried"))


def _accepted(broadcast: BroadcastAnswer, context: CheckContext) -> tuple[str, str] | None:
    """What the broadcast is to be accepted with, and the requirement of that.

    One with further fields may be refused for these, which says nothing of its data.
    """
    required = context.dialect.requests.create_broadcast_event_requires
    match broadcast:
        case BroadcastWithPayload(created=created):
            alone = created is not None and sent(created).keys() <= {
                "event_type",
                "data",
                *required,
            }
            return ("4.8-7", "any JSON object as data") if alone else None
        case BroadcastWithField(field="acknowledged_at"):
            return "4.8-6", "acknowledged_at"
        case _:
            return None
