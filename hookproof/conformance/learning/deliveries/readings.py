"""What deliveries show: one function for each group of a dialect's fields."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

from hookproof.conformance.learning.deliveries.gathering import (
    ADVANCED,
    DISABLED,
    FIRST,
    FORM,
    LIMITED,
    NO_OWNER,
    OTHER_SUCCESS,
    PATIENT,
    PLAIN,
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
    first_waits,
    read_final_statuses,
    read_retries,
)
from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.learning.probes.endpoints import FAILED_VISIT
from hookproof.conformance.learning.signatures.reading import DeliveryWithSecrets, read_format
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.vocabulary import CreationVisit, RedirectOutcome, SuccessStatus

# No item has all of these.
SEPARATORS: Final = (" ", ",", ";", "|")
# What seems to come at once, in seconds; and how much longer than another a usual wait may be.
SOON_S: Final = 0.5
LONGER: Final = 1.5
NUMBER: Final = re.compile(r"[0-9]{1,9}")


def read_deliveries(answers: LearnedAnswers, gathered: GatheredDeliveries, *, quick: bool) -> None:
    """Learn from all deliveries; where it was `quick`, from their headers alone."""
    _read_visibility(answers, gathered)
    _read_signatures(answers, gathered)
    _read_headers(answers, gathered)
    if not quick:
        read_retries(answers, gathered)
        read_final_statuses(answers, gathered)
        _read_reach(answers, gathered)
        _read_outcomes(answers, gathered)
        read_rate_limit(answers, gathered)


def _read_visibility(answers: LearnedAnswers, gathered: GatheredDeliveries) -> None:
    listener = gathered.listeners[FIRST]
    place = f"{len(listener.arrived)} requests at {listener.token}"
    # By the clock of the target, which creates the endpoint before we know it and gets the event
    # after we sent it. Other endpoints may have waited for longer.
    seconds = max(
        (gathered.visible_s or 0.0) + gathered.round_trip_s, _longest_invisible_s(gathered)
    )
    field = "delivery.visible_within_s"
    words = place
    if not gathered.is_near:  # how much of it was the way does not show: it is at most all of it
        seconds += gathered.way_s
        words += f", which were under way for up to {gathered.way_s:.1f} s"
    # Rounded up, since it is how long to wait.
    rounded = 0.0 if seconds < 0.1 else round(seconds + 0.15, 1)  # noqa: PLR2004 one broadcast
    answers.see(field, rounded, shown_by=words)
    _read_visits(answers, gathered, place)


def _longest_invisible_s(gathered: GatheredDeliveries) -> float:
    """How long after its creation an event was sent at most that did not come to an endpoint, while
    a later one did.
    """
    waited = [0.0]
    for name in PLAIN:
        if (listener := gathered.listeners.get(name)) is None:
            continue
        came = [bool(listener.of(event)) for event in gathered.events]
        first = came.index(True) if any(came) else 0
        created_at = listener.created.sent_at
        waited += [event.answer.sent_at - created_at for event in gathered.events[:first]]
    return max(waited)


def _read_visits(answers: LearnedAnswers, gathered: GatheredDeliveries, place: str) -> None:
    """The methods with which new endpoints are tried: further ones come where one is refused."""
    field = "delivery.creation_visit"
    accepted, refused = gathered.visits
    if gathered.visited_late:
        for name in (field, FAILED_VISIT):
            answers.miss(name, "requests that carry no event came after some that do")
        return
    if VISITED in gathered.listeners and answers.value(FAILED_VISIT) == "refused":
        reason = "endpoints are created only where a URL answers, but not for what it answers"
        answers.assume(FAILED_VISIT, "refused", reason)
    elif not refused:
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
                url=listener.url,
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
        if field == "delivery.event_id_header" and not all(event.uid for event, _ in pairs):
            answers.miss(field, "the answer to a broadcast shows no uid of the event")
        elif count < len(pairs):
            answers.miss(field, f"{name} holds it in {count} of {len(pairs)} deliveries")
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
    if count < len(series):
        reason = f"{name} counts the attempts of {count} of {len(series)} deliveries"
        answers.miss(field, reason)
        answers.miss("delivery.first_attempt", reason)
        return
    answers.see(field, name, shown_by=_place(series[0][-1]), count=count)
    answers.see("delivery.first_attempt", first, shown_by=_place(series[0][0]), count=count)


def _read_reach(answers: LearnedAnswers, gathered: GatheredDeliveries) -> None:
    """Which endpoints get events. That one gets none is told by those beside it that get all."""
    for about, field, meanings, missing in (
        (
            NO_OWNER,
            "delivery.reach",
            ("active_endpoints", "owned_endpoints"),
            "no endpoint without an owner can be created",
        ),
        (DISABLED, "delivery.disabled_receives", (True, False), "no disabled one can be created"),
    ):
        listener = gathered.listeners.get(about)
        reached = gathered.first_of_each(listener)
        if listener is None:
            answers.miss(field, missing)
        elif reached or gathered.has_control:
            answers.see(
                field,
                meanings[0 if reached else 1],
                shown_by=f"{len(reached)} deliveries at {listener.token}",
                count=len(gathered.events),
            )
        else:
            answers.miss(field, "no endpoint got every event, so that nothing tells which do not")
    bodies = [each for each in gathered.first_of_each(gathered.listeners.get(FORM)) if each.body]
    if bodies:
        kinds = ["json" if each.body.lstrip().startswith(b"{") else "form" for each in bodies]
        answers.see(
            "delivery.form_body",
            *dict.fromkeys(kinds),
            shown_by=_place(bodies[0]),
            count=len(bodies),
        )


def _read_outcomes(answers: LearnedAnswers, gathered: GatheredDeliveries) -> None:
    """What counts as delivered, and what moves the next attempt."""
    listener = gathered.listeners.get(REDIRECTED)
    redirected = _first_attempts(gathered, listener)
    # A visit may be redirected too, but it precedes every delivery.
    began = redirected[0].arrived_monotonic if redirected else math.inf
    followed = [each for each in gathered.redirected if each.arrived_monotonic > began]
    if followed:
        outcome = RedirectOutcome.FOLLOWED.value
        answers.see("retry.redirect", outcome, shown_by=_place(followed[-1]))
    else:
        _read_repetition(
            answers,
            gathered,
            REDIRECTED,
            "retry.redirect",
            (RedirectOutcome.FAILURE, RedirectOutcome.SUCCESS),
        )
    _read_repetition(
        answers,
        gathered,
        OTHER_SUCCESS,
        "retry.success",
        (SuccessStatus.ONLY_200, SuccessStatus.ANY_2XX),
    )
    _read_retry_after(answers, gathered)
    _read_zero_timeout(answers, gathered)


def _read_repetition(
    answers: LearnedAnswers,
    gathered: GatheredDeliveries,
    about: str,
    field: str,
    meanings: tuple[str, str],
) -> None:
    """Whether deliveries with some reply are attempted again, in as much time as it takes those
    that fail, and each of them.
    """
    waits, listener = first_waits(gathered), gathered.listeners.get(about)
    series = (
        [attempts for event in gathered.events if (attempts := listener.of(event))]
        if listener
        else []
    )
    enough_s = LONGER * max(waits, default=math.inf) + gathered.way_s + SOON_S
    repeated = [
        len(attempts) > 1
        for attempts in series
        if len(attempts) > 1 or gathered.ended_at - attempts[0].arrived_monotonic > enough_s
    ]
    if not repeated:
        answers.miss(field, "no delivery was seen for so long that it would have been repeated")
    elif len(set(repeated)) > 1:
        answers.miss(field, f"of {len(repeated)} deliveries {sum(repeated)} were repeated")
    else:
        meaning = meanings[0 if repeated[0] else 1]
        answers.see(field, str(meaning), shown_by=_place(series[0][-1]), count=len(repeated))


def _read_zero_timeout(answers: LearnedAnswers, gathered: GatheredDeliveries) -> None:
    """Whether an attempt ends at once that has no time, or is waited for."""
    slow = _first_attempts(gathered, gathered.listeners.get(ZERO_TIMEOUT))
    if not slow:
        return
    field, ended = "delivery.zero_http_timeout", slow[0].closed_monotonic
    at_once_s = SOON_S + gathered.way_s
    shortest_s = (answers.value("delivery.default_timeout_s") or 1.0) - gathered.way_s
    if ended is None or ended - slow[0].arrived_monotonic >= SLOW_S:
        answers.see(field, "default", "unlimited", shown_by=_place(slow[0]))
    elif ended - slow[0].arrived_monotonic < at_once_s < shortest_s:
        answers.see(field, "immediate", shown_by=_place(slow[0]))
    else:
        answers.miss(field, f"the usual time-out may seem shorter by {gathered.way_s:.1f} s so far")


def _read_retry_after(answers: LearnedAnswers, gathered: GatheredDeliveries) -> None:
    """A wait that is shorter than was asked for shows that it is ignored; one as long shows that it
    is honoured, if no usual one is. A 429 may end a delivery.
    """
    field, way_s = "retry.retry_after", gathered.way_s
    retried = {
        status: pairs
        for status, name in (
            (HTTPStatus.SERVICE_UNAVAILABLE, PATIENT),
            (HTTPStatus.TOO_MANY_REQUESTS, LIMITED),
        )
        if (pairs := _attempted_again(gathered, gathered.listeners.get(name)))
    }
    waits = {
        status: [again.arrived_monotonic - first.arrived_monotonic for first, again in pairs]
        for status, pairs in retried.items()
    }
    usual = first_waits(gathered)
    too_long = not usual or 2 * max(usual) > RETRY_AFTER_S
    meanings = {status: _retry_after_meaning(each, way_s) for status, each in waits.items()}
    meaning = meanings.get(HTTPStatus.SERVICE_UNAVAILABLE)
    seen = " and ".join(
        f"{min(each):.1f} to {max(each):.1f} s after {status}" for status, each in waits.items()
    )
    if HTTPStatus.SERVICE_UNAVAILABLE not in waits:
        answers.miss(field, "a delivery that was asked to wait was not attempted again in time")
    elif too_long and "ignored" not in meanings.values():
        longest = f"{max(usual):.1f} s" if usual else "unknown length"
        answers.miss(field, f"usual waits of up to {longest} are too long to tell")
    elif meaning is not None and {*meanings.values()} == {meaning}:
        place = _place(retried[HTTPStatus.SERVICE_UNAVAILABLE][0][1])
        answers.see(field, meaning, shown_by=place, count=sum(map(len, waits.values())))
    else:
        answers.miss(
            field, f"waits of {seen}, {way_s:.1f} s of which may be those of the way, are neither"
        )


def _attempted_again(
    gathered: GatheredDeliveries, listener: Listener | None
) -> list[Sequence[ReceivedDelivery]]:
    """The first two attempts at each event that was attempted again there."""
    series = [listener.of(event) for event in gathered.events] if listener else []
    return [attempts[:2] for attempts in series if len(attempts) > 1]


def _retry_after_meaning(waits: Sequence[float], way_s: float) -> str | None:
    if max(waits) + way_s < RETRY_AFTER_S - SOON_S:
        return "ignored"
    return "honoured" if min(waits) - way_s >= RETRY_AFTER_S - SOON_S else None


def _first_attempts(
    gathered: GatheredDeliveries, listener: Listener | None
) -> Sequence[ReceivedDelivery]:
    """All attempts for the first event that reached the endpoint."""
    if listener is None:
        return ()
    return next((listener.of(event) for event in gathered.events if listener.of(event)), ())


def _place(delivery: ReceivedDelivery) -> str:
    return f"delivery {delivery.sequence} at {delivery.token}"
