"""Which endpoints a broadcast arrives at, and what arrives that no broadcast asks for (sections 1,
2.8, 3, 4.1, 4.8 and 6).
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from hookproof.conformance.checks.broadcast_reach import reaches
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import (
    Judgement,
    json_text,
    judged,
    not_applicable,
    not_applicable_here,
)
from hookproof.conformance.observations.answer import shown
from hookproof.conformance.observations.deliveries import Attempts
from hookproof.conformance.observations.destinations import Destination, Event, of_this_run
from hookproof.conformance.observations.shown_owner import with_owners_as_sent
from hookproof.conformance.subjects.reach.evidence import (
    FanOut,
    OneProjectFanOut,
    ResourceChanges,
    TwoProjectFanOut,
)
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import CreationVisit, Reach

# What is wrong where a disabled endpoint gets what it is not to get (3-6), a broadcast for one.
DISABLED_RECEIVE: Final = "a disabled endpoint receives"


@check("1-1", "4.8-13")
def a_broadcast_arrives_at_every_endpoint_that_it_reaches(
    fan_out: FanOut, context: CheckContext
) -> Iterator[Judgement]:
    """Every endpoint that answers got the first event, and those that answer with success each."""
    for event in fan_out.events:
        # An event that arrived nowhere does not show whom it reaches.
        shows_reach = event in fan_out.first_events and fan_out.attempts_anywhere(
            context.dialect, event
        )
        requirements = ("1-1", "4.8-13") if shows_reach else ("1-1",)
        reached = [
            each
            for each in _owned_as_created(fan_out, fan_out.answering(event), context.dialect)
            if reaches(event, each, context.dialect)
        ]
        expected = fan_out.attempts_at_each(reached, event, context.dialect)
        for destination, _, arrived in fan_out.settled(expected, context.dialect):
            for requirement in requirements:
                yield judged(
                    bool(arrived),
                    requirement,
                    "A broadcast did not arrive at an endpoint that it reaches",
                    expected=f"a delivery to {destination.name!r}",
                    actual="no delivery",
                    exchanges=fan_out.exchanges_of(destination, event),
                    deliveries=arrived,
                )


def _owned_as_created(
    fan_out: FanOut, destinations: Iterable[Destination], dialect: Dialect
) -> list[Destination]:
    """These endpoints, without those that lost their owner where owners decide."""
    among = list(destinations)
    if dialect.delivery.reach.value is not Reach.OWNED_ENDPOINTS:
        return among
    creations = {each.name: fan_out.exchange(each.name) for each in among}
    owned = with_owners_as_sent(created for created in creations.values() if created)
    return [each for each in among if creations[each.name] in (None, *owned)]


@check("4.8-14")
def a_broadcast_arrives_at_no_other_endpoint(
    fan_out: FanOut, context: CheckContext
) -> Iterator[Judgement]:
    """Endpoints of its project that the dialect leaves out got nothing while a later event arrived
    elsewhere.
    """
    left_out = [
        (event, destination, arrived)
        for event, destination, arrived in unreached(fan_out, context.dialect)
        if event.project == destination.project
    ]
    if not left_out:
        yield not_applicable(
            "4.8-14", "A broadcast reaches every endpoint that the dialect lets one create."
        )
    sentinels = fan_out.sentinels(context.dialect)
    for event, destination, arrived in left_out:
        if arrived or sentinels:
            judgement = judged(
                not arrived,
                "4.8-14",
                "A broadcast arrived at an endpoint that it does not reach",
                expected=f"no delivery to {destination.name!r}",
                actual=f"{len(arrived)} deliveries",
                exchanges=fan_out.exchanges_of(destination, event),
                deliveries=arrived or sentinels,
            )
            is_disabled = destination.settings.get("is_disabled") is True
            yield replace(judgement, state=DISABLED_RECEIVE if is_disabled else "")


@check("1-11")
def a_broadcast_reaches_no_endpoint_of_another_project(
    fan_out: TwoProjectFanOut, context: CheckContext
) -> Iterator[Judgement]:
    """Each of two projects got its own event and not the other's."""
    for event, destination, arrived in unreached(fan_out, context.dialect):
        if event.project == destination.project:
            continue
        own = [
            delivery
            for other in fan_out.events
            if other != event
            for delivery in fan_out.attempts(destination, other, context.dialect)
        ]
        if arrived or own:
            yield judged(
                not arrived,
                "1-11",
                "A broadcast arrived at an endpoint of another project",
                expected="no delivery",
                actual=f"{len(arrived)} deliveries",
                exchanges=fan_out.exchanges_of(destination, event),
                deliveries=arrived or own,
            )


@check("1-2")
def a_failing_endpoint_keeps_no_other_from_receiving(
    fan_out: OneProjectFanOut, context: CheckContext
) -> Iterator[Judgement]:
    """Beside endpoints that fail, hang and are gone, the others got every event."""
    failed = any(fan_out.arrived_at(destination.token) for destination in fan_out.failing)
    arrived_anywhere = [
        delivery
        for destination in fan_out.destinations
        for delivery in fan_out.arrived_at(destination.token)
    ]
    for event in fan_out.events:
        healthy = _owned_as_created(fan_out, fan_out.healthy, context.dialect)
        expected = fan_out.attempts_at_each(healthy, event, context.dialect)
        for destination, _, arrived in fan_out.settled(expected, context.dialect):
            if arrived or (failed and reaches(event, destination, context.dialect)):
                yield judged(
                    bool(arrived),
                    "1-2",
                    "An endpoint missed a broadcast that other endpoints refused",
                    expected=f"a delivery of {event.name!r} to {destination.name!r}",
                    actual="no delivery",
                    exchanges=fan_out.exchanges_of(destination, event),
                    deliveries=arrived or arrived_anywhere,
                )


@check("3-5")
def an_endpoint_that_is_not_disabled_receives(
    fan_out: OneProjectFanOut, context: CheckContext
) -> Iterator[Judgement]:
    """An endpoint created with is_disabled false got the event."""
    for event in fan_out.event:
        anywhere = fan_out.attempts_anywhere(context.dialect, event)
        enabled = fan_out.enabled if anywhere else ()
        expected = fan_out.attempts_at_each(enabled, event, context.dialect)
        for destination, _, arrived in fan_out.settled(expected, context.dialect):
            yield judged(
                bool(arrived),
                "3-5",
                "An endpoint created with is_disabled false did not receive",
                expected="a delivery",
                actual="no delivery",
                exchanges=fan_out.exchanges_of(destination, event),
                deliveries=arrived,
            )


@check("3-6")
def a_disabled_endpoint_receives_as_the_dialect_says(
    fan_out: OneProjectFanOut, context: CheckContext
) -> Iterator[Judgement]:
    """An endpoint created with is_disabled true got one of the events, or did not get one that
    arrived anywhere.
    """
    receives = context.dialect.delivery.disabled_receives
    names = [event.name for event in fan_out.events]
    sentinels = fan_out.sentinels(context.dialect)
    pending = fan_out.pending_events(context.dialect)
    for destination in fan_out.disabled:
        for event in fan_out.event:
            if not fan_out.attempts_anywhere(context.dialect, event):
                continue
            arrived = [
                attempt
                for each in fan_out.events
                for attempt in fan_out.attempts(destination, each, context.dialect)
            ]
            kept = receives.allows(bool(arrived))
            if (not kept or sentinels) and (arrived or event not in pending):
                judgement = judged(
                    kept,
                    "3-6",
                    "A disabled endpoint does not receive as the dialect says",
                    expected="a delivery" if True in receives.allowed else "no delivery",
                    actual=f"{len(arrived)} deliveries",
                    exchanges=map(fan_out.exchange, [destination.name, *names]),
                    deliveries=arrived or sentinels,
                )
                yield replace(judgement, state=DISABLED_RECEIVE if arrived else "")


@check("4.8-15")
def each_endpoint_of_a_fan_out_gets_a_broadcast_once(
    fan_out: OneProjectFanOut, context: CheckContext
) -> Iterator[Judgement]:
    """While other endpoints fail and are tried again, one that answered with success is not."""
    sentinels = fan_out.sentinels(context.dialect)
    for destination, event, arrived in fan_out.arrived_events(
        fan_out.healthy, fan_out.event, context.dialect
    ):
        doubles = fan_out.doubles(destination, arrived, context.dialect)
        if doubles or (sentinels and len(arrived) == 1):
            yield judged(
                not doubles,
                "4.8-15",
                "A broadcast arrived more than once at an endpoint that answered with success",
                expected="one delivery",
                actual=f"{len(arrived)} deliveries to {destination.name!r}",
                exchanges=[fan_out.exchange(event.name)],
                deliveries=arrived,
            )


@check("2.8-6")
def the_endpoints_that_an_event_names_are_those_that_it_reached(
    fan_out: FanOut, context: CheckContext
) -> Iterator[Judgement]:
    """An endpoint stands in the event's list exactly if the event arrived there."""
    for event in fan_out.first_events:
        broadcast = fan_out.exchange(event.name)
        named = shown(broadcast).get("endpoints") if broadcast else None
        if not isinstance(named, list) or not named:
            yield not_applicable_here("2.8-6", "The answer to a broadcast names no endpoints.")
            continue
        anywhere = fan_out.attempts_anywhere(context.dialect, event)
        expected = (
            (destination, event, fan_out.attempts(destination, event, context.dialect))
            for destination in (fan_out.prompt if anywhere else ())
            if destination.uid is not None
        )
        for destination, _, arrived in fan_out.settled(expected, context.dialect):
            yield judged(
                bool(arrived) is (destination.uid in named),
                "2.8-6",
                "The endpoints that an event names are not those that it reached",
                expected=f"{destination.name!r} is {'named' if arrived else 'not named'}",
                actual=f"named: {json_text(named)}; {destination.name!r} is {destination.uid}",
                exchanges=fan_out.exchanges_of(destination, event),
                deliveries=arrived,
            )


def unreached(fan_out: FanOut, dialect: Dialect) -> Iterator[tuple[Event, Destination, Attempts]]:
    """Each event with each destination that it must not arrive at, and what did."""
    for event in fan_out.events:
        for destination in fan_out.destinations:
            if not reaches(event, destination, dialect):
                yield event, destination, fan_out.attempts(destination, event, dialect)


DELIVERY_METHODS: Final = ("POST", "PUT", "PATCH")


@check("4.1-16")
def a_new_url_is_tried_as_the_dialect_says(
    fan_out: FanOut, context: CheckContext
) -> Iterator[Judgement]:
    """Requests that deliver nothing have the method that the dialect names for trying a URL."""
    visit = context.dialect.delivery.creation_visit
    if not visit.decided:
        return
    allowed = [method for kind in visit.allowed for method in kind.methods]
    for destination in fan_out.destinations:
        arrived = fan_out.arrived_at(destination.token)
        wrong = [
            request
            for request in arrived
            if CreationVisit.ANY not in visit.allowed
            and request.method not in (*DELIVERY_METHODS, *allowed)
        ]
        if arrived:
            yield judged(
                not wrong,
                "4.1-16",
                "The URL of a new endpoint was tried in another way than the dialect says",
                expected=" or ".join(allowed) or "no such request",
                actual=wrong[0].method if wrong else "none",
                exchanges=[fan_out.exchange(destination.name)],
                deliveries=wrong or arrived,
            )


@check("6-16")
def the_service_sends_webhooks_of_its_own_as_the_dialect_says(
    changes: ResourceChanges, context: CheckContext
) -> Iterator[Judgement]:
    """What arrived besides broadcasts, in a project where all of them are marked, are webhooks of
    the service.
    """
    own_events = context.dialect.delivery.own_events
    own = [
        delivery
        for destination in changes.destinations
        for delivery in after_the_visit(changes.arrived_at(destination.token), context.dialect)
        if delivery.method in DELIVERY_METHODS
        and not of_this_run(delivery, changes.events)
        and not any(
            delivery in changes.attempts(destination, event, context.dialect)
            for event in changes.events
        )
    ]
    kept = own_events.allows(bool(own))
    sentinels = changes.sentinels(context.dialect)
    if not kept or sentinels:
        yield judged(
            kept,
            "6-16",
            "The service does not send webhooks about its own resources as the dialect says",
            expected="some" if True in own_events.allowed else "none",
            actual=f"{len(own)} requests that belong to no broadcast",
            exchanges=changes.exchanges,
            deliveries=own or sentinels,
        )


def after_the_visit(arrived: Attempts, dialect: Dialect) -> Attempts:
    """The requests at an endpoint without the first one that is a visit by the dialect, where
    visits have the method of deliveries.
    """
    visits = dialect.delivery.creation_visit.allowed
    methods = {method for visit in visits for method in visit.methods}
    if CreationVisit.ANY in visits:
        methods |= set(DELIVERY_METHODS)
    if arrived and arrived[0].method in methods.intersection(DELIVERY_METHODS):
        return arrived[1:]
    return arrived
