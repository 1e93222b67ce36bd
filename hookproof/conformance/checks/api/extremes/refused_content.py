"""Section 7: what is refused for its content has no effect (RFC 9110, section 15.5)."""

from collections.abc import Iterator

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import refused, shown
from hookproof.conformance.observations.requests.refused_content import (
    BroadcastsWithRefusedContent,
    CreationsWithRefusedContent,
)
from hookproof.conformance.observations.resources.broadcast_answer import FRESH_KEY, is_flagged

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
    before, tried, after = creations.before, creations.tried, creations.after
    if before is None or after is None or not tried or not all(map(refused, tried)):
        return
    had, has = _endpoints(before), _endpoints(after)
    if had and has:
        yield judged(
            has <= had,  # one that is gone is not an effect of it
            "7-10",
            f"{HAD_EFFECT}: there is an endpoint more",
            expected=f"{had} endpoints of the owner",
            actual=f"{has} endpoints",
            exchanges=[before, *tried, after],
        )


def _endpoints(link: Exchange) -> int:
    """How many endpoints a portal link shows; 0 if it shows none at all."""
    endpoints = shown(link).get("endpoints_metadata")
    return len(endpoints) if isinstance(endpoints, list) else 0
