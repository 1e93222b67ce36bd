"""What counts as a difference between a recording and its replay."""

from dataclasses import replace

import pytest

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.replay.differences import Differences
from hookproof.conformance.results.behaviour.stored_cases import StoredCase
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_evidence import NOW, delivery, exchange

FETCHED = exchange("fetch", "getEndpoint", path={"endpointID": "e1"}, data={"uid": "e1"})


def case(exchanges: tuple[Exchange, ...], *deliveries: ReceivedDelivery) -> StoredCase:
    return StoredCase(
        experiment="round_trip",
        name="one",
        repetition=1,
        exchanges=exchanges,
        deliveries=deliveries,
    )


def differences(answer: Exchange, *arrived: ReceivedDelivery) -> Differences:
    before = case((FETCHED,), delivery("t1"), delivery("t2"))
    return Differences.of([before], [case((answer,), *arrived)])


def test_times_are_no_difference() -> None:
    later = replace(FETCHED, sent_at=NOW + 100, duration_s=9.0)
    found = differences(later, delivery("t2", arrived_at=NOW + 99), delivery("t1"))
    assert not found.found
    assert found.words == (
        "with another status: 0; fields that differ: 0; deliveries that did not arrive: 0"
    )


@pytest.mark.parametrize(
    ("answer", "arrived", "words"),
    [
        (
            replace(FETCHED, status=404),
            2,
            "with another status: 1; fields that differ: 0; deliveries that did not arrive: 0",
        ),
        (
            exchange("fetch", "getEndpoint", path={"endpointID": "e1"}, data={"uid": 7}),
            2,
            "with another status: 0; fields that differ: 1; deliveries that did not arrive: 0",
        ),
        (
            FETCHED,
            1,
            "with another status: 0; fields that differ: 0; deliveries that did not arrive: 1",
        ),
    ],
    ids=["status", "field", "delivery"],
)
def test_each_kind_of_difference_counts_alone(answer: Exchange, arrived: int, words: str) -> None:
    found = differences(answer, *[delivery("t1"), delivery("t2")][:arrived])
    assert (found.found, found.words) == (True, words)


def test_each_request_counts_although_others_have_its_place() -> None:
    asked = [replace(FETCHED, sent_at=NOW + number) for number in range(3)]
    before = [case((each,)) for each in asked]
    after = [case((replace(each, status=500),)) for each in asked]
    assert Differences.of(before, after).words.startswith("with another status: 3;")


def test_a_request_of_two_observations_counts_once() -> None:
    both = [case((FETCHED,)), case((FETCHED,))]
    after = [case((replace(FETCHED, status=500),))] * 2
    assert Differences.of(both, after).words.startswith("with another status: 1;")


def test_what_did_not_arrive_is_said_with_its_observation() -> None:
    assert differences(FETCHED).missing == ("2 of 2 in round_trip: one",)
