"""Section 7: what is refused for its content has no effect (RFC 9110, section 15.5)."""

from collections.abc import Iterator

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import refused, shown
from hookproof.conformance.subjects.events.evidence import FRESH_KEY, is_flagged
from hookproof.conformance.subjects.refused_content.evidence import (
    BroadcastsWithRefusedContent,
    ChangesWithRefusedContent,
    CreationsWithRefusedContent,
    WithRefusedContent,
)

HAD_EFFECT = "A request that was refused for its content has an effect"


@check("7-10")
def a_broadcast_with_refused_content_has_no_effect(
    broadcasts: BroadcastsWithRefusedContent, context: CheckContext
) -> Iterator[Judgement]:
    """Neither a delivery, judged where the sentinel arrived, nor a used-up idempotency_key, judged
    unless a fresh one is flagged as well.
    """
    for tried, arrived, sentinels in broadcasts.deliveries_of_refused(context.dialect):
        if refused(tried) and sentinels:
            yield judged(
                not arrived,
                "7-10",
                f"{HAD_EFFECT}: it is delivered",
                expected="no delivery",
                actual=f"{len(arrived)} deliveries",
                exchanges=[tried],
                deliveries=arrived or sentinels,
            )
    for tried, repeated in broadcasts.refused_and_repeated():
        flag = shown(repeated).get("is_duplicate_event")
        says_nothing = flag is True and is_flagged(broadcasts.exchange(FRESH_KEY))
        if refused(tried) and isinstance(flag, bool) and not says_nothing:
            yield judged(
                not flag,
                "7-10",
                f"{HAD_EFFECT}: its idempotency_key is used up",
                expected="an event that is no duplicate",
                actual="is_duplicate_event: true",
                exchanges=[tried, repeated],
            )


@check("7-10")
def an_endpoint_with_refused_content_is_not_created(
    creations: CreationsWithRefusedContent, _context: CheckContext
) -> Iterator[Judgement]:
    """Judged where the portal link shows the endpoint of its owner that was accepted."""
    for before, after in _compared(creations):
        had, has = _endpoints(before), _endpoints(after)
        if had and has:
            yield judged(
                has <= had,  # one that is gone is not an effect of it
                "7-10",
                f"{HAD_EFFECT}: there is an endpoint more",
                expected=f"{had} endpoints of the owner",
                actual=f"{has} endpoints",
                exchanges=[before, *creations.tried, after],
            )


@check("7-10")
def a_change_with_refused_content_is_not_made(
    changes: ChangesWithRefusedContent, _context: CheckContext
) -> Iterator[Judgement]:
    """What stood in the field before stands there after the refused changes."""
    for before, after in _compared(changes):
        had, has = _known(before, changes.changed), _known(after, changes.changed)
        if had is not None and has is not None:
            yield judged(
                has == had,
                "7-10",
                f"{HAD_EFFECT}: the {changes.changed} is another",
                expected=had,
                actual=has,
                exchanges=[before, *changes.tried, after],
            )


def _compared(content: WithRefusedContent) -> Iterator[tuple[Exchange, Exchange]]:
    """What was fetched before and after, where all that was tried between was refused."""
    before, after = content.before, content.after
    if before and after and content.tried and all(map(refused, content.tried)):
        yield before, after


def _known(resource: Exchange, field: str) -> object:
    """A field, of secrets only what tells one from the others: the rest may change by itself."""
    value = shown(resource).get(field)
    if not isinstance(value, list):
        return value
    return [each.get("uid") or each.get("value") for each in value if isinstance(each, dict)]


def _endpoints(link: Exchange) -> int:
    """How many endpoints a portal link shows; 0 if it shows none at all."""
    endpoints = shown(link).get("endpoints_metadata")
    return len(endpoints) if isinstance(endpoints, list) else 0
