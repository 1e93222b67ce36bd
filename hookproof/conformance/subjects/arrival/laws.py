"""What arrives of a broadcast: all of it, unaltered, once (sections 1, 2.3, 4.8 and 6)."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

from hookproof.conformance.checks.body_difference import shown_alike, with_difference
from hookproof.conformance.checks.broadcast_reach import reaches
from hookproof.conformance.checks.json_equality import (
    exact,
    needs_more_than_doubles,
    same,
    same_to_the_digit,
)
from hookproof.conformance.checks.request_target import asks_for, has_more
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import NOT_JSON, Exchange
from hookproof.conformance.model.judgement import Judgement, holds, judged, not_applicable, violated
from hookproof.conformance.observations.answer import sent
from hookproof.conformance.observations.deliveries import Arrivals, DeliveryObservation
from hookproof.conformance.observations.destinations import CONTENT_TYPE, FORM
from hookproof.conformance.observations.later_attempts import LaterAttempts
from hookproof.conformance.subjects.arrival.evidence import (
    AT_A_PLAIN_URL,
    AnsweredBroadcasts,
    BroadcastFlood,
    PayloadBroadcasts,
    SigningFormats,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import FormEncoding


def arrivals(broadcasts: DeliveryObservation, dialect: Dialect) -> Arrivals:
    """Each destination with each event that must arrive there, and what did."""
    for destination in broadcasts.destinations:
        for event in broadcasts.events:
            if reaches(event, destination, dialect):
                yield destination, event, broadcasts.attempts(destination, event, dialect)


@check("1-1")
def an_accepted_broadcast_arrives(
    broadcasts: AnsweredBroadcasts, context: CheckContext
) -> Iterator[Judgement]:
    """Every event that was accepted has arrived at every endpoint that it reaches."""
    expected = arrivals(broadcasts, context.dialect)
    for destination, event, arrived in broadcasts.settled(expected, context.dialect):
        others = len(broadcasts.arrived_at(destination.token))
        yield judged(
            bool(arrived),
            "1-1",
            "A broadcast that was accepted did not arrive at an endpoint that it reaches",
            expected=f"{event.name!r} arrives at {destination.name!r}",
            actual=f"{others} requests arrived there, none of them this event"
            if others
            else "no request arrived there",
            exchanges=broadcasts.exchanges_of(destination, event),
            deliveries=arrived,
        )


@check("1-26")
def a_delivery_asks_for_the_path_and_query_of_its_url(
    broadcasts: PayloadBroadcasts, context: CheckContext
) -> Iterator[Judgement]:
    """An endpoint at a plain URL shows nothing."""
    stand_ins = broadcasts.destinations_named(*AT_A_PLAIN_URL.values())
    if stand_ins and not broadcasts.destinations_named(*AT_A_PLAIN_URL):
        yield not_applicable("1-26", "The service takes only URLs with a plain path and no query.")
    for destination in broadcasts.destinations:
        given = str(destination.settings.get("url", ""))
        if not has_more(given, destination.token):
            continue
        for event in broadcasts.events:
            for delivery in broadcasts.attempts(destination, event, context.dialect):
                yield judged(
                    asks_for(delivery.path, given, destination.token),
                    "1-26",
                    "A delivery is not a request for the path and the query of its endpoint's URL",
                    expected=given,
                    actual=delivery.path,
                    exchanges=[broadcasts.exchange(destination.name)],
                    deliveries=[delivery],
                )


@check("4.1-17")
def a_new_endpoint_receives_in_the_dialects_time(
    broadcasts: AnsweredBroadcasts, context: CheckContext
) -> Iterator[Judgement]:
    """The first broadcast after that time is not lost on an endpoint that gets later ones."""
    dialect = context.dialect
    pending = broadcasts.pending_events(dialect)
    for destination in broadcasts.destinations:
        expected = [event for event in broadcasts.events if reaches(event, destination, dialect)]
        arrived = [event for event in expected if broadcasts.attempts(destination, event, dialect)]
        if arrived and (arrived[0] == expected[0] or expected[0] not in pending):
            yield judged(
                arrived[0] == expected[0],
                "4.1-17",
                "A new endpoint missed the first broadcast and got a later one",
                expected=f"it receives {dialect.delivery.visible_within_s:g} s after its creation",
                actual=f"the first event that arrived is {arrived[0].name!r}",
                exchanges=[
                    broadcasts.exchange(destination.name),
                    broadcasts.exchange(expected[0].name),
                ],
                deliveries=broadcasts.attempts(destination, arrived[0], dialect),
            )


@check("4.8-15")
def a_broadcast_arrives_once_where_it_is_answered_with_success(
    broadcasts: PayloadBroadcasts | BroadcastFlood, context: CheckContext
) -> Iterator[Judgement]:
    """No event arrived a second time at an endpoint that answered the first time."""
    for destination, event, arrived in arrivals(broadcasts, context.dialect):
        doubles = broadcasts.doubles(destination, arrived, context.dialect)
        if doubles or len(arrived) == 1:
            yield judged(
                not doubles,
                "4.8-15",
                "A broadcast arrived more than once at an endpoint that answered with success",
                expected="one delivery",
                actual=f"{len(arrived)} deliveries of {event.name!r}",
                exchanges=[broadcasts.exchange(event.name)],
                deliveries=arrived,
            )


@check("6-3", "6-12")
def the_body_is_the_data_that_was_sent(
    broadcasts: PayloadBroadcasts | SigningFormats | LaterAttempts, context: CheckContext
) -> Iterator[Judgement]:
    """The body is JSON of the same value, or where the dialect says so a form with the same
    members.
    """
    for destination, event, arrived in arrivals(broadcasts, context.dialect):
        asks_for_form = destination.settings.get("content_type") == FORM
        broadcast = broadcasts.exchange(event.name)
        data = data_sent(broadcast)
        for delivery in arrived:
            requirement = "6-12" if asks_for_form else "6-3"
            if is_same_data(delivery, data, context.dialect, asks_for_form=asks_for_form):
                yield holds(requirement, exchanges=[broadcast], deliveries=[delivery])
                continue
            expected, actual = shown_alike(delivery.body, data)
            judgement = violated(
                requirement,
                "The body of a delivery is not the data of its event",
                expected=expected,
                actual=actual,
                exchanges=[broadcast],
                deliveries=[delivery],
            )
            is_form = asks_for_form and is_sent_as_form(context.dialect)
            yield with_difference(judgement, delivery.body, data, same, is_form=is_form)


def is_sent_as_form(dialect: Dialect) -> bool:
    """Whether an endpoint that asks for a form gets one."""
    return dialect.delivery.form_body.value is FormEncoding.FORM


def is_same_data(
    delivery: ReceivedDelivery, data: Any, dialect: Dialect, *, asks_for_form: bool
) -> bool:
    """Whether the body of a delivery is this data, in the form that its endpoint asks for."""
    if asks_for_form and is_sent_as_form(dialect):
        members = parse_qsl(delivery.body.decode("latin-1"), keep_blank_values=True)
        return isinstance(data, dict) and sorted(members) == sorted(data.items())
    return same(exact(delivery.body), data)


@check("4.8-19")
def numbers_keep_their_digits_until_they_arrive(
    broadcasts: PayloadBroadcasts | SigningFormats | LaterAttempts, context: CheckContext
) -> Iterator[Judgement]:
    """Where a body is the data that was sent, so are the numbers that a double cannot hold."""
    for _, event, arrived in arrivals(broadcasts, context.dialect):
        broadcast = broadcasts.exchange(event.name)
        data = data_sent(broadcast)
        for delivery in arrived:
            body = exact(delivery.body)
            if needs_more_than_doubles(data) and same(body, data):
                if same_to_the_digit(body, data):
                    yield holds("4.8-19", exchanges=[broadcast], deliveries=[delivery])
                    continue
                expected, actual = shown_alike(delivery.body, data)
                judgement = violated(
                    "4.8-19",
                    "A number loses digits on its way to an endpoint",
                    expected=expected,
                    actual=actual,
                    exchanges=[broadcast],
                    deliveries=[delivery],
                )
                yield with_difference(judgement, delivery.body, data, same_to_the_digit)


@check("2.3-6", "2.3-7")
def deliveries_are_declared_with_the_content_type_of_the_endpoint(
    broadcasts: PayloadBroadcasts | LaterAttempts, context: CheckContext
) -> Iterator[Judgement]:
    """The media type is the endpoint's; parameters such as a charset may follow it."""
    for destination, _, arrived in arrivals(broadcasts, context.dialect):
        given = destination.settings.get("content_type")
        requirement, wanted = ("2.3-6", CONTENT_TYPE) if given is None else ("2.3-7", given)
        for delivery in arrived:
            declared = delivery.header("Content-Type")
            media_type = (declared or "").partition(";")[0].strip().lower()
            yield judged(
                media_type == wanted,
                requirement,
                "A delivery is not declared with the content type of its endpoint",
                expected=f"Content-Type: {wanted}",
                actual=f"Content-Type: {declared}",
                exchanges=[broadcasts.exchange(destination.name)],
                deliveries=[delivery],
            )


@check("6-4")
def a_delivery_carries_the_custom_headers_of_its_event(
    broadcasts: PayloadBroadcasts | LaterAttempts, context: CheckContext
) -> Iterator[Judgement]:
    """Each of them is there once, with its value."""
    for _, event, arrived in arrivals(broadcasts, context.dialect):
        for delivery in arrived:
            for name, value in broadcasts.custom_headers(event).items():
                yield judged(
                    delivery.all_headers(name) == (value,),
                    "6-4",
                    "A delivery does not carry a custom header of its event as it was sent",
                    expected=f"{name}: {value}",
                    actual=delivery.all_headers(name) or "no such header",
                    exchanges=[broadcasts.exchange(event.name)],
                    deliveries=[delivery],
                )


@check("6-5")
def a_delivery_carries_no_custom_header_of_another_event(
    broadcasts: PayloadBroadcasts | LaterAttempts, context: CheckContext
) -> Iterator[Judgement]:
    """No value of a custom header appears in a delivery of another event."""
    owners = {
        value: event.name
        for event in broadcasts.events
        for value in broadcasts.custom_headers(event).values()
    }
    if not owners:
        return
    for _, event, arrived in arrivals(broadcasts, context.dialect):
        for delivery in arrived:
            foreign = [
                text for _, text in delivery.headers if owners.get(text, event.name) != event.name
            ]
            exchanges = [broadcasts.exchange(event.name)]
            if foreign:
                owner = owners[foreign[0]]
                yield violated(
                    "6-5",
                    "A delivery carries a custom header of another event",
                    expected=f"the custom headers of {event.name!r} alone",
                    actual=f"{foreign[0]!r}, which belongs to {owner!r}",
                    exchanges=[*exchanges, broadcasts.exchange(owner)],
                    deliveries=[delivery],
                )
            else:
                yield holds("6-5", exchanges=exchanges, deliveries=[delivery])


@check("4.8-16", "4.8-17")
def a_delivery_names_its_event(
    broadcasts: PayloadBroadcasts | LaterAttempts, context: CheckContext
) -> Iterator[Judgement]:
    """The dialect's headers hold the uid and the event_type of the event."""
    rules = context.dialect.delivery
    if rules.event_id_header is None:
        yield not_applicable("4.8-16", "The dialect has no header for the event's identifier.")
    if rules.event_type_header is None:
        yield not_applicable("4.8-17", "The dialect has no header for the event_type.")
    for _, event, arrived in arrivals(broadcasts, context.dialect):
        broadcast = broadcasts.exchange(event.name)
        headers: dict[str, tuple[str, object]] = {}
        if rules.event_id_header is not None and event.uid is not None:
            headers["4.8-16"] = (rules.event_id_header, event.uid)
        if rules.event_type_header is not None and broadcast is not None and sent(broadcast):
            event_type = sent(broadcast).get("event_type")
            headers["4.8-17"] = (rules.event_type_header, event_type)
        for delivery in arrived:
            for requirement, (header, value) in headers.items():
                yield judged(
                    delivery.header(header) == value,
                    requirement,
                    "A delivery does not name its event in the dialect's header",
                    expected=f"{header}: {value}",
                    actual=f"{header}: {delivery.header(header)}",
                    exchanges=[broadcast],
                    deliveries=[delivery],
                )


@check("5-16")
def no_delivery_carries_the_api_key(
    broadcasts: AnsweredBroadcasts, context: CheckContext
) -> Iterator[Judgement]:
    """The key that the calls carried stands in no header and no body of a delivery."""
    for destination, event, arrived in arrivals(broadcasts, context.dialect):
        for delivery in arrived if broadcasts.is_authorized(event) else ():
            yield judged(
                not broadcasts.leaks_key(delivery),
                "5-16",
                "A delivery carries the API key of its project",
                expected="a delivery without the key",
                actual=f"the key stands in a delivery to {destination.name!r}",
                deliveries=[delivery],
            )


def data_sent(broadcast: Exchange | None) -> Any:
    """The `data` of a broadcast with exact numbers, or NOT_JSON."""
    if broadcast is None or broadcast.request_body is None:
        return NOT_JSON
    body = exact(broadcast.request_body)
    return body.get("data", NOT_JSON) if isinstance(body, dict) else NOT_JSON
