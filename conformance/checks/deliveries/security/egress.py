"""Hygiene of section 6: where the service's requests must not go, whoever asks for it."""

from collections.abc import Iterator

from hookproof.conformance.checks.deliveries.arrival.reach import alive
from hookproof.conformance.experiments.deliveries.security.egress import ASTRAY
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, holds, violated
from hookproof.conformance.observations.answer import refused
from hookproof.conformance.observations.case import Case


@check("6-20", experiments=("egress",))
def no_request_reaches_a_canary(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """Nobody connected to an address that the target must not reach, while the sentinel arrived
    elsewhere.

    A target that refuses such a URL when it is given has kept its guard too.
    """
    visits, led = case.facts.get("visits", 0), case.exchange(ASTRAY)
    if visits:
        yield violated(
            "6-20",
            "The service connected to an address that it must not reach",
            expected="no connection",
            actual=f"{visits} connections, {case.name}",
            exchanges=[led],
            deliveries=case.deliveries,
        )
    elif led is not None and (refused(led) or (led.succeeded and alive(case, context.dialect))):
        yield holds("6-20")
