"""Credentials in bodies of unusual shapes, and what of the document is known to hold one."""

import base64
import json
import re
import time
from typing import Any

import pytest

from hookproof.conformance.results.redaction import Mask
from hookproof.spec.openapi_document import openapi_document
from tests.conformance.canned_evidence import context, exchange
from tests.conformance.canned_run import PROJECTS
from tests.conformance.planted_credentials import FIELDS

SECRET = "kq7Zx19vPwT3mLr8Yb2N"
CREDENTIAL_LIKE = re.compile(
    "secret|passw|key|token|credential|account|value|auth|cert", re.IGNORECASE
)
NO_CREDENTIALS = {
    *("authentication", "authentication_type", "auth_type", "auth"),  # how, and what holds it
    *("api_key", "basic_auth", "oauth2", "signing_key", "secrets", "mtls_client_cert"),
    *("access_token", "token_type"),  # what a token answer calls its fields
    *("idempotency_key", "idempotency_keys", "routingKey"),
    "client_cert",  # a certificate is public
}


def masked(body: bytes) -> bytes:
    return Mask(PROJECTS, context().dialect).exchange(exchange(body=body)).response_body


def names_in(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(names_in, value.values()))
    return set().union(*map(names_in, value)) if isinstance(value, list) else set()


def test_every_field_of_the_contract_that_looks_like_a_credential_is_planted() -> None:
    schemas = openapi_document()["components"]["schemas"]
    fields = {name for schema in schemas.values() for name in schema.get("properties", {})}
    like = {name for name in fields if CREDENTIAL_LIKE.search(name)} - NO_CREDENTIALS
    public = {"crv", "e", "kid", "kty", "n", "x", "y"}
    private = set(schemas["SigningKey"]["properties"]) - public
    planted = set().union(*(names_in(field("a")) for field in FIELDS.values()))
    assert like | private <= planted


@pytest.mark.parametrize(
    "cut",
    [
        b'{"secret": "%s',
        b'{"secrets": [{"uid": "a", "value": "%s"',
        b'{"secrets": ["%s',
        b'{"a": {"service_account": {"b": [{"private_key": "%s',
        b'{"signing_key": {"n": {"a": 1}, "d": "%s"}, "half',
        b'{"password": [1, {"x": "%s"}, ]',
        b'{"raw": "{\\"token\\": \\"%s\\" \\q',
    ],
    ids=range(7),
)
def test_a_body_that_is_no_json_is_masked_too(cut: bytes) -> None:
    shown = masked(cut % SECRET.encode())
    assert shown.startswith(cut.partition(b"%s")[0])
    assert SECRET.encode() not in shown


def test_the_name_of_a_member_may_have_escapes() -> None:
    body = b'{"s\\u0065cret": "%s", "\\u006eame": "n"}' % SECRET.encode()
    assert masked(body) == b'{"secret": "secret#1", "\\u006eame": "n"}'


def test_bytes_besides_a_credential_remain_as_they_were() -> None:
    body = '{ "a" :1.0,"a":1e2, "s": "\\u00e9\\/é",\t"secret":["%s" ,{"b":\n"%s"} ],"z" : [ ] }'
    assert masked((body % (SECRET, SECRET)).encode()) == (body % ("secret#1", "secret#1")).encode()


@pytest.mark.parametrize(
    "account",
    [
        lambda written: written,
        lambda written: list(written.encode()),
        lambda written: base64.b64encode(written.encode()).decode(),
        json.loads,
    ],
    ids=["text", "array of bytes", "base64", "object"],
)
def test_what_a_service_account_holds_is_masked_elsewhere(account: Any) -> None:
    written = json.dumps({"type": "service_account", "private_key": SECRET, "n": [1, None]})
    shown = masked(json.dumps({"service_account": account(written), "x": SECRET}).encode())
    assert SECRET.encode() not in shown
    assert re.search(rb'"x": "secret#\d"', shown)


def test_a_number_that_is_a_credential_leaves_a_number_wherever_it_is() -> None:
    body = {"password": 918273645546, "n": 918273645546, "list": [918273645546, 7], "s": "9"}
    shown = json.loads(masked(json.dumps(body | {"text": "a 918273645546"}).encode()))
    assert shown == {"password": 1, "n": 1, "list": [1, 7], "s": "9", "text": "a secret#1"}


@pytest.mark.parametrize("value", [None, True, 5, 99999, [], {}, [None, False]])
def test_what_can_be_no_credential_stays(value: Any) -> None:
    body = json.dumps({"secret": value, "secrets": [{"uid": "u", "value": value}]}).encode()
    assert masked(body) == body


def test_public_members_stay() -> None:
    key = {"kty": "RSA", "kid": "a key of ours", "n": "modulus", "e": "AQAB", "x": "1", "y": "2"}
    body = {"signing_key": key, "secrets": [{"uid": "an uid", "expires_at": "2026-01-01"}]}
    assert masked(json.dumps(body).encode()) == json.dumps(body).encode()


@pytest.mark.parametrize(
    "hostile",
    [
        b'{"secret":' * 100_000,
        b'{"secrets":[{"a":1,' * 50_000,
        b'"secrets":[' + b"{}," * 300_000,
        b'"\\"secret\\":' * 50_000,
        b'"eyJ' + b"\\" * 500_000,
        b"[123," + b"1," * 500_000,
        b"%73%65" * 500_000,
        b'"\\u0073%2573",' * 100_000,
        b'"",' * 700_000,
    ],
    ids=[
        *("objects", "lists", "empty objects", "quotes", "base64", "bytes"),
        *("escapes", "escaped texts", "empty texts"),
    ],
)
def test_a_hostile_body_takes_time_in_proportion_to_its_length(hostile: bytes) -> None:
    mask = Mask(PROJECTS, context().dialect)
    mask.exchange(exchange(request={"secret": "hunter2"}))
    began = time.process_time()
    mask.exchange(exchange(body=hostile))
    assert time.process_time() - began < 5
