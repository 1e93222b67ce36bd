"""What observations of deliveries read: destinations, attempts, windows, schedules, JSON."""

import json
from dataclasses import replace

import pytest

from hookproof.conformance.checks.broadcast_reach import reaches
from hookproof.conformance.checks.json_equality import (
    exact,
    needs_more_than_doubles,
    same,
    same_to_the_digit,
)
from hookproof.conformance.model.evidence import NOT_JSON
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.observations.destinations import Roll, ended
from hookproof.conformance.observations.secret_windows import (
    possible_skews_s,
    requested_window,
    shown_window,
    skew_s,
)
from hookproof.conformance.observations.timestamp import unix_seconds
from hookproof.conformance.results.records.evidence_records import evidence_json, evidence_of
from hookproof.spec.dialect.answer import Answer, Undecided
from hookproof.spec.dialect.retry_schedule import MOST_ATTEMPTS, Wait, may_be_due, wait_before
from hookproof.spec.dialect.vocabulary import TimestampForm
from tests.conformance.canned_deliveries import EVENT_ID, destination, ending, event, observed, sent
from tests.conformance.canned_evidence import NOW, context, exchange

ROLL = Roll(role="roll", old_secret="old", new_secret="new", expiration=10)
REFERENCE = context().dialect


def test_destinations_and_events_are_the_same_after_a_round_trip_through_json() -> None:
    where = destination("rolling", advanced_signatures=True, rolls=[ROLL])
    observation = observed(DeliveryObservation, where)
    stored = evidence_of(json.loads(json.dumps(evidence_json(observation))))
    assert isinstance(stored, DeliveryObservation)
    assert stored.destinations == (where,)
    assert stored.events == (event(),)
    assert stored.destinations_named("another") == ()
    assert stored.events_named("another") == ()


def test_a_destination_knows_all_its_secrets() -> None:
    assert destination("rolling", rolls=[ROLL]).secrets == ("secret of rolling", "new")
    assert replace(destination(), secret=None).secrets == ()


def test_a_marker_in_a_header_makes_a_delivery_of_the_event() -> None:
    where, what = destination(), event()
    marked = sent(
        what, where, body=b"{}", headers=[(EVENT_ID, "another"), ("X-Marker", what.marker)]
    )
    unmarked = sent(what, where, body=b"{}", headers=[(EVENT_ID, "another")])
    observation = observed(DeliveryObservation, where, marked, unmarked)
    assert observation.attempts(where, what, REFERENCE) == (marked,)


def test_a_delivery_with_the_body_of_another_event_is_recognised_by_two_headers() -> None:
    where, own, other = destination(), event(), event("other")
    body = json.dumps({"marker": other.marker}).encode()

    def read(headers: list[tuple[str, str]]) -> list[bool]:
        arrived = sent(own, where, body=body, headers=headers)
        observation = observed(DeliveryObservation, where, arrived, events=[own, other])
        return [
            arrived in of_event
            for what in (own, other)
            for of_event in (
                observation.attempts(where, what, REFERENCE),
                observation.named_only(where, what, REFERENCE),
            )
        ]

    assert read([("X-Marker", own.marker)]) == [True, False, False, False]
    assert read([]) == [False, True, True, False]
    assert read([("X-Marker", other.marker)]) == [False, True, True, False]


def test_an_attempt_ends_with_its_answer_or_when_it_is_given_up() -> None:
    attempt = sent(event(), destination())
    assert ended(ending(attempt, completed=1)) == attempt.arrived_monotonic + 1
    assert ended(ending(attempt, closed=2)) == attempt.arrived_monotonic + 2
    assert ended(ending(attempt)) is None


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ('{"a":1,"b":2}', '{"b":2,"a":1}', True),
        ("1e5", "100000", True),
        ("-0", "0", True),
        ('"\\u00fc"', '"ü"', True),
        ("9007199254740993", "9007199254740992", True),
        ("9007199254740993", "9007199254740996", False),
        ("0.1", "0.10000000000000001", True),
        ("0.1", "0.2", False),
        ("1", "true", False),
        ("null", "false", False),
        ("[1,2]", "[2,1]", False),
        ('{"a":[]}', '{"a":{}}', False),
        ("NaN", "NaN", False),
        ("not JSON", "not JSON", False),
    ],
)
def test_json_is_compared_by_value(left: str, right: str, equal: bool) -> None:
    assert same(exact(left.encode()), exact(right.encode())) is equal


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ("[1e5,-0,0.1]", "[100000,0,0.10]", True),
        ("9007199254740993", "9007199254740992", False),
        ("0.1", "0.10000000000000001", False),
        ("1e400", "1e500", False),
    ],
)
def test_digits_are_compared_apart(left: str, right: str, equal: bool) -> None:
    assert same_to_the_digit(exact(left.encode()), exact(right.encode())) is equal


@pytest.mark.parametrize(
    ("value", "needs_more"),
    [
        ("[0,-0,1.0,1e5,1E+2,0.1,-12.50,1e-7,123456.789,9007199254740992,true]", False),
        ('{"a":[{"b":9007199254740993}]}', True),
        ("18446744073709551617", True),
        ("1e400", True),
    ],
)
def test_some_numbers_need_more_than_doubles(value: str, needs_more: bool) -> None:
    assert needs_more_than_doubles(exact(value.encode())) is needs_more


def test_what_is_too_deep_or_not_utf_8_is_not_json() -> None:
    assert exact(b"[" * 100_000) is NOT_JSON
    assert exact(b'"\xff"') is NOT_JSON


@pytest.mark.parametrize(
    ("text", "form", "seconds"),
    [
        ("2027-01-15T08:00:00.500000Z", TimestampForm.RFC3339_MICROSECONDS, NOW + 0.5),
        ("2027-01-15T09:00:00+01:00", TimestampForm.RFC3339, NOW),
        ("1800000000500", TimestampForm.UNIX_MILLISECONDS, NOW + 0.5),
        ("1800000000", TimestampForm.UNIX_SECONDS, NOW),
        ("1800000000500000", TimestampForm.UNIX_MICROSECONDS, NOW + 0.5),
        ("1800000000500000000", TimestampForm.UNIX_NANOSECONDS, NOW + 0.5),
        ("soon", TimestampForm.RFC3339, None),
        ("soon", TimestampForm.UNIX_MILLISECONDS, None),
        (None, TimestampForm.RFC3339, None),
    ],
)
def test_a_timestamp_is_read_in_its_form(
    text: object, form: TimestampForm, seconds: float | None
) -> None:
    assert unix_seconds(text, form) == seconds


def test_the_requested_window_leaves_room_around_the_expiry() -> None:
    window = requested_window(
        observed(
            DeliveryObservation,
            [],
            exchanges=[exchange("roll", "expireEndpointSecret", duration_s=2)],
        ),
        ROLL,
        REFERENCE,
    )
    assert window is not None
    assert window.rolled_at == NOW + 2
    assert window.valid_until < NOW + 10
    assert window.expired_from > NOW + 12


def test_a_roll_without_answer_has_no_window() -> None:
    assert requested_window(observed(DeliveryObservation, []), ROLL, REFERENCE) is None
    assert shown_window(observed(DeliveryObservation, []), ROLL, REFERENCE) is None


def test_the_skew_of_a_targets_clock_is_read_from_its_date_header() -> None:
    def dated(date: str) -> float:
        return skew_s(exchange(response_headers=[("Date", date)]))

    assert dated("Fri, 15 Jan 2027 08:00:01 GMT") == 0
    assert dated("Fri, 15 Jan 2027 08:01:00 GMT") == 60
    assert dated("yesterday") == 0
    assert skew_s(exchange()) == 0


def test_a_date_that_is_somewhat_old_may_have_been_kept() -> None:
    def possible(date: str) -> tuple[float, ...]:
        return possible_skews_s(exchange(response_headers=[("Date", date)]))

    assert possible("Fri, 15 Jan 2027 07:59:57 GMT") == (-3, 0)
    assert possible("Fri, 15 Jan 2027 07:59:00 GMT") == (-60,)
    assert possible("Fri, 15 Jan 2027 08:00:03 GMT") == (3,)


@pytest.mark.parametrize(
    ("dialect", "owned", "unowned", "disabled"),
    [("reference", True, True, False), ("contrary", True, False, True)],
)
def test_the_dialect_decides_which_endpoints_an_event_reaches(
    dialect: str, owned: bool, unowned: bool, disabled: bool
) -> None:
    rules = context(dialect).dialect
    assert reaches(event(), destination(), rules) is owned
    assert reaches(event(), destination(owner_id=""), rules) is unowned
    assert reaches(event(), destination(is_disabled=True), rules) is disabled


def test_an_event_reaches_no_endpoint_of_another_project() -> None:
    assert not reaches(event(project="p2"), destination(), REFERENCE)


def test_which_endpoints_an_undecided_dialect_reaches_is_undecided() -> None:
    undecided = replace(REFERENCE, delivery=replace(REFERENCE.delivery, reach=Answer(())))
    with pytest.raises(Undecided):
        reaches(event(), destination(), undecided)


def test_waits_grow_up_to_the_longest() -> None:
    retry = replace(REFERENCE.retry, maximum_s=Answer((3.0,)))
    assert wait_before(retry, 2) == Wait(shortest_s=1.0, longest_s=1.2)
    assert wait_before(retry, 3) == Wait(shortest_s=2.0, longest_s=2.4)
    assert wait_before(retry, 5).shortest_s == 3.0


def test_waits_are_bounded_by_all_values_that_a_dialect_allows() -> None:
    retry = replace(REFERENCE.retry, initial_s=Answer((1.0, 0.5)), factor=Answer((2.0, 1e4)))
    assert wait_before(retry, 3) == Wait(shortest_s=1.0, longest_s=1.2 * 60)
    assert wait_before(retry, MOST_ATTEMPTS) == Wait(shortest_s=60.0, longest_s=1.2 * 60)


def test_an_attempt_is_due_once_there_was_time_for_those_before_it() -> None:
    assert [may_be_due(REFERENCE.retry, 3, since=1, waited_s=waited) for waited in (2.9, 3.0)] == [
        False,
        True,
    ]
    assert [may_be_due(REFERENCE.retry, 2, since=0, waited_s=waited) for waited in (0.9, 1.0)] == [
        False,
        True,
    ]
    assert not may_be_due(REFERENCE.retry, 1, since=1, waited_s=9.0)


def test_no_number_is_too_large_for_a_schedule_that_grows_fast() -> None:
    retry = replace(REFERENCE.retry, factor=Answer((1e4,)))
    assert not any(
        may_be_due(retry, attempt, since=1, waited_s=60.0)
        for attempt in (MOST_ATTEMPTS, MOST_ATTEMPTS + 1, 10**9)
    )


def test_any_speed_may_be_that_of_an_undecided_schedule() -> None:
    retry = replace(REFERENCE.retry, initial_s=Answer((), reason="nobody asked"))
    assert may_be_due(retry, 3, since=1, waited_s=0.0)


def test_a_signature_is_read_with_the_secret_of_the_endpoint() -> None:
    where = destination()
    signed, unsigned = sent(event(), where), sent(event(), where, signers=["x"], attempt=2)
    observation = observed(DeliveryObservation, where, signed, unsigned)
    assert observation.signature(signed, context()).secrets == ("secret of plain",)
    assert observation.signature(unsigned, context()).secrets == ()
