"""Requests to endpoints that no broadcast asks for (sections 4.1 and 6)."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.deliveries import Attempts
from hookproof.conformance.observations.delivery.arrival.fan_out import FanOut
from hookproof.conformance.observations.delivery.arrival.resource_changes import ResourceChanges
from hookproof.conformance.observations.destinations import of_this_run
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import CreationVisit

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
