"""How long the service waits for an endpoint's answer (section 8)."""

from collections.abc import Iterator

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, holds, violated
from hookproof.conformance.model.tolerances import LATE_S
from hookproof.conformance.observations.case import Case, deliveries_of, destinations, events
from hookproof.conformance.observations.destinations import Destination, ended
from hookproof.receiver.inbox.delivery import ReceivedDelivery

Attempts = tuple[ReceivedDelivery, ...]


def attempts(
    case: Case, context: CheckContext, name: str
) -> Iterator[tuple[Destination, Attempts]]:
    """A destination by its name and the attempts at its event, if there are any."""
    for destination in destinations(case, name):
        for event in events(case, "event"):
            arrived = deliveries_of(case, destination, event, context.dialect)
            if arrived:
                yield destination, arrived


@check("8-7", "8-9", "8-19", experiments=("timeout",))
def an_endpoint_that_does_not_answer_is_given_up_in_time(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Silence and an answer without end are left when the time is over, be it the given one or the
    default.
    """
    for name in ("silent", "endless"):
        for destination, arrived in attempts(case, context, name):
            given = "http_timeout" in destination.settings
            requirement = "8-19" if name == "endless" else "8-7" if given else "8-9"
            waited = waited_s(arrived)
            if waited is not None and waited <= case.facts["timeout_s"] + LATE_S:
                yield holds(requirement)
            else:
                yield violated(
                    requirement,
                    "A delivery that was not answered in time was not given up",
                    expected=f"given up after {case.facts['timeout_s']} s",
                    actual=f"waited {waited:.1f} s"
                    if waited is not None
                    else "neither left nor tried again",
                    exchanges=[case.exchange(destination.name)],
                    deliveries=arrived,
                )


@check("8-8", experiments=("timeout",))
def an_endpoint_that_answers_in_time_is_waited_for(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """A slow answer that came well within http_timeout was taken, and nothing was sent before it."""
    for destination, arrived in attempts(case, context, "slow"):
        if arrived[0].status is not None and arrived[0].closed_monotonic is None:
            yield holds("8-8")
        else:
            waited = waited_s(arrived)
            yield violated(
                "8-8",
                "A delivery was given up although its endpoint answered within http_timeout",
                expected=f"the answer after {case.facts['slow_s']} s is waited for {case.facts['patient_s']} s",
                actual=f"given up after {waited:.1f} s"
                if waited is not None
                else "no answer was taken",
                exchanges=[case.exchange(destination.name)],
                deliveries=arrived,
            )


def waited_s(arrived: Attempts) -> float | None:
    """From the first arrival until the service left or tried again, in seconds; None if it did
    neither.
    """
    ends = [ended(arrived[0]), *(one.arrived_monotonic for one in arrived[1:2])]
    known = [one for one in ends if one is not None]
    return min(known) - arrived[0].arrived_monotonic if known else None
