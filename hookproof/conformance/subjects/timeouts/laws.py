"""How long the service waits for an endpoint's answer (section 8)."""

from collections.abc import Iterator
from math import inf

from hookproof.conformance.checks.given_settings import require_given_timeout
from hookproof.conformance.checks.stopped_waiting import stopped_waiting
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.model.tolerances import require_punctual, slack_s
from hookproof.conformance.observations.later_attempts import LaterSilence
from hookproof.conformance.subjects.timeouts.evidence import (
    ENDLESS,
    PROMPT,
    SILENT,
    SLOW,
    EndpointTimeout,
    GivenTimeout,
    ZeroTimeoutDeliveries,
)
from hookproof.spec.dialect.given_settings import zero_http_timeout
from hookproof.spec.dialect.vocabulary import ZeroTimeout

DEFAULT, UNLIMITED = ZeroTimeout.DEFAULT, ZeroTimeout.UNLIMITED


@check("8-7", "8-9", "8-19")
def an_endpoint_that_does_not_answer_is_given_up_in_time(
    observed: EndpointTimeout | LaterSilence, context: CheckContext
) -> Iterator[Judgement]:
    """The service stops waiting for silence and for an answer without end when the time is over, be
    it the given one or the default, also in further attempts and after a roll.
    """
    if isinstance(observed, LaterSilence):
        for destination, attempts in observed.silent(context.dialect):
            yield stopped_waiting("8-7", observed, observed.timeout_s, destination.name, attempts)
        return
    for destination, attempts in observed.silent(context.dialect):
        requirement = "8-7" if "http_timeout" in destination.settings else "8-9"
        yield stopped_waiting(requirement, observed, observed.timeout_s, destination.name, attempts)
    for _, attempts in observed.endless(context.dialect):
        yield stopped_waiting("8-19", observed, observed.timeout_s, ENDLESS, attempts)


@check("8-8")
def an_endpoint_that_answers_in_time_is_waited_for(
    observed: GivenTimeout, context: CheckContext
) -> Iterator[Judgement]:
    """The service stayed until the slow answer that came within http_timeout was sent.

    A second delivery of the same event may be a double: it does not show that the first one was
    given up.
    """
    for destination, attempts in observed.slow(context.dialect):
        require_given_timeout(observed.exchange(destination.name), context.dialect)
        first = attempts[0]
        given_up_at = first.closed_monotonic
        answered = first.status is not None and given_up_at is None
        waited = (given_up_at or 0.0) - first.arrived_monotonic
        patient_s = observed.shown_timeout_s(destination) or observed.patient_s
        in_time = waited + slack_s(observed) < patient_s
        if answered or (given_up_at is not None and in_time):
            yield judged(
                answered,
                "8-8",
                "A delivery was given up although its endpoint answered within http_timeout",
                expected=f"waited {patient_s:g} s for an answer after {observed.slow_s:g} s",
                actual=f"given up after {waited:.1f} s",
                exchanges=[observed.exchange(destination.name)],
                deliveries=attempts,
            )


@check("8-21")
def an_http_timeout_of_zero_waits_as_the_dialect_says(
    observed: ZeroTimeoutDeliveries, context: CheckContext
) -> Iterator[Judgement]:
    """A slow answer is waited for unless 0 means at once, and silence as long as by default."""
    require_given_timeout(observed.exchange(SLOW), context.dialect)
    meaning = zero_http_timeout(context.dialect)
    waits = {meant for meant in meaning.allowed if meant in (DEFAULT, UNLIMITED)}
    silent = observed.silent(context.dialect)
    if meaning.allowed and (waited := waited_for_slow_answer(observed, context)) is not None:
        slow, prompt = observed.slow(context.dialect), observed.prompt(context.dialect)
        yield judged(
            bool(waits) if waited else ZeroTimeout.IMMEDIATE in meaning.allowed,
            "8-21",
            "An http_timeout of 0 does not mean what the dialect says",
            expected=" or ".join(meaning.allowed),
            actual=f"{'waited' if waited else 'did not wait'} for an answer after"
            f" {observed.slow_s:g} s",
            exchanges=[observed.exchange(SLOW)],
            deliveries=slow or prompt,
        )
    if silent and waits == {DEFAULT}:
        yield stopped_waiting("8-21", observed, observed.default_s, SILENT, silent)
    if silent and waits == {UNLIMITED}:
        is_open = silent[0].closed_monotonic is None
        if is_open and (observed.ended_at or inf) - silent[0].arrived_at <= observed.default_s:
            return  # what is over by default is not yet over
        yield judged(
            is_open,
            "8-21",
            "A delivery was given up although its http_timeout of 0 means no limit",
            expected="no end of the waiting",
            actual="given up",
            exchanges=[observed.exchange(SILENT)],
            deliveries=silent,
        )


def waited_for_slow_answer(observed: ZeroTimeoutDeliveries, context: CheckContext) -> bool | None:
    """Whether the service waited for the late answer; None if that cannot be told.

    It did not where no event arrived, although both did elsewhere.
    """
    if attempts := observed.slow(context.dialect):
        first = attempts[0]
        if first.closed_monotonic is None:
            return True if first.status is not None else None
        waited_s = first.closed_monotonic - first.arrived_monotonic
        return False if waited_s + slack_s(observed) < observed.slow_s else None
    prompt = {attempt.body for attempt in observed.prompt(context.dialect)}
    if len(prompt) < len(observed.events) or observed.pending_events(
        context.dialect, observed.destinations_named(PROMPT)
    ):
        return None
    require_punctual(observed.late_s)
    return False
