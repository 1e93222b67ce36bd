"""Hygiene of section 6: where the service's requests must not go, whatever the settings ask for."""

from collections.abc import Iterator

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import refused
from hookproof.conformance.subjects.egress.evidence import EgressProbeVisits


@check("6-20")
def no_request_reaches_a_canary(
    observed: EgressProbeVisits, context: CheckContext
) -> Iterator[Judgement]:
    """Nobody connected to an address that the target must not reach, while the sentinel arrived
    elsewhere.

    A target that refuses such a URL when it is given passes too.
    """
    creation, visits = observed.creation, observed.visits
    sentinels = observed.sentinels(context.dialect)
    is_decisive = creation is not None and (
        refused(creation) or (creation.succeeded and bool(sentinels))
    )
    if visits or is_decisive:
        yield judged(
            not visits,
            "6-20",
            "The service connected to an address that it must not reach",
            expected="no connection",
            actual=f"{visits} connections, {observed.name}",
            exchanges=[creation] if creation else observed.exchanges,
            deliveries=observed.deliveries if visits else sentinels,
        )
