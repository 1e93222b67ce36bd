"""What deliveries show is read from arrivals written by hand."""

import itertools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pytest

from hookproof.conformance.learning.deliveries import gathering
from hookproof.conformance.learning.deliveries.gathering import (
    FAILING,
    LIMITED,
    NO_OWNER,
    OTHER_SUCCESS,
    PATIENT,
    REDIRECTED,
    REFUSING,
    SHORT_WINDOW,
    GatheredDeliveries,
)
from hookproof.conformance.learning.deliveries.listener import DeliverySession, Listener, SentEvent
from hookproof.conformance.learning.deliveries.readings import choose_separator, read_deliveries
from hookproof.conformance.learning.deliveries.retry_readings import read_tallies
from hookproof.conformance.learning.learned_answers import Certainty, LearnedAnswers
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.canned_evidence import NOW, exchange

FIRST = "the first endpoint"
HEALTHY = {"status": "active", "events": 2, "failure_rate": 0}
# When events are sent, in seconds: a burst, and some later.
SENT = (0.0, 0.1, 0.2, 0.3, 6.0, 6.1)


def events_sent(*times: float) -> list[SentEvent]:
    return [
        SentEvent(
            marker=f"learned-{number}",
            event_type=f"type-{number}",
            answer=exchange(
                "broadcast",
                "createBroadcastEvent",
                data={"uid": f"event-{number}"},
                sent_at=NOW + at,
            ),
        )
        for number, at in enumerate(times)
    ]


def delivery(event: int, at: float, attempt: int, **changes: Any) -> ReceivedDelivery:
    fields: dict[str, Any] = {
        "token": "token",
        "sequence": attempt + 1,
        "method": "POST",
        "path": "/token",
        "headers": (("Hook-Event", f"event-{event}"), ("Hook-Try", str(attempt))),
        "body": f'{{"marker":"learned-{event}"}}'.encode(),
        "arrived_at": NOW + at,
        "arrived_monotonic": 100 + at,
        "completed_monotonic": 100 + at + 0.01,
        "peer_port": 1,
        "client_certificate": None,
        "status": 200,
    }
    return ReceivedDelivery(**{**fields, **changes})


def attempts(event: int, *times: float) -> list[ReceivedDelivery]:
    return [delivery(event, SENT[event] + at, number) for number, at in enumerate(times, 1)]


def plain(sent: Sequence[float], way_s: float = 0.02) -> list[ReceivedDelivery]:
    """What arrives at an endpoint that takes whatever comes."""
    return [delivery(event, at + way_s, 1) for event, at in enumerate(sent)]


def read(
    arrived: dict[str, Sequence[ReceivedDelivery]],
    ended_at: float = 200.0,
    visits: tuple[tuple[str, ...], tuple[str, ...]] = ((), ()),
    redirected: Sequence[ReceivedDelivery] = (),
    round_trip_s: float = 0.0,
    sent: Sequence[float] = SENT,
    assumed: Mapping[str, Any] = MappingProxyType({}),
    *,
    visited_late: bool = False,
) -> tuple[LearnedAnswers, GatheredDeliveries]:
    """The answers that are learned from what arrived at endpoints of these kinds."""
    listeners = {
        name: Listener(
            about=name,
            token="token",
            created=exchange(data={"uid": name, "status": "active"}),
            arrived=tuple(deliveries),
        )
        for name, deliveries in {FIRST: (), OTHER_SUCCESS: plain(sent), **arrived}.items()
    }
    session: Any = None  # no reading calls anything
    gathered = GatheredDeliveries(
        delivery=DeliverySession(
            session=session, receiver=session, listeners=listeners, events=events_sent(*sent)
        ),
        visible_s=0.02,
        visits=visits,
        redirected=tuple(redirected),
        secrets={gathering.SIMPLE: (), gathering.ADVANCED: ()},
        rolled_after=(3,),
        ended_at=ended_at,
        round_trip_s=round_trip_s,
        visited_late=visited_late,
    )
    answers = LearnedAnswers("undecided", load_dialect("undecided"))
    for field, known in assumed.items():
        answers.see(field, known, shown_by="before")
    read_deliveries(answers, gathered, quick=False)
    return answers, gathered


def value(answers: LearnedAnswers, field: str) -> Any:
    learned = answers.answer(field)
    return learned.values[0] if answers.is_seen(field) else None


def test_a_schedule_is_read_from_deliveries_that_fail() -> None:
    failing = [*attempts(0, 0.0, 0.52, 1.55, 3.6), *attempts(1, 0.0, 0.5, 1.53, 3.57)]
    answers, _ = read({f"{FAILING} 0": failing})
    assert value(answers, "retry.attempts") == 4
    assert value(answers, "retry.initial_s") == 0.5
    assert value(answers, "retry.factor") == 2
    assert value(answers, "delivery.attempt_header") == "Hook-Try"
    assert value(answers, "delivery.first_attempt") == 1
    assert value(answers, "delivery.event_id_header") == "Hook-Event"


def test_attempts_are_not_counted_while_another_may_come() -> None:
    answers, _ = read({f"{FAILING} 0": attempts(0, 0.0, 1.0, 3.0)}, ended_at=104.0)
    assert not answers.is_seen("retry.attempts")
    assert value(answers, "retry.initial_s") == 1.0


def test_a_wait_that_is_cut_short_is_the_longest() -> None:
    answers, _ = read({f"{FAILING} 0": attempts(0, 0.0, 1.0, 3.0, 5.0, 7.0)})
    assert value(answers, "retry.maximum_s") == 2.0


@pytest.mark.parametrize(
    ("share_of_random_waits", "learned"),
    [([0.03, 0.4, 0.93], 1.0), ([0.2, 0.3, 0.6, 0.8], 1.0), ([0.0, 0.02, 0.05], 0.1)],
)
def test_jitter_is_as_large_as_what_was_seen_is_a_sample_of(
    share_of_random_waits: list[float], learned: float
) -> None:
    failing = [
        arrived
        for event, share in enumerate(share_of_random_waits)
        for arrived in attempts(event, 0.0, 1 + share)
    ]
    answers, _ = read({f"{FAILING} 0": failing})
    assert value(answers, "retry.initial_s") == 1.0
    assert value(answers, "retry.jitter") == learned


@pytest.mark.parametrize(
    ("about", "field", "repeated", "once"),
    [
        (REDIRECTED, "retry.redirect", "failure", "success"),
        (OTHER_SUCCESS, "retry.success", "only_200", "any_2xx"),
    ],
)
def test_an_outcome_is_read_from_whether_another_attempt_came(
    about: str, field: str, repeated: str, once: str
) -> None:
    failing = {f"{FAILING} 0": attempts(0, 0.0, 1.0)}
    assert value(read({about: attempts(0, 0.0, 1.0)})[0], field) == repeated
    assert value(read({about: attempts(0, 0.0), **failing})[0], field) == once


@pytest.mark.parametrize(
    ("about", "field"), [(REDIRECTED, "retry.redirect"), (OTHER_SUCCESS, "retry.success")]
)
def test_an_attempt_that_was_not_seen_to_be_repeated_in_time_is_no_outcome(
    about: str, field: str
) -> None:
    """Nothing was seen to be attempted again; it takes longer than that; or it differs."""
    slow = {f"{FAILING} 0": attempts(0, 0.0, 60.0)}
    mixed = {about: [*attempts(0, 0.0, 1.0), *attempts(1, 0.0)]}
    failing = {f"{FAILING} 0": attempts(0, 0.0, 1.0)}
    for arrived in ({}, slow, {**failing, **mixed}):
        answers, _ = read({about: attempts(0, 0.0), **arrived}, ended_at=140.0)
        assert not answers.is_seen(field)


def test_a_redirect_is_followed_if_a_request_comes_to_its_location_after_the_delivery() -> None:
    arrived = {REDIRECTED: attempts(0, 0.0), f"{FAILING} 0": attempts(0, 0.0, 1.0)}
    of_the_visit, of_the_delivery = delivery(0, -0.1, 1), delivery(0, 0.1, 1)
    assert value(read(arrived, redirected=[of_the_visit])[0], "retry.redirect") == "success"
    followed = read(arrived, redirected=[of_the_visit, of_the_delivery])[0]
    assert value(followed, "retry.redirect") == "followed"


@pytest.mark.parametrize(
    ("accepted", "refused", "visit"),
    [
        ((), (), "none"),
        (("HEAD",), ("HEAD",), "head"),
        (("GET",), (), "get"),
        (("POST",), ("POST",), "post"),
        (("HEAD",), ("HEAD", "GET", "POST"), "head_get_post"),
        (("HEAD",), ("HEAD", "OPTIONS"), "any"),
        (("OPTIONS",), ("OPTIONS",), "any"),
        (("HEAD",), (), None),
    ],
)
def test_a_visit_is_read_from_what_comes_to_endpoints_that_accept_and_refuse(
    accepted: tuple[str, ...], refused: tuple[str, ...], visit: str | None
) -> None:
    answers, _ = read({}, visits=(accepted, refused))
    assert value(answers, "delivery.creation_visit") == visit


def test_a_header_that_never_holds_the_event_is_none() -> None:
    bare = [delivery(0, 0.0, 1, headers=(("Hook-Event", "another"),))]
    answers, _ = read({NO_OWNER: bare, OTHER_SUCCESS: ()})
    assert answers.answer("delivery.event_id_header").values == (None,)


def test_numbers_that_are_no_decimal_digits_are_no_attempts() -> None:
    odd = [delivery(0, at, 1, headers=(("Hook-Try", "\u00b2"),)) for at in (0.0, 1.0)]
    assert value(read({f"{FAILING} 0": odd})[0], "delivery.attempt_header") is None


@pytest.mark.parametrize(
    ("waits", "quiet_s", "known"),
    [
        ((), 59.0, None),  # the first wait of many services is longer than any run of learn
        ((), 61.0, 1),
        ((5.0,), 16.0, None),  # the next one may be three times as long
        ((5.0,), 18.0, 2),
        ((5.0, 5.0), 5.0, None),
        ((5.0, 5.0), 7.0, 3),
        ((5.0, 10.0), 22.0, None),
        ((5.0, 10.0), 23.0, 3),
    ],
)
def test_that_no_attempt_follows_shows_when_one_would_have_come(
    waits: tuple[float, ...], quiet_s: float, known: int | None
) -> None:
    times = [0.0, *itertools.accumulate(waits)]
    ended_at = 100 + SENT[0] + times[-1] + quiet_s
    answers, _ = read({f"{FAILING} 0": attempts(0, *times)}, ended_at=ended_at)
    assert value(answers, "retry.attempts") == known
    if known is None:
        reason = answers.answer("retry.attempts").reason
        assert reason.startswith(f"{len(times)} came, and another may come later")


@pytest.mark.parametrize(
    ("wait", "meaning"), [(4.1, "honoured"), (0.6, "ignored"), (3.0, "ignored")]
)
def test_retry_after_is_compared_with_the_usual_wait(wait: float, meaning: str) -> None:
    arrived = {f"{FAILING} 0": attempts(0, 0.0, 0.5, 1.0), PATIENT: attempts(0, 0.0, wait)}
    assert value(read(arrived)[0], "retry.retry_after") == meaning


@pytest.mark.parametrize(
    ("with_429", "meaning"), [((), "honoured"), ((4.1,), "honoured"), ((0.6,), None)]
)
def test_retry_after_is_honoured_only_if_it_is_with_429_too(
    with_429: tuple[float, ...], meaning: str | None
) -> None:
    arrived = {
        f"{FAILING} 0": attempts(0, 0.0, 0.5, 1.0),
        PATIENT: attempts(0, 0.0, 4.1),
        LIMITED: attempts(0, 0.0, *with_429),
    }
    answers, _ = read(arrived)
    assert value(answers, "retry.retry_after") == meaning
    if meaning is None:
        reason = answers.answer("retry.retry_after").reason
        assert "4.1 to 4.1 s after 503 and 0.6 to 0.6 s after 429" in reason


def test_a_visit_of_an_endpoint_without_owner_is_no_delivery() -> None:
    visit = delivery(0, 0.0, 1, method="GET", body=b"")
    assert value(read({NO_OWNER: [visit]})[0], "delivery.reach") == "owned_endpoints"
    reached = read({NO_OWNER: attempts(0, 0.0)})[0]
    assert value(reached, "delivery.reach") == "active_endpoints"


def limited(*times: float | None) -> list[ReceivedDelivery]:
    """What arrives at an endpoint with a limit; None for an event that never comes."""
    return [delivery(event, at, 1) for event, at in enumerate(times) if at is not None]


def test_deliveries_that_wait_two_seconds_each_show_the_unit_and_the_waiting() -> None:
    answers, _ = read({SHORT_WINDOW: limited(0.0, 2.0, 4.0, 6.0, 8.0, 10.0)})
    assert value(answers, "delivery.rate_limit_unit") == "seconds"
    assert value(answers, "delivery.excess") == "waits"


def test_events_that_are_left_out_show_that_they_are_dropped() -> None:
    answers, _ = read({SHORT_WINDOW: limited(0.0, None, None, None, 6.0, None)})
    assert value(answers, "delivery.rate_limit_unit") == "seconds"
    assert value(answers, "delivery.excess") == "dropped"


def test_a_single_delivery_in_all_the_time_excludes_the_short_units() -> None:
    answers, _ = read({SHORT_WINDOW: limited(0.0, None, None, None, None, None)})
    unit = answers.answer("delivery.rate_limit_unit")
    assert (unit.certainty, unit.values) == (Certainty.ASSUMED, ("minutes",))


def test_a_limit_that_does_not_hold_teaches_no_unit() -> None:
    answers, _ = read({SHORT_WINDOW: limited(0.0, 0.1, 0.2, 0.3, 6.0, 6.1)})
    assert not answers.is_seen("delivery.rate_limit_unit")
    assert "hookproof check" in answers.answer("delivery.rate_limit_unit").reason


@pytest.mark.parametrize(("rate", "meaning"), [(100, "percent"), (1000, "per_mille"), (2, "count")])
def test_tallies_are_read_from_an_endpoint_that_always_fails(rate: int, meaning: str) -> None:
    name, other = f"{FAILING} 0", attempts(1, 0.0, 1.0, 2.0)
    arrived = [*attempts(0, 0.0, 1.0, 2.0), *other]
    answers, gathered = read({name: arrived, f"{FAILING} 1": other})
    record = {"status": "paused", "events": 2, "failure_rate": rate}
    records = {name: record, f"{FAILING} 1": {"status": "active"}}
    read_tallies(answers, gathered, records, HEALTHY, others_sent=False)
    assert value(answers, "representation.failure_rate") == meaning
    assert value(answers, "representation.event_count") == "reached"
    assert value(answers, "retry.deactivate_after") == 2


@pytest.mark.parametrize(
    ("item", "advanced", "chosen"),
    [
        ("{version},{signature}", ",", " "),
        ("{version},{signature}", None, " "),
        ("{version}={signature}", ";", ";"),
        ("{signature}", None, ","),
    ],
)
def test_the_separator_of_one_signature_is_no_part_of_it(
    item: str, advanced: str | None, chosen: str
) -> None:
    answers = LearnedAnswers("undecided", load_dialect("undecided"))
    answers.see("signatures.simple.item", item, shown_by="a delivery")
    if advanced is not None:
        answers.see("signatures.advanced.separator", advanced, shown_by="a delivery")
    choose_separator(answers)
    assert answers.value("signatures.simple.separator") == chosen


@pytest.mark.parametrize(
    ("ending", "meaning"),
    [
        ((), "none"),
        ((410,), "only_410"),
        ((410, 400), "permanent_4xx"),
        ((410, 400, 429), "any_4xx"),
        ((400,), None),
    ],
)
def test_final_statuses_are_read_beside_deliveries_that_are_attempted_again(
    ending: Sequence[int], meaning: str | None
) -> None:
    answers, _ = read(refused(ending, retried=True))
    assert value(answers, "retry.final_status") == meaning


def test_an_answer_ends_no_delivery_where_no_other_was_attempted_again_in_time() -> None:
    answers, _ = read(refused((410,), retried=False))
    assert not answers.is_seen("retry.final_status")
    answers, _ = read(refused((410, 400, 429), retried=True), ended_at=101.0)
    assert not answers.is_seen("retry.final_status")


def refused(ending: Sequence[int], *, retried: bool) -> dict[str, Sequence[ReceivedDelivery]]:
    """Two events at endpoints that refuse them, and at one that always fails."""
    again = [*attempts(0, 0.0, 1.0), *attempts(1, 0.0, 1.0)]
    once = [*attempts(0, 0.0), *attempts(1, 0.0)]
    return {
        f"{FAILING} 0": again if retried else once,
        **{about: once if status in ending else again for status, about in REFUSING.items()},
    }
