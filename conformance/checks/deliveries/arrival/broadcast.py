"""What arrives of a broadcast: all of it, unaltered, once (sections 1, 2.3, 4.8 and 6)."""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import parse_qsl

from hookproof.conformance.checks.support.broadcast_reach import reaches
from hookproof.conformance.checks.support.json_equality import exact, same
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import NOT_JSON
from hookproof.conformance.model.judgement import Judgement, holds, not_applicable, violated
from hookproof.conformance.observations.case import Case, deliveries_of, destinations, events
from hookproof.conformance.observations.destinations import CONTENT_TYPE, Destination, Event
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import FormEncoding

# The experiments whose endpoints all answer at once.
PLAIN: Final = ("broadcast", "flood", "signing")

FORM: Final = "application/x-www-form-urlencoded"

Arrived = tuple[Destination, Event, tuple[ReceivedDelivery, ...]]


def arrivals(case: Case, dialect: Dialect) -> Iterator[Arrived]:
    """Each destination with each event that must arrive there, and what did."""
    for destination in destinations(case):
        for event in events(case):
            if reaches(event, destination, dialect):
                yield destination, event, deliveries_of(case, destination, event, dialect)


@check("1-1", experiments=PLAIN)
def an_accepted_broadcast_arrives(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """Every event that was accepted has arrived at every endpoint that it reaches."""
    for destination, event, arrived in arrivals(case, context.dialect):
        if arrived:
            yield holds("1-1")
        else:
            yield violated(
                "1-1",
                "A broadcast that was accepted did not arrive at an endpoint that it reaches",
                expected=f"{event.name!r} arrives at {destination.name!r}",
                actual=f"{len(case.arrived_at(destination.token))} requests arrived there, none of them this event",
                exchanges=[case.exchange(destination.name), case.exchange(event.name)],
            )


@check("4.1-17", experiments=PLAIN)
def a_new_endpoint_receives_in_the_dialects_time(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """The first broadcast after that time is not lost on an endpoint that gets later ones."""
    sent = events(case)
    for destination in destinations(case):
        expected = [event for event in sent if reaches(event, destination, context.dialect)]
        got = [
            event for event in expected if deliveries_of(case, destination, event, context.dialect)
        ]
        if not got:
            continue
        if got[0] == expected[0]:
            yield holds("4.1-17")
        else:
            yield violated(
                "4.1-17",
                "A new endpoint missed the first broadcast and got a later one",
                expected=f"it receives {context.dialect.delivery.visible_within_s:g} s after its creation",
                actual=f"the first event that arrived is {got[0].name!r}",
                exchanges=[case.exchange(destination.name), case.exchange(expected[0].name)],
            )


@check("4.8-15", experiments=("broadcast", "flood"))
def a_broadcast_arrives_once_where_it_is_answered_with_success(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """No event arrived a second time at an endpoint that answered the first time."""
    for _, event, arrived in arrivals(case, context.dialect):
        if len(arrived) == 1:
            yield holds("4.8-15")
        elif arrived:
            yield violated(
                "4.8-15",
                "A broadcast arrived more than once at an endpoint that answered with success",
                expected="one delivery",
                actual=f"{len(arrived)} deliveries of {event.name!r}",
                exchanges=[case.exchange(event.name)],
                deliveries=arrived,
            )


@check("6-3", "6-12", experiments=("broadcast", "signing"))
def the_body_is_the_data_that_was_sent(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """The body is JSON of the same value, or a form of the same members where the dialect says so."""
    form_body = context.dialect.delivery.form_body
    for destination, event, arrived in arrivals(case, context.dialect):
        asks_for_form = destination.settings.get("content_type") == FORM
        requirement = "6-12" if asks_for_form else "6-3"
        sent = data_sent(case, event)
        for delivery in arrived:
            if asks_for_form and form_body.value is FormEncoding.FORM:
                members = parse_qsl(delivery.body.decode("latin-1"), keep_blank_values=True)
                unaltered = sorted(members) == sorted(sent.items())
            else:
                unaltered = same(exact(delivery.body), sent)
            if unaltered:
                yield holds(requirement)
            else:
                yield violated(
                    requirement,
                    "The body of a delivery is not the data of its event",
                    expected=f"{event.name!r}: {sent!r}",
                    actual=delivery.body.decode(errors="backslashreplace"),
                    exchanges=[case.exchange(event.name)],
                    deliveries=[delivery],
                )


@check("2.3-6", "2.3-7", experiments=("broadcast",))
def deliveries_are_declared_with_the_content_type_of_the_endpoint(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """The media type is the endpoint's; parameters such as a charset may follow it."""
    for destination, _, arrived in arrivals(case, context.dialect):
        given = destination.settings.get("content_type")
        requirement, wanted = ("2.3-6", CONTENT_TYPE) if given is None else ("2.3-7", given)
        for delivery in arrived:
            declared = delivery.header("Content-Type")
            if declared is not None and declared.partition(";")[0].strip().lower() == wanted:
                yield holds(requirement)
            else:
                yield violated(
                    requirement,
                    "A delivery is not declared with the content type of its endpoint",
                    expected=f"Content-Type: {wanted}",
                    actual=f"Content-Type: {declared}",
                    exchanges=[case.exchange(destination.name)],
                    deliveries=[delivery],
                )


@check("6-4", experiments=("broadcast",))
def a_delivery_carries_the_custom_headers_of_its_event(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Each of them is there once, with its value."""
    for _, event, arrived in arrivals(case, context.dialect):
        for delivery in arrived:
            for name, value in custom_headers(case, event).items():
                if delivery.all_headers(name) == (value,):
                    yield holds("6-4")
                else:
                    yield violated(
                        "6-4",
                        "A delivery does not carry a custom header of its event as it was sent",
                        expected=f"{name}: {value}",
                        actual=delivery.all_headers(name) or "no such header",
                        exchanges=[case.exchange(event.name)],
                        deliveries=[delivery],
                    )


@check("6-5", experiments=("broadcast",))
def a_delivery_carries_no_custom_header_of_another_event(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """No value of a custom header turns up in a delivery of another event."""
    owners = {
        value: event.name
        for event in events(case)
        for value in custom_headers(case, event).values()
    }
    for _, event, arrived in arrivals(case, context.dialect):
        for delivery in arrived:
            foreign = [
                text for _, text in delivery.headers if owners.get(text, event.name) != event.name
            ]
            if not foreign and owners:
                yield holds("6-5")
            elif foreign:
                yield violated(
                    "6-5",
                    "A delivery carries a custom header of another event",
                    expected=f"the custom headers of {event.name!r} alone",
                    actual=f"{foreign[0]!r}, which belongs to {owners[foreign[0]]!r}",
                    exchanges=[case.exchange(event.name), case.exchange(owners[foreign[0]])],
                    deliveries=[delivery],
                )


@check("4.8-16", "4.8-17", experiments=("broadcast",))
def a_delivery_names_its_event(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """The dialect's headers hold the uid and the event_type of the event."""
    delivery_rules = context.dialect.delivery
    if delivery_rules.event_type_header is None:
        yield not_applicable("4.8-17", "The dialect has no header for the event_type.")
    for _, event, arrived in arrivals(case, context.dialect):
        created = case.exchange(event.name)
        sent = created.request_json if created else None
        told = {"4.8-16": (delivery_rules.event_id_header, event.uid)}
        if delivery_rules.event_type_header is not None and isinstance(sent, dict):
            told["4.8-17"] = (delivery_rules.event_type_header, sent.get("event_type"))
        for delivery in arrived:
            for requirement, (header, value) in told.items():
                if delivery.header(header) == value:
                    yield holds(requirement)
                else:
                    yield violated(
                        requirement,
                        "A delivery does not name its event in the dialect's header",
                        expected=f"{header}: {value}",
                        actual=f"{header}: {delivery.header(header)}",
                        exchanges=[created],
                        deliveries=[delivery],
                    )


@check("4.8-9", experiments=("repeats",))
def a_duplicate_is_not_delivered_again(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """The event that was sent twice with one key arrived once, while a later one arrived."""
    for destination in destinations(case):
        for original in events(case, "original"):
            arrived = deliveries_of(case, destination, original, context.dialect)
            alive = any(
                deliveries_of(case, destination, one, context.dialect)
                for one in events(case, "sentinel")
            )
            if len(arrived) > 1:
                yield violated(
                    "4.8-9",
                    "A broadcast with a key that was used before was delivered again",
                    expected="one delivery",
                    actual=f"{len(arrived)} deliveries",
                    exchanges=[case.exchange("original"), case.exchange("duplicate")],
                    deliveries=arrived,
                )
            elif arrived and alive:
                yield holds("4.8-9")


@check("4.8-11", experiments=("repeats",))
def events_without_a_key_are_each_delivered(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Two equal events without a key arrived twice."""
    if case.facts.get("key_required"):
        yield not_applicable(
            "4.8-11", "The dialect requires an idempotency_key, so no event can be without one."
        )
    for destination in destinations(case, "plain"):
        for first in events(case, "first"):
            arrived = deliveries_of(case, destination, first, context.dialect)
            if len(arrived) > 1:
                yield holds("4.8-11")
            elif arrived:
                yield violated(
                    "4.8-11",
                    "Of two equal events without a key, not both were delivered",
                    expected="two deliveries",
                    actual=f"{len(arrived)} deliveries",
                    exchanges=[case.exchange("first"), case.exchange("second")],
                    deliveries=arrived,
                )


@check("5-16", experiments=PLAIN)
def no_delivery_carries_the_api_key(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """The key that the calls carried stands in no header and no body of a delivery."""
    before, _, after = context.dialect.authentication.key_format.partition("{key}")
    for destination, event, arrived in arrivals(case, context.dialect):
        created = case.exchange(event.name)
        shown = dict(created.request_headers).get("Authorization", "") if created else ""
        key = shown.removeprefix(before).removesuffix(after)
        for delivery in arrived if key else ():
            if key.encode() in delivery.body or any(key in value for _, value in delivery.headers):
                yield violated(
                    "5-16",
                    "A delivery carries the API key of its project",
                    expected="a delivery without the key",
                    actual=f"the key stands in a delivery to {destination.name!r}",
                    deliveries=[delivery],
                )
            else:
                yield holds("5-16")


def data_sent(case: Case, event: Event) -> Any:
    """The `data` of an event's request with exact numbers, or NOT_JSON."""
    created = case.exchange(event.name)
    body = exact(created.request_body) if created and created.request_body is not None else NOT_JSON
    return body.get("data", NOT_JSON) if isinstance(body, dict) else NOT_JSON


def custom_headers(case: Case, event: Event) -> dict[str, str]:
    """The custom headers of an event's request."""
    created = case.exchange(event.name)
    body = created.request_json if created else None
    headers = body.get("custom_headers", {}) if isinstance(body, dict) else {}
    return dict(headers) if isinstance(headers, dict) else {}
