"""What a replay sends in place of what was recorded."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.replay.new_values import NewValues
from hookproof.conformance.replay.recording import Recording
from hookproof.conformance.target.definition import Project
from hookproof.receiver.client.control_api import IssuedCertificate
from tests.conformance.canned_evidence import BASE_URL, NOW, context, exchange
from tests.conformance.canned_run import header

OLD, NEW = "01HF7YAZFVGR8E5KMHBCBZHKAZ", "01JDQM7Y1TV5Q3B1N0Z4W7K2PD"
RECEIVER, OURS = "https://127.0.0.1:4001", "https://127.0.0.1:5002"
TARGET = {"p1": Project(id="q1", api_key="new-one"), "p2": Project(id="q2", api_key="new-two")}
PAIR = IssuedCertificate(client_cert="our certificate", client_key="our key")


def values_for(*requests: Exchange) -> NewValues:
    recording = Recording(
        header=replace(
            header(),
            target=BASE_URL,
            projects=["p1", "p2"],
            nonce="aabbcc",
            receiver_url=RECEIVER,
        ),
        cases=(),
        requests=requests,
        left_out={},
        replies={},
    )
    return NewValues(
        recording,
        context().dialect,
        TARGET,
        receiver_url=OURS,
        nonce="ddeeff",
        pair=PAIR,
    )


def created(data: Any, sent_at: float = NOW) -> Exchange:
    return exchange(data=data, sent_at=sent_at)


def fetched(uid: str) -> Exchange:
    return exchange("fetch", "getEndpoint", path={"endpointID": uid}, sent_at=NOW + 1)


def sent_body(values: NewValues, request: Exchange) -> Any:
    content = values.content(request)
    assert content is not None
    return json.loads(content)


def test_an_identifier_of_an_earlier_answer_is_replaced_by_the_new_one() -> None:
    recorded, later = created({"uid": OLD}), fetched(OLD)
    values = values_for(recorded, later)
    assert values.target(later).endswith(f"/projects/q1/endpoints/{OLD}")
    values.learn(recorded, created({"uid": NEW}))
    assert values.target(later).endswith(f"/projects/q1/endpoints/{NEW}")


def test_a_number_is_replaced_in_paths_alone() -> None:
    recorded, later = created({"uid": 7}), fetched("7")
    paged = exchange("list", "listSources", query="?perPage=7", sent_at=NOW + 1)
    values = values_for(recorded, later, paged)
    values.learn(recorded, created({"uid": 31}))
    assert values.target(later).endswith("/endpoints/31")
    assert values.target(paged).endswith("/sources?perPage=7")


def test_a_cursor_is_replaced_in_a_query_and_percent_encoded() -> None:
    recorded = exchange("list", "listSources", data={"pagination": {"next_page_cursor": "c 1"}})
    later = exchange("next", "listSources", query="?next=c+1&direction=next", sent_at=NOW + 1)
    values = values_for(recorded, later)
    answer = exchange("list", "listSources", data={"pagination": {"next_page_cursor": "c&2"}})
    values.learn(recorded, answer)
    assert values.target(later).endswith("/sources?next=c%262&direction=next")


def test_a_text_within_a_body_is_replaced_as_a_whole_and_the_rest_stays_byte_for_byte() -> None:
    body = b'{ "endpoints" : ["%s", "x%s"] , "n":1e2 }' % (OLD.encode(), OLD.encode())
    recorded = created({"uid": OLD})
    later = exchange("update", "updatePortalLink", request_body=body, sent_at=NOW + 1)
    values = values_for(recorded, later)
    values.learn(recorded, created({"uid": 'a"ä'}))
    assert values.content(later) == body.replace(b'"%s"' % OLD.encode(), b'"a\\"\\u00e4"', 1)


@pytest.mark.parametrize(
    ("shown", "now"),
    [
        pytest.param("success", "pending", id="a word"),
        pytest.param("owner-1", "owner-2", id="a text that the run itself had sent before"),
        pytest.param(True, False, id="a truth value"),
    ],
)
def test_what_means_the_same_in_each_run_stays(shown: Any, now: Any) -> None:
    recorded = exchange(request={"owner_id": "owner-1"}, data={"state": shown})
    later = exchange("list", "listSources", query=f"?state={shown}", sent_at=NOW + 1)
    values = values_for(recorded, later)
    values.learn(recorded, created({"state": now}))
    assert values.target(later).endswith(f"/sources?state={shown}")


def test_the_first_answer_that_shows_a_text_says_what_takes_its_place() -> None:
    recorded, later = created({"uid": OLD}), fetched(OLD)
    values = values_for(recorded, later)
    values.learn(recorded, created({"uid": NEW}))
    values.learn(recorded, created({"uid": "another-1"}))
    assert values.target(later).endswith(NEW)


def test_names_keys_and_the_receiver_are_those_of_the_replay() -> None:
    request = exchange(
        request={"name": "endpoint-aabbcc01", "url": f"{RECEIVER}/token", "owner_id": "own"},
        request_headers=(
            ("Authorization", "Bearer $HOOKPROOF_API_KEY_2"),
            ("X-Api-Key", "$HOOKPROOF_API_KEY and ${HOOKPROOF_API_KEY_2%?}"),
            ("X-Of-The-Target", "$HOOKPROOF_HEADER_X_OF_THE_TARGET"),
        ),
    )
    values = values_for(request)
    assert sent_body(values, request) == {
        "name": "endpoint-ddeeff01",
        "url": f"{OURS}/token",
        "owner_id": "own",
    }
    assert list(values.headers(request)) == [("X-Api-Key", "new-one and new-tw")]
    assert values.api_key(request) == "new-two"
    assert values.recorded(b'{"marker":"x-ddeeff"}') == b'{"marker":"x-aabbcc"}'


def test_no_key_is_put_into_a_body_which_could_be_sent_on() -> None:
    hook = "https://elsewhere.invalid/$HOOKPROOF_API_KEY"
    request = exchange(request={"url": hook, "api_key": "$HOOKPROOF_API_KEY"})
    values = values_for(request)
    assert sent_body(values, request) == {"url": hook, "api_key": "$HOOKPROOF_API_KEY"}
    listing = exchange("list", "listSources", query="?api_key=$HOOKPROOF_API_KEY")
    assert values.target(listing).endswith("/sources?api_key=new-one")


@pytest.mark.parametrize(
    ("recorded", "sent"),
    [
        ("https://127.0.0.1:4444/x", "https://127.0.0.1:1/x"),
        ("https://127.0.0.1:4001/x", "https://127.0.0.1:5002/x"),
        ("https://other.invalid:4444/x", "https://other.invalid:4444/x"),
    ],
)
def test_no_other_port_of_the_receivers_machine_is_sent_to(recorded: str, sent: str) -> None:
    request = exchange(request={"url": recorded})
    assert sent_body(values_for(request), request) == {"url": sent}


def test_a_credential_that_the_run_made_up_is_made_up_again_and_the_same_throughout() -> None:
    request = exchange(request={"secret": "secret#1", "other": "secret#2"})
    values = values_for(request)
    first = sent_body(values, request)
    assert first == sent_body(values, request)
    assert first["secret"] != first["other"]
    assert first["secret"].startswith(context().dialect.signatures.secret.prefix)
    assert "secret#" not in json.dumps(first)


def test_a_credential_that_an_answer_showed_is_the_one_of_the_new_answer() -> None:
    recorded = created({"secret": "secret#1"})
    later = exchange(request={"secret": "secret#1"}, sent_at=NOW + 1)
    values = values_for(recorded, later)
    values.learn(recorded, created({"secret": "whsec_new"}))
    assert sent_body(values, later) == {"secret": "whsec_new"}


def test_keys_of_which_one_half_is_masked_are_replaced_whole() -> None:
    signing_key = {"kty": "EC", "kid": "k1", "crv": "P-256", "x": "old", "y": "old"}
    request = exchange(
        request={
            "mtls_client_cert": {"client_cert": "theirs", "client_key": "secret#1"},
            "authentication": {"oauth2": {"signing_key": {**signing_key, "d": "secret#2"}}},
        }
    )
    sent = sent_body(values_for(request), request)
    assert sent["mtls_client_cert"] == {
        "client_cert": PAIR.client_cert,
        "client_key": PAIR.client_key,
    }
    assert_one_key(sent["authentication"]["oauth2"]["signing_key"])


def assert_one_key(key: dict[str, str]) -> None:
    """That the private part of a key belongs to its public part."""
    assert (key["kid"], key["kty"]) == ("k1", "EC")
    private = ec.derive_private_key(number(key["d"]), ec.SECP256R1()).private_numbers()
    public = private.public_numbers
    assert [public.x, public.y] == [number(key["x"]), number(key["y"])]


def number(text: str) -> int:
    return int.from_bytes(base64.urlsafe_b64decode(f"{text}=="))


@pytest.mark.parametrize("text", [b"[" * 5000, b'{"signing_key":' * 5000, b'"client_key" \xff"'])
def test_a_body_that_is_no_json_is_sent_as_it_is(text: bytes) -> None:
    request = exchange(request_body=text)
    assert values_for(request).content(request) == text


def test_an_answer_is_compared_however_deep_it_is() -> None:
    depth = 900
    recorded = exchange(body=nested(depth, OLD))
    later = fetched(OLD)
    values = values_for(recorded, later)
    values.learn(recorded, exchange(body=nested(depth, NEW)))
    assert values.target(later).endswith(NEW)


def nested(depth: int, text: str) -> bytes:
    return b"[" * depth + json.dumps(text).encode() + b"]" * depth
