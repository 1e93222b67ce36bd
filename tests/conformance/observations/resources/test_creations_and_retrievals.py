"""Tests of which retrieval shows what a creation has made."""

from typing import Any

import pytest

from hookproof.conformance.observations.round_trip import EndpointCreation
from tests.conformance.canned_evidence import exchange, observation

URL = "https://receiver.example/first"


@pytest.mark.parametrize("shown_url", [URL, [URL], {"href": URL}, None])
def test_a_creation_without_uid_is_known_by_a_url_that_is_a_text(shown_url: Any) -> None:
    created = exchange("create", "createEndpoint", data={}, request={"url": URL})
    fetched = exchange("fetch", "getEndpoint", data={"uid": "e1", "url": shown_url})
    creation = observation(EndpointCreation, created, fetched)
    expected = [(created, fetched)] if shown_url == URL else []
    assert list(creation.created_and_fetched()) == expected
