"""What deliveries show is read no more exactly than the way of a far target lets it be known."""

from collections.abc import Sequence

import pytest

from hookproof.conformance.learning.deliveries.gathering import (
    FAILING,
    PATIENT,
    SHORT_WINDOW,
    ZERO_TIMEOUT,
)
from hookproof.conformance.learning.learned_answers import Certainty
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.learning.test_delivery_readings import (
    SENT,
    attempts,
    delivery,
    limited,
    read,
    value,
)

# A delivery is under way for up to three of it.
ROUND_TRIP_S = 0.5
WAYS_S = (0.5, 1.0, 1.5)


def failing(*waits: float, way_s: float) -> dict[str, Sequence[ReceivedDelivery]]:
    """Attempts after these waits at an endpoint that fails, each under way for so long."""
    times = [0.0]
    for wait in waits:
        times.append(times[-1] + wait + way_s)
    return {f"{FAILING} 0": attempts(0, *times)}


@pytest.mark.parametrize("way_s", WAYS_S)
def test_short_waits_of_a_far_target_teach_no_schedule(way_s: float) -> None:
    arrived = failing(0.5, 1.0, 2.0, way_s=way_s)
    far, _ = read(arrived, round_trip_s=ROUND_TRIP_S)
    for field in ("initial_s", "factor", "jitter"):
        assert not far.is_seen(f"retry.{field}"), field
        assert "so far away" in far.answer(f"retry.{field}").reason
    assert value(far, "retry.attempts") == 4
    assert value(read(arrived)[0], "retry.initial_s") != 0.5, "or the distance makes no difference"


@pytest.mark.parametrize("way_s", WAYS_S)
def test_long_waits_of_a_far_target_teach_their_schedule(way_s: float) -> None:
    far, _ = read(failing(15.0, 30.0, way_s=way_s), ended_at=400.0, round_trip_s=ROUND_TRIP_S)
    assert value(far, "retry.initial_s") == 15
    assert value(far, "retry.factor") == 2


@pytest.mark.parametrize("way_s", WAYS_S)
def test_a_long_wait_of_a_far_target_that_is_cut_short_is_the_longest(way_s: float) -> None:
    arrived = failing(30.0, 60.0, 60.0, way_s=way_s)
    far, _ = read(arrived, ended_at=600.0, round_trip_s=ROUND_TRIP_S)
    assert value(far, "retry.maximum_s") == 60


def test_attempts_are_not_counted_while_another_may_be_under_way() -> None:
    arrived = failing(1.0, 1.0, way_s=0.0)
    # The next one is expected within 1.1 + 0.5 s, and 1.5 s on its way.
    for ended_at, round_trip_s, counted in (
        (105.0, 0.0, True),
        (105.0, ROUND_TRIP_S, False),
        (106.0, ROUND_TRIP_S, True),
    ):
        answers, _ = read(arrived, ended_at=ended_at, round_trip_s=round_trip_s)
        assert answers.is_seen("retry.attempts") is counted, (ended_at, round_trip_s)


@pytest.mark.parametrize(
    ("usual_s", "wait_s", "meaning"),
    [
        (0.5, 5.5, "honoured"),
        (0.5, 4.0, None),
        (0.5, 1.5, "ignored"),
        (3.0, 5.5, None),
    ],
)
def test_retry_after_of_a_far_target_is_judged_by_what_the_wait_was_at_least(
    usual_s: float, wait_s: float, meaning: str | None
) -> None:
    arrived = {**failing(usual_s, way_s=0.5), PATIENT: attempts(0, 0.0, wait_s)}
    answers, _ = read(arrived, round_trip_s=ROUND_TRIP_S)
    assert value(answers, "retry.retry_after") == meaning


def test_arrivals_of_a_far_target_are_unevenly_apart() -> None:
    """The first needs a connection, and is under way for longer than the others."""
    arrived = {SHORT_WINDOW: limited(1.5, 2.5, 4.5, 6.5, 8.5, 10.5)}
    far, _ = read(arrived, round_trip_s=ROUND_TRIP_S)
    assert value(far, "delivery.rate_limit_unit") == "seconds"
    assert value(far, "delivery.excess") == "waits"
    assert value(read(arrived)[0], "delivery.rate_limit_unit") != "seconds"


def test_a_limit_of_a_far_target_that_does_not_hold_teaches_no_unit() -> None:
    arrived = {SHORT_WINDOW: limited(*(at + 1.0 for at in SENT))}
    far, _ = read(arrived, round_trip_s=ROUND_TRIP_S)
    assert not far.is_seen("delivery.rate_limit_unit")


def test_events_that_were_sent_no_faster_than_a_limit_teach_no_unit() -> None:
    """To a target so far away they can be sent no faster."""
    sent = (0.0, 1.5, 3.0, 4.5, 9.0, 10.5)
    arrived = {SHORT_WINDOW: limited(*(at + 2.0 for at in (0.0, 2.0, 4.0, 6.0, 9.0, 11.0)))}
    far, _ = read(arrived, round_trip_s=1.0, sent=sent)
    assert not far.is_seen("delivery.rate_limit_unit")
    assert "too slowly" in far.answer("delivery.rate_limit_unit").reason


def test_what_comes_as_late_as_a_far_target_has_it_come_has_not_waited() -> None:
    arrived = {SHORT_WINDOW: limited(1.0, None, None, None, 7.0, None)}
    for round_trip_s, excess in ((0.0, None), (ROUND_TRIP_S, "dropped")):
        answers, _ = read(arrived, round_trip_s=round_trip_s)
        assert value(answers, "delivery.excess") == excess


@pytest.mark.parametrize(("round_trip_s", "way_s"), [(0.01, 0.0), (0.5, 0.5)])
def test_an_endpoint_of_a_far_target_receives_at_the_latest_when_a_delivery_has_come(
    round_trip_s: float, way_s: float
) -> None:
    answers, gathered = read({}, round_trip_s=round_trip_s)
    learned = answers.answer("delivery.visible_within_s")
    assert learned.certainty is Certainty.SEEN
    assert gathered.way_s >= way_s
    assert learned.values[0] >= round_trip_s + way_s if way_s else learned.values[0] <= 0.3


@pytest.mark.parametrize(
    ("closed_s", "round_trip_s", "meaning"),
    [(0.1, 0.0, "immediate"), (1.0, ROUND_TRIP_S, None), (2.5, ROUND_TRIP_S, "default")],
)
def test_an_attempt_of_a_far_target_that_ends_early_may_have_had_its_time(
    closed_s: float, round_trip_s: float, meaning: str | None
) -> None:
    closed = delivery(0, 0.0, 1, closed_monotonic=100 + closed_s)
    answers, _ = read({ZERO_TIMEOUT: [closed]}, round_trip_s=round_trip_s)
    assert value(answers, "delivery.zero_http_timeout") == meaning
