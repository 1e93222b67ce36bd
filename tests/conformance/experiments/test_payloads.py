"""The payloads of the broadcast experiment: what naive servers alter is in them, spelled as it is
sent.
"""

import json

import pytest

from hookproof.conformance.experiments.support.payloads import LARGE_BYTES, payloads

PAYLOADS = payloads("marker-1", size_limit=1024 * 1024, nesting=128)


@pytest.mark.parametrize("name", PAYLOADS)
def test_every_payload_but_the_empty_one_is_an_object_that_shows_its_marker(name: str) -> None:
    expected = None if name == "an empty object" else "marker-1"
    assert json.loads(PAYLOADS[name]).get("marker") == expected


def test_an_empty_object_is_among_the_payloads() -> None:
    assert PAYLOADS["an empty object"] == "{}"


@pytest.mark.parametrize(
    "spelled",
    [
        "9007199254740993",
        "1e5",
        r"\ud83d\ude00",
        r"\u00fc",
        "😀",
        '{"z":1,"a":2',
        "[" * 60,
    ],
)
def test_what_breaks_naive_servers_is_sent_as_it_is_spelled(spelled: str) -> None:
    assert any(spelled in text for text in PAYLOADS.values())


def test_the_largest_payload_has_256_kilobytes_within_the_limit_of_the_dialect() -> None:
    assert LARGE_BYTES == 262_144
    assert abs(len(PAYLOADS["large"]) - LARGE_BYTES) < 100
    assert len(payloads("m", size_limit=65_536, nesting=128)["large"]) < 65_536
