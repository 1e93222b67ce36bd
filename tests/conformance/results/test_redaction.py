"""Credentials in requests and answers are masked wherever evidence is written."""

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.results.records.evidence_records import evidence_of
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.results.run_file import NAME, RunWriter
from hookproof.process.encoded_credentials import is_distinctive
from tests.conformance.canned_evidence import CannedObservation, context, delivery, exchange, seen
from tests.conformance.canned_run import PROJECTS, header

SECRET = "5f4dcc3b5aa765d61d8327deb882cf99"
OTHER = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
PEM = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIHNqGd4QGMT\n-----END EC PRIVATE KEY-----\n"
MASK = context().dialect.representation.mask


def mask() -> Mask:
    return Mask(PROJECTS, context().dialect)


def written_body(body: Any) -> Any:
    """The JSON of a request body as it is written."""
    return mask().exchange(exchange(request=body)).request_json


@pytest.mark.parametrize(
    "body",
    [
        {"secret": SECRET},
        {"authentication": {"api_key": {"header_name": "X-Key", "header_value": SECRET}}},
        {"authentication": {"basic_auth": {"username": "user", "password": SECRET}}},
        {"authentication": {"oauth2": {"client_id": "c", "client_secret": SECRET}}},
        {
            "authentication": {
                "oauth2": {"signing_key": {"kty": "RSA", "n": "public", "d": SECRET, "qi": SECRET}}
            }
        },
        {"mtls_client_cert": {"client_cert": "public", "client_key": PEM}},
        {
            "data": {
                "secrets": [
                    {"uid": "s1", "value": SECRET, "expires_at": None},
                    {"uid": "s2", "value": OTHER},
                ]
            }
        },
        {
            "data": {
                "verifier": {"hmac": {"secret": SECRET}},
                "pub_sub": {"sqs": {"secret_key": OTHER}},
            }
        },
        {"data": {"auth_type": "refresh_token", "auth_key": SECRET, "token": OTHER}},
    ],
    ids=lambda body: json.dumps(body)[:40],
)
def test_a_credential_is_masked_in_its_place_and_nothing_else_is(body: Any) -> None:
    credentials = {SECRET, OTHER, PEM}
    written = written_body(body)
    assert not credentials & set(texts(written))
    public = [text for text in texts(body) if text not in credentials]
    assert [text for text in texts(written) if not text.startswith("secret#")] == public
    assert len(texts(written)) == len(texts(body))


def texts(value: Any) -> list[str]:
    """Every text in a JSON value, names of members aside."""
    if isinstance(value, dict):
        return [text for member in value.values() for text in texts(member)]
    if isinstance(value, list):
        return [text for member in value for text in texts(member)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize(
    "body",
    [
        {"secret": ""},
        {"secret": MASK},
        {"secret": "****"},
        {"secret": "secret#7"},
        {"secret": None},
        {"secret": 5},
        {"secrets": []},
        {"value": "no secret's", "d": "one", "key": "k"},
    ],
    ids=json.dumps,
)
def test_a_value_that_is_not_a_credential_stays(body: Any) -> None:
    assert written_body(body) == body


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        (f"https://p.invalid/?a=b&token={SECRET}&c=d", "https://p.invalid/?a=b&token=secret#1&c=d"),
        (f"https://p.invalid/?auth_key={SECRET}#top", "https://p.invalid/?auth_key=secret#1#top"),
        (f"https://p.invalid/?accessToken={SECRET}", "https://p.invalid/?accessToken=secret#1"),
        (f"https://hooks.slack.com/services/T0/B0/{SECRET}", "https://hooks.slack.com/secret#1"),
        (f"https://HOOKS.slack.com/services/T0/{SECRET}", "https://HOOKS.slack.com/secret#1"),
        *((url, url) for url in ("https://p.invalid/?token=short", f"https://p.invalid/{SECRET}")),
        *((url, url) for url in (f"https://p.invalid/?t={SECRET}", "https://hooks.slack.com/a/b")),
    ],
)
def test_a_credential_is_masked_in_a_url_that_says_that_it_is_one(url: str, masked: str) -> None:
    member = {"data": {"url": url, "raw": json.dumps({"url": url})}}
    assert written_body(member) == {"data": {"url": masked, "raw": json.dumps({"url": masked})}}
    for written in (
        json.dumps(member).replace("/", "\\/"),
        json.dumps(member).replace("&", "\\u0026"),
    ):
        sent = mask().exchange(exchange(request_body=written.encode())).request_json
        assert sent["data"]["url"] == masked
    observed = mask().evidence(seen(exchange(), facts={"url": url}))
    assert observed.facts == {"url": masked}


def test_a_credential_of_a_url_has_its_name_elsewhere_too() -> None:
    masking, url = mask(), f"https://p.invalid/?token={SECRET}"
    shown = masking.exchange(exchange(request={"url": url}, data={"token": SECRET}))
    assert shown.data == {"token": "secret#1"}


def test_equal_credentials_have_equal_names_and_different_ones_different_names() -> None:
    masking = mask()
    first = masking.exchange(
        exchange(
            request={"secret": SECRET}, data={"secrets": [{"value": SECRET}, {"value": OTHER}]}
        )
    )
    later = masking.exchange(exchange(request={"secret": OTHER}))
    assert first.request_json == {"secret": "secret#1"}
    assert first.data == {"secrets": [{"value": "secret#1"}, {"value": "secret#2"}]}
    assert later.request_json == {"secret": "secret#2"}


def test_a_broken_body_is_masked_too_and_keeps_its_other_bytes() -> None:
    broken = b'{"name" : "\xff", "secret"  :\t"' + SECRET.encode() + b'", "half'
    kept = mask().exchange(exchange(request_body=broken)).request_body
    assert kept == b'{"name" : "\xff", "secret"  :\t"secret#1", "half'


def whole_observation() -> CannedObservation:
    """An observation with credentials in every place that can hold one."""
    basic = base64.b64encode(f"user:{SECRET}".encode()).decode()
    return seen(
        exchange(
            request={"secret": SECRET, "name": "n"},
            data={
                "url": f"https://portal.invalid/?token={OTHER}",
                "auth_type": "t",
                "token": OTHER,
            },
            query=f"?s={SECRET}",
            response_headers=[("X-Echo", SECRET)],
        ),
        deliveries=[
            delivery(
                headers=[("Authorization", f"Bearer {OTHER}"), ("X-Key", SECRET)],
                path=f"/t1?{SECRET}",
            ),
            delivery(
                headers=[("Authorization", f"Basic {basic}")],
                body=f"client_secret={OTHER}&a=b".encode(),
            ),
        ],
        facts={
            "destinations": [
                {
                    "token": "t1",
                    "secret": SECRET,
                    "rolls": [{"old_secret": SECRET, "new_secret": OTHER}],
                }
            ],
            "issued": [OTHER],
            "text": f"signed with {SECRET}",
        },
        name=f"with {SECRET}",
    )


def test_no_credential_is_written_from_any_place(tmp_path: Path) -> None:
    with (tmp_path / NAME).open("wb", buffering=0) as stream:
        RunWriter(stream, header()).evidence(mask().evidence(whole_observation()))
    text = (tmp_path / NAME).read_text()
    kept = evidence_of(json.loads(text.splitlines()[1]))
    bodies = [
        *(exchange.request_body or b"" for exchange in kept.exchanges),
        *(exchange.response_body for exchange in kept.exchanges),
        *(delivery.body for delivery in kept.deliveries),
    ]
    everything = text + b"".join(bodies).decode()
    for credential in (SECRET, OTHER, base64.b64encode(f"user:{SECRET}".encode()).decode()):
        assert credential not in everything
    (destination,) = kept.facts["destinations"]
    assert destination["token"] == "t1", "a token of the receiver is not a credential"
    (roll,) = destination["rolls"]
    assert roll["old_secret"] == destination["secret"] != roll["new_secret"]
    assert kept.deliveries[0].headers[0][1] == f"Bearer {roll['new_secret']}"


def test_masking_twice_changes_nothing() -> None:
    once = mask().evidence(whole_observation())
    assert mask().evidence(once) == once


def test_short_credentials_are_masked_only_in_their_own_member() -> None:
    kept = mask().exchange(exchange(request={"secret": "name", "name": "name"}))
    assert kept.request_json == {"secret": "secret#1", "name": "name"}
    assert not is_distinctive("application")
    assert is_distinctive("password-1")


@pytest.mark.parametrize("word", ["createEndpoint", "expireEndpointSecret", "failure_rate"])
def test_a_secret_that_is_a_word_of_the_api_leaves_the_word_alone_elsewhere(word: str) -> None:
    masking = mask()
    observed = seen(exchange(request={"secret": word, "name": word}), facts={word: word})
    kept = masking.evidence(observed)
    assert isinstance(kept, CannedObservation)
    assert kept.facts == {word: word}
    assert kept.exchanges[0].request_json == {"secret": "secret#1", "name": word}
    assert masking.exchange(exchange(query=f"?s={word}")).url.endswith(f"?s={word}")


@pytest.mark.parametrize("word", ["operation_id", "SequenceStep", "plain"])
def test_a_secret_that_is_any_word_is_masked_where_it_is_a_whole_value(word: str) -> None:
    masking = mask()
    observed = seen(exchange(request={"secret": word, word: word}), facts={word: word})
    kept = masking.evidence(observed)
    assert isinstance(kept, CannedObservation)
    assert kept.facts == {word: word}, "which may be a name of ours"
    assert kept.exchanges[0].request_json == {"secret": "secret#1", "secret#1": "secret#1"}
    later = exchange(query=f"?s={word}&t={word}s", data={"text": f"a {word}", "list": [word]})
    masked = masking.exchange(later)
    assert masked.url.endswith(f"?s=secret#1&t={word}s")
    assert masked.data == {"text": f"a {word}", "list": ["secret#1"]}
    assert masking.text(f"it was '{word}', no {word}") == f"it was 'secret#1', no {word}"


@pytest.mark.parametrize(
    "text",
    [
        "application/json",
        "application/x-www-form-urlencoded",
        "X-Webhook-Signature",
        "X-Destination-Key",
    ],
)
def test_a_credential_that_is_a_text_of_the_protocol_leaves_it_alone(text: str) -> None:
    masking = mask()
    sent = exchange(request={"secret": text, "content_type": text})
    assert masking.exchange(sent).request_json == {"secret": "secret#1", "content_type": text}
    assert masking.text(text) == text
    kept = masking.exchange(exchange(response_headers=(("Content-Type", text),)))
    assert kept.response_headers == (("Content-Type", text),)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("a key-5f1c9, x=key-5f1c9/y", "a secret#1, x=secret#1/y"),
        ("key-5f1c90 akey-5f1c9", "key-5f1c90 akey-5f1c9"),
    ],
)
def test_a_credential_that_is_not_long_is_masked_where_it_is_a_word_of_its_own(
    text: str, masked: str
) -> None:
    masking = mask()
    masking.exchange(exchange(request={"secret": "key-5f1c9"}))
    assert masking.exchange(exchange(data={"text": text})).data == {"text": masked}
    assert masking.text(text) == masked


def test_basic_credentials_keep_the_user_name_and_lose_the_password() -> None:
    basic = base64.b64encode(f"user:{SECRET}".encode()).decode()
    observed = seen(deliveries=[delivery(headers=[("Authorization", f"Basic {basic}")])])
    (kept,) = mask().evidence(observed).deliveries
    assert kept.headers == (("Authorization", "Basic user:secret#1"),)


@pytest.mark.parametrize("name", ["X-Gateway", "x-gateway"])
def test_the_value_of_a_header_of_the_target_file_is_masked_whatever_it_is(name: str) -> None:
    masking = Mask(PROJECTS, context().dialect, [("X-Gateway", "7")])
    masked = masking.exchange(replace(exchange(), request_headers=((name, "7"), ("X-Other", "7"))))
    assert masked.request_headers == ((name, "$HOOKPROOF_HEADER_X_GATEWAY"), ("X-Other", "7"))


def test_a_credential_in_a_header_of_the_target_file_is_masked_wherever_it_is_shown() -> None:
    masking = Mask(PROJECTS, context().dialect, [("X-Gateway", f"Bearer {SECRET}")])
    echoed = exchange(data={"seen": f"it was {SECRET}", "encoded": SECRET.encode().hex()})
    masked = masking.exchange(echoed).response_body.decode()
    assert masked.count("$HOOKPROOF_HEADER_X_GATEWAY") == 2
    assert SECRET not in masking.text(f"no answer to {SECRET}")


def test_a_plain_word_in_a_header_of_the_target_file_stays_where_others_use_it() -> None:
    masking = Mask(PROJECTS, context().dialect, [("X-Version", "endpoints")])
    listed = exchange(data={"endpoints": ["endpoints"]})
    assert masking.exchange(listed).response_body == listed.response_body


def test_a_request_with_the_key_of_another_project_names_that_key() -> None:
    first, second = PROJECTS
    foreign = exchange(
        key="foreign",
        project=first.id,
        request_headers=(("Authorization", f"Bearer {second.api_key}"),),
    )
    assert mask().exchange(foreign).request_headers == (
        ("Authorization", "Bearer $HOOKPROOF_API_KEY_2"),
    )
