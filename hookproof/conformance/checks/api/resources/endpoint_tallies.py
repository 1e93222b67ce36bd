"""Section 2.3: what an endpoint shows of its failures."""

from collections.abc import Iterator

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import endpoints_in


@check("2.3-19")
def a_failure_rate_is_within_its_unit(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """What the rate is measured over is left open: over all deliveries, or over the latest.

    An answer is judged once, however many endpoints it shows.
    """
    unit = context.dialect.representation.failure_rate
    if not unit.decided:
        return
    wholes = [allowed.whole for allowed in unit.allowed]
    limit = None if None in wholes else max(whole for whole in wholes if whole is not None)
    shown = (part.fields.get("failure_rate") for part in endpoints_in(exchange))
    rates = [rate for rate in shown if isinstance(rate, int | float) and not isinstance(rate, bool)]
    wrong = [rate for rate in rates if rate < 0 or (limit is not None and rate > limit)]
    if rates:
        yield judged(
            not wrong,
            "2.3-19",
            "The failure_rate of an endpoint is outside of what its unit allows",
            expected="0 or more" if limit is None else f"0 to {limit}",
            actual=wrong[0] if wrong else rates[0],
            exchanges=[exchange],
        )
