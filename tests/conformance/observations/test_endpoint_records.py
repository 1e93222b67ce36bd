"""Which records of endpoints in another resource are about which endpoint that was fetched."""

from typing import Any

import pytest

from hookproof.conformance.observations.endpoint_records import RecordsInEvent, fetched_and_shown
from tests.conformance.canned_evidence import exchange, observation

FIRST, SECOND = "https://first.invalid/", "https://second.invalid/"


def pairs(fetched: list[dict[str, Any]], records: Any) -> list[tuple[int, Any]]:
    """The place of a fetched endpoint with the record about it, for each such record."""
    fetches = [exchange("fetch", "getEndpoint", data=data) for data in fetched]
    event = exchange("shows", "createBroadcastEvent", data={"endpoint_metadata": records})
    found = fetched_and_shown(observation(RecordsInEvent, *fetches, event), "endpoint_metadata")
    return [(fetches.index(pair.fetched), pair.record) for pair in found]


def test_the_uid_tells_a_record_or_else_the_url() -> None:
    first, second = {"uid": "e1", "url": FIRST}, {"uid": "e2", "url": SECOND}
    assert pairs([first, second], [{"uid": "e2"}, {"url": FIRST}]) == [
        (1, {"uid": "e2"}),
        (0, {"url": FIRST}),
    ]


def test_endpoints_that_show_no_uid_are_told_apart_by_their_urls() -> None:
    records = [{"url": SECOND}, {"url": FIRST}]
    assert pairs([{"url": FIRST}, {"url": SECOND}], records) == [(1, records[0]), (0, records[1])]


def test_the_url_tells_a_record_with_another_uid_unless_its_uid_is_shown_too() -> None:
    first, altered = {"uid": "E1", "url": FIRST}, {"uid": "e1", "url": FIRST}
    assert pairs([first], [altered]) == [(0, altered)]
    assert pairs([first], [altered, first]) == [(0, first)]


@pytest.mark.parametrize("record", [None, 7, "e1", [], {}, {"uid": []}, {"uid": "e2"}])
def test_what_is_no_record_of_it_is_not_compared_with_an_endpoint(record: Any) -> None:
    for fetched in ({"uid": "e1", "url": FIRST}, {"url": FIRST}, {}):
        assert pairs([fetched], [record]) == []
