"""What deliveries show is compared with how unevenly the same run delivers anyhow."""

from collections.abc import Sequence

import pytest

from hookproof.conformance.learning.deliveries.gathering import (
    DISABLED,
    FAILING,
    FORM,
    NO_OWNER,
    OTHER_SUCCESS,
    PATIENT,
    SHORT_WINDOW,
    VISITED,
    ZERO_TIMEOUT,
)
from hookproof.conformance.learning.deliveries.retry_readings import read_tallies
from hookproof.conformance.learning.learned_answers import Certainty
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.learning.test_delivery_readings import (
    HEALTHY,
    SENT,
    attempts,
    delivery,
    limited,
    read,
    value,
)

# How late the deliveries of one event come where a queue is polled each five seconds.
POLLED = (4.6, 0.3, 2.1, 1.2, 3.9, 0.5)


def polled() -> list[ReceivedDelivery]:
    return [delivery(event, at + POLLED[event], 1) for event, at in enumerate(SENT)]


def test_waits_of_a_queue_that_is_polled_teach_no_schedule() -> None:
    """The next attempt comes when the queue is looked at, whatever the schedule is."""
    failing = [*attempts(0, 0.0, 4.6, 9.1), *attempts(1, 0.2, 2.6, 7.3)]
    answers, _ = read({OTHER_SUCCESS: polled(), f"{FAILING} 0": failing})
    for field in ("retry.initial_s", "retry.factor"):
        assert not answers.is_seen(field), field
        assert "sends so unevenly" in answers.answer(field).reason
    assert not answers.is_seen("retry.jitter")


@pytest.mark.parametrize(
    ("usual", "asked", "meaning"),
    [
        ([4.6, 1.2], [4.1], None),
        ([0.5, 0.6], [4.1, 0.7], None),
        ([0.5, 0.6], [4.1, 4.2], "honoured"),
        ([4.6, 1.2], [1.2, 0.9], "ignored"),
        ([], [4.1], None),
    ],
)
def test_a_wait_that_was_asked_for_is_none_that_usually_comes(
    usual: Sequence[float], asked: Sequence[float], meaning: str | None
) -> None:
    failing = [each for number, wait in enumerate(usual) for each in attempts(number, 0.0, wait)]
    patient = [each for number, wait in enumerate(asked) for each in attempts(number, 0.0, wait)]
    answers, _ = read({f"{FAILING} 0": failing, PATIENT: patient})
    assert value(answers, "retry.retry_after") == meaning


def test_jitter_is_no_more_than_what_a_busy_machine_does_is_not_seen() -> None:
    busy = [delivery(event, at + 0.02 + 0.07 * (event % 2), 1) for event, at in enumerate(SENT)]
    failing = [*attempts(0, 0.0, 0.5), *attempts(1, 0.0, 0.6)]
    answers, _ = read({OTHER_SUCCESS: busy, f"{FAILING} 0": failing})
    assert answers.answer("retry.jitter").certainty is Certainty.ASSUMED
    assert value(answers, "retry.initial_s") == 0.5
    calm, _ = read({f"{FAILING} 0": failing})
    assert calm.answer("retry.jitter").certainty is Certainty.SEEN


@pytest.mark.parametrize(
    ("about", "field", "none"),
    [
        (NO_OWNER, "delivery.reach", "owned_endpoints"),
        (DISABLED, "delivery.disabled_receives", False),
    ],
)
def test_that_an_endpoint_gets_nothing_is_told_by_one_that_gets_all(
    about: str, field: str, none: object
) -> None:
    answers, _ = read({about: ()})
    assert answers.answer(field).values == (none,)
    lost = [each for each in polled() if b"learned-3" not in each.body]
    assert not read({about: (), OTHER_SUCCESS: lost})[0].is_seen(field)
    assert not read({about: (), OTHER_SUCCESS: ()})[0].is_seen(field)


def test_deliveries_that_all_come_slowly_show_no_limit() -> None:
    """One by one, whether there is a limit or not."""
    slowly = limited(0.0, 2.0, 4.0, 6.0, 8.0, 10.0)
    answers, _ = read({SHORT_WINDOW: slowly, OTHER_SUCCESS: slowly})
    assert not answers.is_seen("delivery.rate_limit_unit")
    assert not answers.is_seen("delivery.excess")


def test_a_form_that_is_sent_now_and_then_may_be_either() -> None:
    mixed = [delivery(0, 0.0, 1), delivery(1, 0.1, 1, body=b"marker=learned-1")]
    answers, _ = read({FORM: mixed})
    assert set(answers.answer("delivery.form_body").values) == {"json", "form"}


def test_a_visit_with_a_body_is_no_form() -> None:
    visit = delivery(0, 0.0, 1, body=b"{}")
    assert not read({FORM: [visit]})[0].is_seen("delivery.form_body")


def test_a_header_in_some_deliveries_is_neither_there_nor_none() -> None:
    bare = delivery(0, 0.0, 1, headers=())
    answers, _ = read({NO_OWNER: [bare, delivery(1, 0.1, 1)]})
    assert not answers.is_seen("delivery.event_id_header")


def test_requests_without_an_event_among_deliveries_are_no_visits() -> None:
    answers, gathered = read({}, visits=(("GET",), ("GET",)), visited_late=True)
    assert not answers.is_seen("delivery.creation_visit")
    assert gathered.visits


def test_an_endpoint_that_missed_the_first_events_was_visible_later() -> None:
    late = limited(None, None, None, None, 6.05, 6.15)
    answers, _ = read({OTHER_SUCCESS: late})
    assert answers.value("delivery.visible_within_s") >= SENT[3]


def test_a_url_that_has_to_answer_is_no_visit_that_may_fail() -> None:
    """A service may look up a name before it creates an endpoint, and visit nothing."""
    answers, _ = read({VISITED: ()}, assumed={"delivery.failed_visit": "refused"})
    assert answers.answer("delivery.failed_visit").certainty is Certainty.ASSUMED


@pytest.mark.parametrize(
    ("closed_s", "meaning"), [(0.1, "immediate"), (1.0, None), (2.5, "default")]
)
def test_an_attempt_that_ends_after_a_second_may_have_had_a_short_time_out(
    closed_s: float, meaning: str | None
) -> None:
    closed = delivery(0, 0.0, 1, closed_monotonic=100 + closed_s)
    assert value(read({ZERO_TIMEOUT: [closed]})[0], "delivery.zero_http_timeout") == meaning


def tallied(*records: dict[str, object], healthy: dict[str, object] = HEALTHY) -> list[object]:
    """What is learned of endpoints that got one failed event more each, in the end."""
    arrived = {
        f"{FAILING} {number}": [
            each for event in range(number + 1) for each in attempts(event, 0.0, 1.0)
        ]
        for number in range(len(records))
    }
    answers, gathered = read(arrived)
    shown = dict(zip(arrived, records, strict=True))
    read_tallies(answers, gathered, shown, healthy, others_sent=False)
    fields = ("retry.deactivate_after", "representation.event_count", "representation.failure_rate")
    return [value(answers, field) for field in fields]


ON, OFF = {"status": "active"}, {"status": "paused"}


@pytest.mark.parametrize(
    ("records", "fewest"),
    [
        ([ON, ON, ON], None),
        ([ON, OFF, OFF], 2),
        ([OFF, OFF, OFF], 1),
        ([OFF, ON, ON], None),
        ([ON, OFF, ON], None),
    ],
)
def test_endpoints_are_disabled_after_as_many_failures_as_tell_them_apart(
    records: list[dict[str, object]], fewest: int | None
) -> None:
    assert tallied(*records)[0] == fewest


def test_what_no_endpoint_counts_does_not_show_what_is_counted() -> None:
    """A service may count later, by a job."""
    nothing = {"events": 0, "failure_rate": 50, **ON}
    assert tallied(nothing)[1:] == ["delivered", None]
    assert tallied(nothing, healthy={"events": 0, **ON})[1:] == [None, None]


def test_an_attempt_that_one_delivery_of_many_had_may_be_a_repeated_one() -> None:
    usual = [each for event in range(3) for each in attempts(event, 0.0, 1.0, 2.0)]
    once_more = attempts(3, 0.0, 1.0, 2.0, 3.0)
    answers, _ = read({f"{FAILING} 0": [*usual, *once_more]})
    assert answers.answer("retry.attempts").values == (3, 4)
