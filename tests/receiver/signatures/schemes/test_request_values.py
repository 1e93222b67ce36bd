"""Conditions on requests, and the answers to the requests by which senders try a URL."""

import gzip
import hashlib
import hmac
import json
from typing import Final

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hookproof.receiver.signatures.schemes.catalogue import (
    SchemeProblem,
    load_scheme,
    shipped_schemes,
)
from hookproof.receiver.signatures.schemes.challenge import Challenge, SecretMissing
from hookproof.receiver.signatures.schemes.request_values import Condition, Request
from tests.receiver.signatures.schemes.provider_signers import NAMES, signed

BODY: Final = (
    b'{"type":"invoice.paid","n":1.50,"on":true,"none":null,"data":{"a.b":1,'
    b'"items":[{"sku":"x"},{"sku":"y"}]}}'
)
FORM: Final = (("Content-Type", "application/x-www-form-urlencoded"),)
HEADERS: Final = (("X-Event", "push"), ("x-event", "pull"), ("Empty", ""), ("X-Signs", "a[b]?"))


@pytest.mark.parametrize(
    ("condition", "matches"),
    [
        ("method=POST", True),
        ("method=GET", False),
        ("method!=GET", True),
        ("header:x-EVENT=push", True),
        ("header:X-Event=pull", True),
        ("header:X-Event=Push", False),
        ("header:X-Event=pu*", True),
        ("header:X-Event=*u*", True),
        ("header:X-Event=p.sh", False),
        ("header:X-Event=p?sh", False),
        ("header:X-Event=[p]ush", False),
        ("header:X-Signs=a[b]?", True),
        ("header:X-Signs=*[b]*", True),
        ("header:X-Event", True),
        ("header:Empty", True),
        ("header:Empty=", True),
        ("header:X-Other", False),
        ("header:X-Other!=push", True),
        ("header:X-Event!=push", False),
        ("query:a=1", True),
        ("query:a=2", True),
        ("query:b=", True),
        ("query:c=x y", True),
        ("body:type=invoice.paid", True),
        ("body:type=invoice.*", True),
        ("body:type!=invoice.paid", False),
        ("body:n=1.50", True),
        ("body:n=1.5", False),
        ("body:on=true", True),
        ("body:none=null", True),
        ("body:data.items.1.sku=y", True),
        ("body:data.items.0.sku=y", False),
        ("body:data.items.*.sku=y", True),
        ("body:data.items.9.sku", False),
        ("body:data.items=*", True),
        ("body:type.x", False),
        ("body:missing", False),
        ("body:text=a=b", False),
    ],
)
def test_a_condition_is_met_by_a_value_of_the_request(condition: str, matches: bool) -> None:
    request = Request("POST", "/t?a=1&a=2&b=&c=x%20y", HEADERS, BODY)
    assert Condition.parse(condition).matches(request) is matches


def test_bodies_are_read_as_forms_and_without_their_compression() -> None:
    form = Request("POST", "/t", FORM, b"payload=%7B%7D&text=a%3Db&text=c")
    assert form.values("body:text") == ["a=b"]
    assert Condition.parse("body:text=a=b").matches(form)
    by_curl = Request("POST", "/t", FORM, b'{"type":"invoice.paid"}')
    assert by_curl.values("body:type") == ["invoice.paid"]
    compressed = Request("POST", "/t", (("Content-Encoding", "gzip"),), gzip.compress(BODY))
    assert compressed.values("body:type") == ["invoice.paid"]
    assert Request("POST", "/t", (), gzip.compress(BODY)).values("body:type") == []


@pytest.mark.parametrize("text", ["type=a", "header:=a", "body: x=1", "path=/x", "", "{body:x}"])
def test_a_condition_on_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no value of a request: give method, header:NAME"):
        Condition.parse(text)


SECRET: Final = "a secret"


def encrypted(token: str) -> str:
    return hmac.new(SECRET.encode(), token.encode(), hashlib.sha256).hexdigest()


CHALLENGES: Final = {
    "asana": (
        Request("POST", "/t", (("x-hook-secret", "b537207f20cbfa02357cf448134da559"),), b"{}"),
        "",
        ("X-Hook-Secret", "b537207f20cbfa02357cf448134da559"),
    ),
    "dropbox": (
        Request("GET", "/t?challenge=a%20b", (), b""),
        "a b",
        ("X-Content-Type-Options", "nosniff"),
    ),
    "meta": (
        Request(
            "GET", "/t?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=x", (), b""
        ),
        "1158201444",
        ("Content-Type", "text/plain; charset=utf-8"),
    ),
    "slack": (
        Request(
            "POST", "/t", (), b'{"token":"t","challenge":"3eZbrw1aBm","type":"url_verification"}'
        ),
        "3eZbrw1aBm",
        ("Content-Type", "text/plain; charset=utf-8"),
    ),
    "twitch": (
        Request(
            "POST",
            "/t",
            (("Twitch-Eventsub-Message-Type", "webhook_callback_verification"),),
            b'{"challenge":"pogchamp-kappa-360noscope","subscription":{}}',
        ),
        "pogchamp-kappa-360noscope",
        ("Content-Type", "text/plain; charset=utf-8"),
    ),
    "zoom": (
        Request(
            "POST",
            "/t",
            (),
            b'{"payload":{"plainToken":"q\\"\\u00e9"},"event_ts":1,"event":"endpoint.url_validation"}',
        ),
        json.dumps({"plainToken": 'q"é', "encryptedToken": encrypted('q"é')}),
        ("Content-Type", "application/json"),
    ),
}


def test_all_schemes_with_a_challenge_are_here() -> None:
    assert sorted(CHALLENGES) == [
        name for name, each in shipped_schemes().items() if each.entry.challenge
    ]


@pytest.mark.parametrize("name", CHALLENGES)
def test_who_tries_a_url_is_answered_as_it_wants_and_no_other_delivery_is(name: str) -> None:
    request, body, header = CHALLENGES[name]
    challenge = load_scheme(name).entry.challenge
    assert challenge is not None
    answer = challenge.answer(request, SECRET)
    assert answer is not None
    assert (json.loads(answer.body) == json.loads(body)) if name == "zoom" else answer.body == body
    assert header in answer.headers
    for other, (another, _, _) in CHALLENGES.items():
        assert other == name or challenge.answer(another, SECRET) is None
    for each in NAMES:
        delivery = signed(each)
        ordinary = Request("POST", "/in?x=1", delivery.headers, delivery.body)
        assert challenge.answer(ordinary, SECRET) is None, each


def test_an_answer_that_needs_the_secret_is_none_without_it() -> None:
    challenge = load_scheme("zoom").entry.challenge
    assert challenge is not None
    with pytest.raises(SecretMissing):
        challenge.answer(CHALLENGES["zoom"][0], None)


def test_a_scheme_of_ones_own_may_have_a_challenge(tmp_path: object) -> None:
    path = tmp_path / "ours.yaml"  # type: ignore[operator]
    path.write_text(
        "header: X\n"
        "challenge:\n"
        '  when: {"query:crc_token": "*"}\n'
        "  content_type: application/json\n"
        "  encoding: base64\n"
        '  body: \'{"response_token":"sha256={hmac:query:crc_token}"}\'\n'
    )
    challenge = load_scheme(str(path)).entry.challenge
    assert challenge is not None
    answer = challenge.answer(Request("GET", "/t?crc_token=abc", (), b""), SECRET)
    assert answer is not None
    # printf abc | openssl dgst -sha256 -hmac 'a secret' -binary | base64
    assert json.loads(answer.body) == {"response_token": "sha256=" + OPENSSL}
    path.write_text("header: X\nchallenge: {when: {type: x}}\n")
    with pytest.raises(SchemeProblem, match="'type' is no value of a request"):
        load_scheme(str(path))


OPENSSL: Final = "eLZZBtjt245+qFrAEVuGelzd2zB9LkIVyMNRWaW2AqU="
texts = st.text(st.characters(exclude_categories=()), max_size=20)


@example(token="\ud800", name="body:a", in_json=False, secret="a")
@given(
    token=texts,
    name=st.sampled_from(["body:a", "query:a", "header:a"]),
    in_json=st.booleans(),
    secret=texts,
)
def test_whatever_a_sender_writes_can_be_sent_back_on_one_line(
    token: str, name: str, in_json: bool, secret: str
) -> None:
    challenge = msgspec.convert(
        {
            "when": {name: "*"},
            "headers": {"X-Back": f"{{{name}}}"},
            "body": f'{{"a":"{{{name}}}"}}' if in_json else f"{{{name}}}",
            "content_type": "application/json" if in_json else "text/plain",
        },
        Challenge,
    )
    body = json.dumps({"a": token}).encode()
    answer = challenge.answer(Request("POST", f"/t?a={token}", (("a", token),), body), secret)
    if answer is None:
        return
    answer.body.encode()  # or it could not be sent
    for _, value in answer.headers:
        assert len(value.encode("latin-1").splitlines()) <= 1
        assert "\0" not in value
    if in_json and name == "body:a":
        assert json.loads(answer.body) == {"a": token.encode(errors="replace").decode()}
