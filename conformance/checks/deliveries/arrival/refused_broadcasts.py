"""What is delivered of broadcasts that were refused for their key: nothing (section 5)."""

from collections.abc import Iterator

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, holds, violated
from hookproof.conformance.observations.case import Case, deliveries_of, destinations, events


@check("5-15", experiments=("refused_broadcasts",))
def a_refused_broadcast_is_not_delivered(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """Judged where the sentinel arrived after it."""
    for destination in destinations(case):
        alive = [
            one
            for event in events(case, "sentinel")
            for one in deliveries_of(case, destination, event, context.dialect)
        ]
        for marker, tried in zip(
            case.facts.get("refused", ()), case.all_exchanges("refused"), strict=False
        ):
            if not alive or tried.succeeded:
                continue  # a key that opens after all is judged by what it opens
            delivered = [
                one for one in case.arrived_at(destination.token) if marker.encode() in one.body
            ]
            if not delivered:
                yield holds("5-15")
            else:
                yield violated(
                    "5-15",
                    "A broadcast that was refused for its key is delivered",
                    expected="no delivery",
                    actual=f"{len(delivered)} deliveries",
                    exchanges=[tried],
                    deliveries=delivered,
                )
