"""A delivery survives the conversion to JSON and back."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.receiver.inbox.delivery import ReceivedDelivery, TlsFacts

# What is measured or counted, and no more, is read.
FARTHEST = 1e12
latin1 = st.text(st.characters(max_codepoint=255))
deliveries = st.builds(
    ReceivedDelivery,
    token=st.text(),
    sequence=st.integers(1, 2**40),
    method=latin1,
    path=st.text(),
    headers=st.lists(st.tuples(latin1, latin1)).map(tuple),
    body=st.binary(),
    arrived_at=st.floats(0, FARTHEST),
    arrived_monotonic=st.floats(0, FARTHEST),
    completed_monotonic=st.none() | st.floats(0, FARTHEST),
    closed_monotonic=st.none() | st.floats(0, FARTHEST),
    peer_port=st.integers(0, 65535),
    client_certificate=st.none() | st.text(),
    tls=st.none()
    | st.builds(TlsFacts, version=st.text(), cipher=st.text(), server_name=st.none() | st.text()),
    status=st.none() | st.integers(200, 999),
)
EXAMPLE: dict[str, Any] = {
    "token": "t",
    "sequence": 1,
    "method": "POST",
    "path": "/t?a=b",
    "headers": [["X-A", "1"], ["x-a", "2"]],
    "body_b64": "/wA=",
    "arrived_at": 1735689600.5,
    "arrived_monotonic": 1.5,
    "completed_monotonic": None,
    "closed_monotonic": 2.5,
    "peer_port": 40000,
    "client_certificate": None,
    "tls": {"version": "TLSv1.3", "cipher": "TLS_AES_256_GCM_SHA384", "server_name": "localhost"},
    "status": None,
}


@given(deliveries)
def test_a_delivery_survives_json(delivery: ReceivedDelivery) -> None:
    assert ReceivedDelivery.from_json(json.loads(json.dumps(delivery.to_json()))) == delivery


def test_json_names_and_forms_are_those_that_others_read() -> None:
    delivery = ReceivedDelivery.from_json(EXAMPLE)
    assert delivery.body == b"\xff\x00"
    assert delivery.headers == (("X-A", "1"), ("x-a", "2"))
    assert json.loads(json.dumps(delivery.to_json())) == EXAMPLE


def test_a_header_is_found_in_any_case_and_the_first_counts() -> None:
    delivery = ReceivedDelivery.from_json(EXAMPLE)
    assert delivery.header("X-a") == "1"
    assert delivery.all_headers("x-A") == ("1", "2")
    assert delivery.header("absent") is None
    assert delivery.all_headers("absent") == ()


@pytest.mark.parametrize("member", sorted(set(EXAMPLE) - {"closed_monotonic", "tls"}))
def test_a_missing_or_mistyped_member_is_refused(member: str) -> None:
    with pytest.raises(ValueError, match=member):
        ReceivedDelivery.from_json({key: value for key, value in EXAMPLE.items() if key != member})
    with pytest.raises(ValueError, match=member):
        ReceivedDelivery.from_json({**EXAMPLE, member: [{}]})
