"""Sections 2.8 and 4.8: which events are duplicates, and how they are answered."""

from collections.abc import Iterator

from hookproof.conformance.model.check_registry import CheckContext, check, oracle
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged, not_applicable
from hookproof.conformance.observations.answer import sent, shown
from hookproof.conformance.observations.case import Case
from hookproof.spec.dialect.vocabulary import Duplicate


@oracle("2.8-8")
def an_event_without_a_key_is_no_duplicate(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """However alike events are; where the dialect requires a key, there is no event without one."""
    if exchange.operation_id != "createBroadcastEvent":
        return
    if "idempotency_key" in context.dialect.requests.create_broadcast_event_requires:
        yield not_applicable("2.8-8", "the dialect requires an idempotency_key of every broadcast")
    elif shown(exchange) and "idempotency_key" not in sent(exchange):
        actual = shown(exchange).get("is_duplicate_event")
        message = "An event without an idempotency_key is flagged as a duplicate"
        yield judged(
            actual is not True,
            "2.8-8",
            message,
            expected=False,
            actual=actual,
            exchanges=[exchange],
        )


@check("2.8-9", experiments=("idempotency", "broadcast_answers", "pairs", "sequences"))
def the_first_event_with_a_key_is_no_duplicate(
    case: Case, _context: CheckContext
) -> Iterator[Judgement]:
    """Every key here was never used before."""
    for first in (*case.all_exchanges("first"), *case.all_exchanges("create")):
        if "idempotency_key" in sent(first) and shown(first):
            actual = shown(first).get("is_duplicate_event")
            message = "The first event with an idempotency_key is flagged as a duplicate"
            yield judged(
                actual is False, "2.8-9", message, expected=False, actual=actual, exchanges=[first]
            )


@check("2.8-2", "4.8-10", "4.8-12", experiments=("idempotency",))
def different_events_are_no_duplicates_of_each_other(
    case: Case, _context: CheckContext
) -> Iterator[Judgement]:
    """With other keys, without a key, and with the same key in another project."""
    requirements = {"other key": "4.8-10", "same key in another project": "4.8-12", "no key": None}
    about = case.facts["about"]
    told = [one for one in case.exchanges if shown(one)]
    if about not in requirements or len(told) < len(case.exchanges):
        return
    uids = [str(shown(one).get("uid")) for one in told]
    message = "Two events that are no duplicates have the same uid"
    distinct = len(set(uids)) == len(uids)
    yield judged(distinct, "2.8-2", message, expected="different", actual=uids, exchanges=told)
    requirement = requirements[about]
    if requirement is not None:
        flagged = [shown(one).get("is_duplicate_event") for one in told]
        message = f"An event is taken for a duplicate of one with {about}"
        yield judged(
            distinct and True not in flagged,
            requirement,
            message,
            expected="no duplicate",
            actual=flagged,
            exchanges=told,
        )


@check("4.8-8", experiments=("idempotency",))
def a_duplicate_is_answered_as_the_dialect_says(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """In turn, with other data, and ten at once."""
    first, again = case.exchange("first"), case.exchange("again")
    if case.facts["about"] == "same key at once":
        yield from _at_once(case, context)
    elif (
        case.facts["about"] in {"same key again", "same key, other data"}
        and first is not None
        and again is not None
    ):
        rules = context.dialect.idempotency
        if not shown(first) or not rules.duplicate.decided:
            return
        flagged, same_event = _answers(first, again)
        allowed = {Duplicate.FLAGGED_EVENT: flagged, Duplicate.FIRST_EVENT: same_event}
        yield judged(
            any(allowed[one] for one in rules.duplicate.allowed)
            and rules.duplicate_status.allows(again.status),
            "4.8-8",
            "A duplicate is not answered as the dialect says",
            expected=f"{rules.duplicate.value}, status {' or '.join(map(str, rules.duplicate_status.allowed))}",
            actual=f"flagged: {flagged}, the first event: {same_event}, status {again.status}",
            exchanges=[first, again],
        )


def _answers(first: Exchange, again: Exchange) -> tuple[bool, bool]:
    """Whether the second answer is flagged as a duplicate, and whether it shows the first event."""
    flagged = shown(again).get("is_duplicate_event") is True
    return flagged, shown(again).get("uid") == shown(first).get("uid")


def _at_once(case: Case, context: CheckContext) -> Iterator[Judgement]:
    told = [shown(one) for one in case.exchanges if shown(one)]
    duplicate = context.dialect.idempotency.duplicate
    if len(told) < len(case.exchanges) or not duplicate.decided:
        return
    originals = sum(one.get("is_duplicate_event") is False for one in told)
    uids = {str(one.get("uid")) for one in told}
    allowed = {Duplicate.FLAGGED_EVENT: originals == 1, Duplicate.FIRST_EVENT: len(uids) == 1}
    yield judged(
        any(allowed[one] for one in duplicate.allowed),
        "4.8-8",
        "Of broadcasts with one idempotency_key at once, not exactly one is the original",
        expected=duplicate.value.value,
        actual=f"{originals} originals, {len(uids)} events",
        exchanges=case.exchanges,
    )
