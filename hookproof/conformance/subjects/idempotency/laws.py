"""Which events are duplicates, how they are answered, and what arrives of them (sections 2.8 and
4.8).
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, json_text, judged, not_applicable
from hookproof.conformance.observations.answer import (
    sent,
    shown,
    shown_uid,
    was_answered,
    was_successful,
)
from hookproof.conformance.subjects.events.evidence import (
    DifferentEvents,
    DuplicatesAtOnce,
    EventDifference,
    KeyedBroadcasts,
    RepeatedKey,
)
from hookproof.conformance.subjects.idempotency.evidence import (
    OWN_KEY,
    SAME_KEY,
    SECOND,
    USED,
    DuplicateBroadcast,
    KeysOfTwoProjects,
    RepeatedBroadcast,
)
from hookproof.spec.dialect.vocabulary import Duplicate

# Broadcasts without a key are judged by 2.8-8 besides.
OF_DIFFERENCE: Final = {EventDifference.KEY: "4.8-10", EventDifference.PROJECT: "4.8-12"}


@check("2.8-8")
def an_event_without_a_key_is_no_duplicate(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """However alike they are. Where the dialect requires a key, no event is without one."""
    if exchange.operation_id != "createBroadcastEvent":
        return
    if shown(exchange) and "idempotency_key" not in sent(exchange):
        actual = shown(exchange).get("is_duplicate_event")
        yield judged(
            actual is not True,
            "2.8-8",
            "An event without an idempotency_key is flagged as a duplicate",
            expected=False,
            actual=actual,
            exchanges=[exchange],
        )
    elif "idempotency_key" in context.dialect.requests.create_broadcast_event_requires:
        yield not_applicable("2.8-8", "the dialect requires an idempotency_key of every broadcast")


@check("2.8-9")
def the_first_event_with_a_key_is_no_duplicate(
    broadcasts: KeyedBroadcasts, _context: CheckContext
) -> Iterator[Judgement]:
    for first in broadcasts.first_broadcasts:
        if "idempotency_key" in sent(first) and shown(first):
            actual = shown(first).get("is_duplicate_event")
            yield judged(
                actual is False,
                "2.8-9",
                "The first event with an idempotency_key is flagged as a duplicate",
                expected=False,
                actual=actual,
                exchanges=[first],
            )


@check("2.8-2", "4.8-10", "4.8-12")
def different_events_are_no_duplicates_of_each_other(
    events: DifferentEvents, _context: CheckContext
) -> Iterator[Judgement]:
    """By uid where one is shown, and by the flag."""
    answers = [exchange for exchange in events.exchanges if shown(exchange)]
    if not answers or len(answers) < len(events.exchanges):
        return
    uids = [shown_uid(answer) for answer in answers]
    distinct = None in uids or len(set(uids)) == len(uids)
    if None not in uids:
        yield judged(
            distinct,
            "2.8-2",
            "Two events that are not duplicates have the same uid",
            expected="different",
            actual=uids,
            exchanges=answers,
        )
    requirement = OF_DIFFERENCE.get(events.difference)
    if requirement is not None:
        flags = [shown(answer).get("is_duplicate_event") for answer in answers]
        yield judged(
            distinct and True not in flags,
            requirement,
            f"An event counts as a duplicate of one with {events.difference}",
            expected="no duplicate",
            actual=flags,
            exchanges=answers,
        )


@check("4.8-8")
def a_duplicate_is_answered_as_the_dialect_says(
    broadcasts: RepeatedKey | DuplicatesAtOnce, context: CheckContext
) -> Iterator[Judgement]:
    """One after the other, with other data, and ten at once."""
    if not context.dialect.idempotency.duplicate.decided:
        return
    if isinstance(broadcasts, DuplicatesAtOnce):
        yield from _at_once(broadcasts, context)
    else:
        yield from _in_turn(broadcasts, context)


def _in_turn(broadcasts: RepeatedKey, context: CheckContext) -> Iterator[Judgement]:
    first, again, rules = broadcasts.first, broadcasts.again, context.dialect.idempotency
    if first is None or again is None or not shown(first) or not was_answered(again):
        return
    if again.succeeded and not was_successful(again):
        return  # what is wrong with such an answer is judged by section 2.1
    event = _event_in(again)
    flagged = event.get("is_duplicate_event") is True
    same_event = event.get("uid") == shown_uid(first) is not None
    if shown_uid(first) is None and any(each.shows_first for each in rules.duplicate.allowed):
        return
    allowed = {
        Duplicate.FLAGGED_EVENT: flagged,
        Duplicate.FIRST_EVENT: same_event,
        Duplicate.FLAGGED_FIRST_EVENT: flagged and same_event,
    }
    statuses = " or ".join(map(str, rules.duplicate_status.allowed))
    yield judged(
        any(allowed[form] for form in rules.duplicate.allowed)
        and rules.duplicate_status.allows(again.status),
        "4.8-8",
        "A duplicate is not answered as the dialect says",
        expected=f"{rules.duplicate.value}, status {statuses}",
        actual=f"flagged: {json_text(flagged)}, the first event: {json_text(same_event)},"
        f" status {again.status}",
        exchanges=[first, again],
    )


def _event_in(answer: Exchange) -> Mapping[str, Any]:
    """The event that an answer to a duplicate shows, whatever status the dialect gives it."""
    body = answer.json
    event = body.get("data") if isinstance(body, dict) else None
    return event if isinstance(event, dict) else {}


def _at_once(broadcasts: DuplicatesAtOnce, context: CheckContext) -> Iterator[Judgement]:
    events = [shown(exchange) for exchange in broadcasts.exchanges if shown(exchange)]
    duplicate = context.dialect.idempotency.duplicate
    if not events or len(events) < len(broadcasts.exchanges):
        return
    originals = sum(event.get("is_duplicate_event") is False for event in events)
    uids = {shown_uid(exchange) for exchange in broadcasts.exchanges}
    if None in uids and any(each.shows_first for each in duplicate.allowed):
        return
    allowed = {
        Duplicate.FLAGGED_EVENT: originals == 1,
        Duplicate.FIRST_EVENT: len(uids) == 1,
        Duplicate.FLAGGED_FIRST_EVENT: originals == 1 and len(uids) == 1,
    }
    yield judged(
        any(allowed[form] for form in duplicate.allowed),
        "4.8-8",
        "Of broadcasts with one idempotency_key at once, not exactly one is the original",
        expected=duplicate.value.value,
        actual=f"{originals} originals, {len(uids)} events",
        exchanges=broadcasts.exchanges,
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
