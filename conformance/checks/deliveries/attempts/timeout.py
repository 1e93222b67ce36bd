"""How long the service waits for an endpoint's answer (section 8)."""

from collections.abc import Iterator

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.model.tolerances import LATE_S, require_punctual, widened
from hookproof.conformance.observations.deliveries import Attempts
from hookproof.conformance.observations.delivery.attempts.timeouts import (
    EndpointTimeout,
    GivenTimeout,
    waited_s,
)
from hookproof.conformance.observations.destinations import Destination


@check("8-7", "8-9", "8-19")
def an_endpoint_that_does_not_answer_is_given_up_in_time(
    observed: EndpointTimeout, context: CheckContext
) -> Iterator[Judgement]:
    """The service stops waiting for silence and for an answer without end when the time is over, be
    it the given one or the default.
    """
    for destination, attempts in observed.silent(context.dialect):
        requirement = "8-7" if "http_timeout" in destination.settings else "8-9"
        yield stopped_waiting(requirement, observed, destination, attempts)
    for destination, attempts in observed.endless(context.dialect):
        yield stopped_waiting("8-19", observed, destination, attempts)


def stopped_waiting(
    requirement: str, observed: EndpointTimeout, destination: Destination, attempts: Attempts
) -> Judgement:
    """Whether the service stopped waiting for the first attempt in time."""
    waited = waited_s(attempts, observed.timeout_s)
    latest_s = observed.timeout_s + widened(LATE_S, observed.late_s)
    in_time = waited is not None and waited <= latest_s
    if not in_time:
        require_punctual(observed.late_s)
    return judged(
        in_time,
        requirement,
        "A delivery that was not answered in time was not given up",
        expected=f"given up after {observed.timeout_s:g} s",
        actual=f"waited {waited:.1f} s" if waited is not None else "neither left nor tried again",
        exchanges=[observed.exchange(destination.name)],
        deliveries=attempts,
    )


@check("8-8")
def an_endpoint_that_answers_in_time_is_waited_for(
    observed: GivenTimeout, context: CheckContext
) -> Iterator[Judgement]:
    """The service stayed until the slow answer that came within http_timeout was sent.

    A second delivery of the same event may be a double: it does not show that the first one was
    given up.
    """
    for destination, attempts in observed.slow(context.dialect):
        first = attempts[0]
        given_up_at = first.closed_monotonic
        answered = first.status is not None and given_up_at is None
        waited = (given_up_at or 0.0) - first.arrived_monotonic
        in_time = waited + observed.late_s < observed.patient_s
        if answered or (given_up_at is not None and in_time):
            yield judged(
                answered,
                "8-8",
                "A delivery was given up although its endpoint answered within http_timeout",
                expected=f"waited {observed.patient_s:g} s for an answer after"
                f" {observed.slow_s:g} s",
                actual=f"given up after {waited:.1f} s",
                exchanges=[observed.exchange(destination.name)],
                deliveries=attempts,
            )
