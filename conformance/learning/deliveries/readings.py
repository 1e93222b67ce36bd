"""What deliveries show: one function for each group of a dialect's fields."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from hookproof.conformance.learning.deliveries.gathering import (
    ADVANCED,
    DISABLED,
    FIRST,
    FORM,
    NO_OWNER,
    OTHER_SUCCESS,
    PATIENT,
    REDIRECTED,
    RETRY_AFTER_S,
    SIMPLE,
    SLOW_S,
    VISITED,
    ZERO_TIMEOUT,
    GatheredDeliveries,
)
from hookproof.conformance.learning.deliveries.listener import Listener
from hookproof.conformance.learning.deliveries.rate_readings import read_rate_limit
from hookproof.conformance.learning.deliveries.retry_readings import (
    read_retries,
    shortest_wait_s,
)
from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.learning.probes.endpoints import FAILED_VISIT
from hookproof.conformance.learning.signatures.reading import DeliveryWithSecrets, read_format
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.vocabulary import (
    CreationVisit,
    RedirectOutcome,
    SuccessStatus,
)

# No item has all of these.
SEPARATORS: Final = (" ", ",", ";", "|")
NUMBER: Final = re.compile(r"[0-9]{1,9}")


def read_deliveries(answers: LearnedAnswers, gathered: GatheredDeliveries, *, quick: bool) -> None:
    """Learn from all deliveries; where it was `quick`, from their headers alone."""
    _read_visibility(answers, gathered)
    _read_signatures(answers, gathered)
    _read_headers(answers, gathered)
    if not quick:
        read_retries(answers, gathered)
        _read_reach(answers, gathered)
        _read_outcomes(answers, gathered)
        read_rate_limit(answers, gathered)


def _read_visibility(answers: LearnedAnswers, gathered: GatheredDeliveries) -> None:
    listener = gathered.listeners[FIRST]
    place = f"{len(listener.arrived)} requests at {listener.token}"
    # By the clock of the target, which creates the endpoint before we know it and gets the event
    # after we sent it.
    seconds = (gathered.visible_s or 0.0) + gathered.round_trip_s
    field = "delivery.visible_within_s"
    # Rounded up, since it is how long to wait.
    rounded = 0.0 if seconds < 0.1 else round(seconds + 0.15, 1)  # noqa: PLR2004 one broadcast
    if not gathered.is_near:
        reason = f"it is at most that; the round trip takes {gathered.round_trip_s:.1f} s of it"
        answers.assume(field, rounded, reason)
    else:
        answers.see(field, rounded, shown_by=place)
    _read_visits(answers, gathered, place)


def _read_visits(answers: LearnedAnswers, gathered: GatheredDeliveries, place: str) -> None:
    """The methods with which new endpoints are tried: further ones come where one is refused."""
    field = "delivery.creation_visit"
    accepted, refused = gathered.visits
    if not refused:
        answers.miss(FAILED_VISIT, "new endpoints are not visited")
    elif VISITED in gathered.listeners:
        answers.see(FAILED_VISIT, "taken", shown_by=place)
    fitting = [
        visit
        for visit in CreationVisit
        if visit is not CreationVisit.ANY
        if accepted == visit.methods[:1] and refused in ((), visit.methods)
    ]
    if len(fitting) == 1:
        answers.see(field, fitting[0].value, shown_by=place)
    elif fitting:
        answers.miss(field, "an endpoint that refuses every request would show it; none is created")
    elif accepted or refused:
        answers.see(field, CreationVisit.ANY.value, shown_by=place)


def _read_signatures(answers: LearnedAnswers, gathered: GatheredDeliveries) -> None:
    for name, about in (("simple", SIMPLE), ("advanced", ADVANCED)):
        listener = gathered.listeners.get(about)
        secrets = gathered.secrets[about]
        if listener is None or not secrets:
            answers.miss(f"signatures.{name}.header", "no endpoint shows its secret, or takes one")
            continue
        signed = [
            DeliveryWithSecrets(
                delivery=delivery,
                event_id=event.uid,
                secrets=secrets[: 1 + sum(rolled <= number for rolled in gathered.rolled_after)],
            )
            for number, event in enumerate(gathered.events)
            for delivery in listener.of(event)[:1]
        ]
        read_format(answers, name, signed)
    choose_separator(answers)


def choose_separator(answers: LearnedAnswers) -> None:
    """One signature has no separator: that of the advanced format, if it is no part of an item."""
    field, item = "signatures.simple.separator", answers.value("signatures.simple.item")
    if answers.is_seen(field) or not answers.is_seen("signatures.simple.item"):
        return
    advanced = "signatures.advanced.separator"
    known = [answers.value(advanced)] if answers.is_seen(advanced) else []
    usual = answers.value(field)
    chosen = next(each for each in (*known, usual, *SEPARATORS) if each not in item)
    if chosen != usual:
        reason = "one signature has none; it is no part of a signature with its label"
        answers.assume(field, chosen, reason)


def _read_headers(answers: LearnedAnswers, gathered: GatheredDeliveries) -> None:
    """The headers that hold the event's identifier and type, and the number of the attempt."""
    pairs = [
        (event, delivery)
        for listener in gathered.listeners.values()
        for event in gathered.events
        for delivery in listener.of(event)
    ]
    if not pairs:
        return
    ids: Counter[str] = Counter()
    types: Counter[str] = Counter()
    for event, delivery in pairs:
        ids.update(name for name, value in delivery.headers if value == event.uid)
        types.update(name for name, value in delivery.headers if value == event.event_type)
    place = _place(pairs[0][1])
    for field, counted in (
        ("delivery.event_id_header", ids),
        ("delivery.event_type_header", types),
    ):
        name, count = next(iter(counted.most_common(1)), (None, len(pairs)))
        if name is None and field == "delivery.event_id_header" and not pairs[0][0].uid:
            answers.miss(field, "the answer to a broadcast shows no uid of the event")
        else:
            answers.see(field, name, shown_by=place, count=count)
    _read_attempt_header(answers, gathered)


def _read_attempt_header(answers: LearnedAnswers, gathered: GatheredDeliveries) -> None:
    """The header whose number grows by one with each attempt for an event."""
    series = [
        attempts
        for listener in gathered.listeners.values()
        for event in gathered.events
        if len(attempts := listener.of(event)) > 1
    ]
    field = "delivery.attempt_header"
    if not series:
        answers.miss(field, "no delivery was attempted twice")
        answers.miss("delivery.first_attempt", "no delivery was attempted twice")
        return
    counting: Counter[tuple[str, int]] = Counter()
    for attempts in series:
        for name, value in attempts[0].headers:
            numbers = [each.header(name) or "" for each in attempts]
            if NUMBER.fullmatch(value) and numbers == [
                str(int(value) + n) for n in range(len(numbers))
            ]:
                counting[name, int(value)] += 1
    if not counting:
        answers.see(field, None, shown_by=_place(series[0][-1]), count=len(series))
        return
    (name, first), count = counting.most_common(1)[0]
    answers.see(field, name, shown_by=_place(series[0][-1]), count=count)
    answers.see("delivery.first_attempt", first, shown_by=_place(series[0][0]), count=count)


def _read_reach(answers: LearnedAnswers, gathered: GatheredDeliveries) -> None:
    listeners, events = gathered.listeners, len(gathered.events)
    without_owner = listeners.get(NO_OWNER)
    if without_owner is None:
        answers.miss("delivery.reach", "no endpoint without an owner can be created")
    else:
        reached = gathered.first_of_each(without_owner)
        answers.see(
            "delivery.reach",
            "active_endpoints" if reached else "owned_endpoints",
            shown_by=f"{len(reached)} deliveries at {without_owner.token}",
            count=events,
        )
    disabled = listeners.get(DISABLED)
    if disabled is not None:
        posts = gathered.first_of_each(disabled)
        answers.see(
            "delivery.disabled_receives",
            bool(posts),
            shown_by=f"{len(posts)} deliveries at {disabled.token}",
            count=events,
        )
    form = listeners.get(FORM)
    bodies = [each for each in form.arrived if each.body] if form is not None else []
    if bodies:
        is_json = bodies[0].body.lstrip().startswith(b"{")
        answers.see(
            "delivery.form_body",
            "json" if is_json else "form",
            shown_by=_place(bodies[0]),
            count=len(bodies),
        )


def _read_outcomes(answers: LearnedAnswers, gathered: GatheredDeliveries) -> None:
    """What counts as delivered, and what moves the next attempt."""
    redirected = _first_attempts(gathered, gathered.listeners.get(REDIRECTED))
    if redirected:
        # A visit may be redirected too, but it precedes every delivery.
        began = redirected[0].arrived_monotonic
        followed = [each for each in gathered.redirected if each.arrived_monotonic > began]
        outcome = RedirectOutcome.FAILURE if len(redirected) > 1 else RedirectOutcome.SUCCESS
        if followed:
            outcome = RedirectOutcome.FOLLOWED
        answers.see("retry.redirect", outcome.value, shown_by=_place((followed or redirected)[-1]))
    attempts = _first_attempts(gathered, gathered.listeners.get(OTHER_SUCCESS))
    if attempts:
        success = SuccessStatus.ONLY_200 if len(attempts) > 1 else SuccessStatus.ANY_2XX
        answers.see("retry.success", success.value, shown_by=_place(attempts[-1]))
    _read_retry_after(answers, gathered)
    _read_zero_timeout(answers, gathered)


def _read_zero_timeout(answers: LearnedAnswers, gathered: GatheredDeliveries) -> None:
    """Whether an attempt ends at once that has no time, or is waited for."""
    slow = _first_attempts(gathered, gathered.listeners.get(ZERO_TIMEOUT))
    if not slow:
        return
    field, ended = "delivery.zero_http_timeout", slow[0].closed_monotonic
    usual_s = answers.value("delivery.default_timeout_s")
    if ended is None or ended - slow[0].arrived_monotonic >= SLOW_S:
        answers.see(field, "default", "unlimited", shown_by=_place(slow[0]))
    elif gathered.is_near or (usual_s or 0.0) - gathered.way_s > SLOW_S:
        answers.see(field, "immediate", shown_by=_place(slow[0]))
    else:
        answers.miss(field, f"the usual time-out may seem shorter by {gathered.way_s:.1f} s so far")


def _read_retry_after(answers: LearnedAnswers, gathered: GatheredDeliveries) -> None:
    """A wait as long as asked for shows that it is honoured, if others are shorter."""
    attempts = _first_attempts(gathered, gathered.listeners.get(PATIENT))
    usual_s = answers.value("retry.initial_s") or shortest_wait_s(gathered)
    field = "retry.retry_after"
    if len(attempts) < 2 or usual_s is None:  # noqa: PLR2004 a wait is between two
        answers.miss(field, "a delivery that was asked to wait was not attempted again in time")
        return
    wait_s = attempts[1].arrived_monotonic - attempts[0].arrived_monotonic
    if usual_s * 2 > RETRY_AFTER_S:
        answers.miss(field, f"the usual wait of {usual_s:g} s is too long to tell")
    elif wait_s - gathered.way_s >= RETRY_AFTER_S - 0.5:
        answers.see(field, "honoured", shown_by=_place(attempts[1]))
    elif wait_s < RETRY_AFTER_S / 2 + usual_s:
        answers.see(field, "ignored", shown_by=_place(attempts[1]))
    else:
        reason = f"of the wait of {wait_s:.1f} s, {gathered.way_s:.1f} s may be those of the way"
        answers.miss(field, reason)


def _first_attempts(
    gathered: GatheredDeliveries, listener: Listener | None
) -> Sequence[ReceivedDelivery]:
    """All attempts for the first event that reached the endpoint."""
    if listener is None:
        return ()
    return next((listener.of(event) for event in gathered.events if listener.of(event)), ())


def _place(delivery: ReceivedDelivery) -> str:
    return f"delivery {delivery.sequence} at {delivery.token}"
