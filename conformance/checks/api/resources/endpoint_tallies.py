"""Section 2.3: what an endpoint shows of its failures."""

from collections.abc import Iterator

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import Kind, resources


@check("2.3-19")
def a_failure_rate_is_within_its_unit(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """What the rate is measured over is left open: over all deliveries, or over the latest."""
    unit = context.dialect.representation.failure_rate
    if not unit.decided:
        return
    wholes = [allowed.whole for allowed in unit.allowed]
    limit = None if None in wholes else max(whole for whole in wholes if whole is not None)
    for endpoint in (part for part in resources(exchange) if part.kind is Kind.ENDPOINT):
        rate = endpoint.fields.get("failure_rate")
        if isinstance(rate, int | float) and not isinstance(rate, bool):
            yield judged(
                rate >= 0 and (limit is None or rate <= limit),
                "2.3-19",
                "The failure_rate of an endpoint is outside of what its unit allows",
                expected="0 or more" if limit is None else f"0 to {limit}",
                actual=rate,
                exchanges=[exchange],
            )
