"""What is delivered of broadcasts that were refused for their key: nothing (section 5)."""

from collections.abc import Iterator

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import refused
from hookproof.conformance.subjects.refused_broadcasts.evidence import RefusedBroadcasts


@check("5-15")
def a_refused_broadcast_is_not_delivered(
    broadcasts: RefusedBroadcasts, context: CheckContext
) -> Iterator[Judgement]:
    """Judged where the sentinel arrived after it.

    A key that is accepted after all is judged by what it gives access to, and what is neither a
    success nor a refusal (a server error, a redirect, no answer) may have been done.
    """
    for tried, arrived, sentinels in broadcasts.deliveries_of_refused(context.dialect):
        if not sentinels or not refused(tried):
            continue
        yield judged(
            not arrived,
            "5-15",
            "A broadcast that was refused for its key is delivered",
            expected="no delivery",
            actual=f"{len(arrived)} deliveries",
            exchanges=[tried],
            deliveries=arrived or sentinels,
        )
