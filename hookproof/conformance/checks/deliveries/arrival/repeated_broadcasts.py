"""What arrives of a broadcast that was sent twice (section 4.8)."""

from collections.abc import Iterator

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged, not_applicable
from hookproof.conformance.observations.delivery.arrival.repeated_broadcasts import (
    OWN_KEY,
    SAME_KEY,
    SECOND,
    USED,
    DuplicateBroadcast,
    KeysOfTwoProjects,
    RepeatedBroadcast,
)


@check("4.8-9")
def a_duplicate_is_not_delivered_again(
    duplicate: DuplicateBroadcast, context: CheckContext
) -> Iterator[Judgement]:
    """The event that was sent twice with one key arrived once, while a later one arrived."""
    for destination, arrived, sentinels in duplicate.deliveries_of_original(context.dialect):
        doubles = duplicate.doubles(destination, arrived, context.dialect)
        if doubles or (len(arrived) == 1 and sentinels):
            yield judged(
                not doubles,
                "4.8-9",
                "A broadcast with a key that was used before was delivered again",
                expected="one delivery",
                actual=f"{len(arrived)} deliveries",
                exchanges=duplicate.broadcasts,
                deliveries=[*arrived, *sentinels],
            )


@check("4.8-12")
def a_key_of_another_project_keeps_no_event_from_arriving(
    keyed: KeysOfTwoProjects, context: CheckContext
) -> Iterator[Judgement]:
    """Whatever the answers show: all events with keys of the project's own arrived there, and of
    those with keys that another project has used, all or none. One of several may be lost for
    another reason.
    """
    controls = keyed.own_keys_there(context.dialect)
    if not controls:
        return
    sent = list(keyed.settled(keyed.same_keys_there(context.dialect), context.dialect))
    arrived = [attempts[0] for _, _, attempts in sent if attempts]
    refusals = keyed.refused_there
    if len(sent) + len(refusals) == len(SAME_KEY) and len(arrived) in (0, len(SAME_KEY)):
        yield judged(
            bool(arrived),
            "4.8-12",
            "An event does not arrive whose idempotency_key another project has used",
            expected=f"all {len(SAME_KEY)} events with such keys arrive, or are taken at least",
            actual=f"{len(refusals)} refused, {len(arrived)} of {len(sent)} others arrived, and all"
            f" {len(OWN_KEY)} with other keys",
            exchanges=map(keyed.exchange, (*USED, *SAME_KEY)),
            deliveries=arrived or controls,
        )


@check("4.8-11")
def events_without_a_key_are_each_delivered(
    repeated: RepeatedBroadcast, context: CheckContext
) -> Iterator[Judgement]:
    """Two equal events without a key arrived twice."""
    if repeated.key_required:
        yield not_applicable(
            "4.8-11", "The dialect requires an idempotency_key, so no event can be without one."
        )
    pending = {event.name for event in repeated.pending_events(context.dialect)}
    for arrived in repeated.deliveries_of_both(context.dialect):
        if len(arrived) > 1 or (arrived and SECOND not in pending):
            yield judged(
                len(arrived) > 1,
                "4.8-11",
                "Of two equal events without a key, not both were delivered",
                expected="two deliveries",
                actual=f"{len(arrived)} deliveries",
                exchanges=repeated.broadcasts,
                deliveries=arrived,
            )
