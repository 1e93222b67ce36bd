"""Which endpoints a broadcast arrives at, and which it leaves alone (sections 1, 2.8, 3, 4.1, 4.8
and 6).
"""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.checks.support.broadcast_reach import reaches
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, holds, not_applicable, violated
from hookproof.conformance.observations.case import Case, deliveries_of, destinations, events
from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import CreationVisit

# The destinations that answer at once, whatever the dialect.
HEALTHY: Final = ("healthy", "of the same owner", "enabled by hand")

# The events that every endpoint can be reached by; a later one may have to wait until an endpoint
# has answered.
FIRST: Final = ("event", "event here", "event there")

# The destinations that a service may come to late or never: while one does not answer, all else
# must wait there.
TROUBLED: Final = ("failing", "hanging", "gone")

VISITING_METHODS: Final = {
    CreationVisit.NONE: (),
    CreationVisit.HEAD: ("HEAD",),
    CreationVisit.GET: ("GET",),
}

DELIVERY_METHODS: Final = ("POST", "PUT", "PATCH")


@check("1-1", "4.8-13", experiments=("fan_out",))
def a_broadcast_arrives_at_every_endpoint_that_it_reaches(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Every endpoint that answers got the first event."""
    for event in events(case, *FIRST):
        for destination in destinations(case):
            if destination.name in TROUBLED or not reaches(event, destination, context.dialect):
                continue
            arrived = bool(deliveries_of(case, destination, event, context.dialect))
            # An event that arrived nowhere says nothing about whom it reaches.
            for requirement in (
                ("1-1", "4.8-13") if arrived_anywhere(case, event, context.dialect) else ("1-1",)
            ):
                if arrived:
                    yield holds(requirement)
                else:
                    yield violated(
                        requirement,
                        "A broadcast did not arrive at an endpoint that it reaches",
                        expected=f"a delivery to {destination.name!r}",
                        actual="no delivery",
                        exchanges=[case.exchange(destination.name), case.exchange(event.name)],
                    )


@check("4.8-14", experiments=("fan_out",))
def a_broadcast_arrives_at_no_other_endpoint(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Endpoints of its project that the dialect leaves out got nothing while a later event arrived
    elsewhere.
    """
    left_out = [one for one in unreached(case, context.dialect) if one[0].project == one[1].project]
    if not left_out:
        yield not_applicable(
            "4.8-14", "A broadcast reaches every endpoint that the dialect lets one create."
        )
    for event, destination, arrived in left_out:
        if arrived:
            yield violated(
                "4.8-14",
                "A broadcast arrived at an endpoint that it does not reach",
                expected=f"no delivery to {destination.name!r}",
                actual=f"{len(arrived)} deliveries",
                exchanges=[case.exchange(destination.name), case.exchange(event.name)],
                deliveries=arrived,
            )
        elif alive(case, context.dialect):
            yield holds("4.8-14")


@check("1-11", experiments=("fan_out",))
def a_broadcast_reaches_no_endpoint_of_another_project(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Each of two projects got its own event and not the other's."""
    for event, destination, arrived in unreached(case, context.dialect):
        if event.project == destination.project:
            continue
        own = any(
            deliveries_of(case, destination, one, context.dialect)
            for one in events(case)
            if one != event
        )
        if arrived:
            yield violated(
                "1-11",
                "A broadcast arrived at an endpoint of another project",
                expected="no delivery",
                actual=f"{len(arrived)} deliveries",
                exchanges=[case.exchange(destination.name), case.exchange(event.name)],
                deliveries=arrived,
            )
        elif own:
            yield holds("1-11")


@check("1-2", experiments=("fan_out",))
def a_failing_endpoint_keeps_no_other_from_receiving(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Beside endpoints that fail, hang and are gone, the others got every event."""
    troubled = any(case.arrived_at(one.token) for one in destinations(case, *TROUBLED))
    for event in events(case, "event", "sentinel"):
        for destination in destinations(case, *HEALTHY):
            if deliveries_of(case, destination, event, context.dialect):
                yield holds("1-2")
            elif reaches(event, destination, context.dialect) and troubled:
                yield violated(
                    "1-2",
                    "An endpoint missed a broadcast that other endpoints refused",
                    expected=f"a delivery of {event.name!r} to {destination.name!r}",
                    actual="no delivery",
                    exchanges=[case.exchange(event.name)],
                    deliveries=[
                        one for other in destinations(case) for one in case.arrived_at(other.token)
                    ],
                )


@check("3-5", experiments=("fan_out",))
def an_endpoint_that_is_not_disabled_receives(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """An endpoint created with is_disabled false got the event."""
    for destination in destinations(case, "enabled by hand"):
        for event in events(case, "event"):
            if deliveries_of(case, destination, event, context.dialect):
                yield holds("3-5")
            elif arrived_anywhere(case, event, context.dialect):
                yield violated(
                    "3-5",
                    "An endpoint created with is_disabled false did not receive",
                    expected="a delivery",
                    actual="no delivery",
                    exchanges=[case.exchange(destination.name), case.exchange(event.name)],
                )


@check("3-6", experiments=("fan_out",))
def a_disabled_endpoint_receives_as_the_dialect_says(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """An endpoint created with is_disabled true got the event or did not."""
    receives = context.dialect.delivery.disabled_receives
    for destination in destinations(case, "disabled"):
        for event in events(case, "event"):
            arrived = deliveries_of(case, destination, event, context.dialect)
            if not receives.allows(bool(arrived)):
                yield violated(
                    "3-6",
                    "A disabled endpoint does not receive as the dialect says",
                    expected="a delivery" if receives.value else "no delivery",
                    actual=f"{len(arrived)} deliveries",
                    exchanges=[case.exchange(destination.name), case.exchange(event.name)],
                    deliveries=arrived,
                )
            elif alive(case, context.dialect):
                yield holds("3-6")


@check("4.8-15", experiments=("fan_out",))
def each_endpoint_of_a_fan_out_gets_a_broadcast_once(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Where other endpoints fail and are tried again, one that answered is not."""
    for event in events(case, "event"):
        for destination in destinations(case, *HEALTHY):
            arrived = deliveries_of(case, destination, event, context.dialect)
            if len(arrived) > 1:
                yield violated(
                    "4.8-15",
                    "A broadcast arrived more than once at an endpoint that answered with success",
                    expected="one delivery",
                    actual=f"{len(arrived)} deliveries to {destination.name!r}",
                    exchanges=[case.exchange(event.name)],
                    deliveries=arrived,
                )
            elif arrived and alive(case, context.dialect):
                yield holds("4.8-15")


@check("2.8-6", experiments=("fan_out",))
def the_endpoints_that_an_event_names_are_those_that_it_reached(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """An endpoint stands in the event's list exactly if the event arrived there."""
    for event in events(case, *FIRST):
        created = case.exchange(event.name)
        named = (
            created.data.get("endpoints") if created and isinstance(created.data, dict) else None
        )
        if not isinstance(named, list) or not named:
            yield not_applicable("2.8-6", "The answer to a broadcast names no endpoints.")
            continue
        for destination in (
            destinations(case) if arrived_anywhere(case, event, context.dialect) else ()
        ):
            if destination.name in TROUBLED:
                continue
            arrived = deliveries_of(case, destination, event, context.dialect)
            if bool(arrived) is (destination.uid in named):
                yield holds("2.8-6")
            else:
                yield violated(
                    "2.8-6",
                    "The endpoints that an event names are not those that it reached",
                    expected=f"{destination.name!r} is named"
                    if arrived
                    else f"{destination.name!r} is not named",
                    actual=f"named: {named}; {destination.name!r} is {destination.uid}",
                    exchanges=[created],
                    deliveries=arrived,
                )


@check("4.1-16", experiments=("fan_out",))
def a_new_url_is_tried_as_the_dialect_says(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Requests that deliver nothing have the method that the dialect names for trying a URL."""
    allowed = [
        method
        for kind in context.dialect.delivery.creation_visit.allowed
        for method in VISITING_METHODS[kind]
    ]
    for destination in destinations(case):
        arrived = case.arrived_at(destination.token)
        visits = [one for one in arrived if one.method not in DELIVERY_METHODS]
        wrong = [one for one in visits if one.method not in allowed]
        if wrong:
            yield violated(
                "4.1-16",
                "The URL of a new endpoint was tried in another way than the dialect says",
                expected=" or ".join(allowed) or "no such request",
                actual=wrong[0].method,
                exchanges=[case.exchange(destination.name)],
                deliveries=wrong,
            )
        elif arrived:
            yield holds("4.1-16")


@check("6-16", experiments=("own_events",))
def the_service_sends_webhooks_of_its_own_as_the_dialect_says(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """What arrived besides the broadcast, in a project where nothing else was sent, are webhooks of
    the service.
    """
    own_events = context.dialect.delivery.own_events
    own = [
        one
        for destination in destinations(case)
        for one in case.arrived_at(destination.token)
        if one.method in DELIVERY_METHODS
        and not any(
            one in deliveries_of(case, destination, event, context.dialect)
            for event in events(case)
        )
    ]
    if not own_events.allows(bool(own)):
        yield violated(
            "6-16",
            "The service does not send webhooks about its own resources as the dialect says",
            expected="some" if own_events.value else "none",
            actual=f"{len(own)} requests that belong to no broadcast",
            exchanges=case.exchanges,
            deliveries=own,
        )
    elif alive(case, context.dialect):
        yield holds("6-16")


def unreached(
    case: Case, dialect: Dialect
) -> Iterator[tuple[Event, Destination, tuple[ReceivedDelivery, ...]]]:
    """Each event with each destination that it must not arrive at, and what did."""
    for event in events(case):
        for destination in destinations(case):
            if not reaches(event, destination, dialect):
                yield event, destination, deliveries_of(case, destination, event, dialect)


def alive(case: Case, dialect: Dialect) -> bool:
    """Whether the sentinel has arrived anywhere, so that silence means something."""
    return any(arrived_anywhere(case, event, dialect) for event in events(case, "sentinel"))


def arrived_anywhere(case: Case, event: Event, dialect: Dialect) -> bool:
    """Whether the event has arrived at any destination."""
    return any(
        deliveries_of(case, destination, event, dialect) for destination in destinations(case)
    )
