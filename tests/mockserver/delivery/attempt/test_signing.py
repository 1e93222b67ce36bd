"""Signatures, compared with vectors that openssl computed (section 6, item 3)."""

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hookproof.spec
from hookproof.load.sidecar.signatures import EndpointSignatures
from hookproof.mockserver.delivery.attempt.signing import (
    SignatureFormat,
    SigningError,
    secret_key,
    secrets_valid_at,
    timestamp,
)
from hookproof.mockserver.delivery.store_port import SigningSecret
from hookproof.receiver.signatures.fast_path import FastPath
from hookproof.receiver.signatures.schemes.request_parts import RequestLine
from hookproof.receiver.signatures.verification import Unverified, Verified, verify
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.vocabulary import SecretForm, SignatureTime
from tests.mockserver.delivery.engines import dialect
from tests.spec.dialect_variants import variant

VECTORS = json.loads(
    (Path(hookproof.spec.__file__).parent / "vectors" / "signatures.json").read_text()
)["vectors"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_signature_is_that_of_the_vector(vector: dict[str, Any]) -> None:
    answers = load_dialect_of(vector)
    scheme = answers.signatures.scheme(advanced=vector["advanced"])
    headers = SignatureFormat(scheme, answers.signatures.secret).headers(
        vector["secrets"], vector["id"], vector["timestamp"], base64.b64decode(vector["body_b64"])
    )
    expected = {**vector["headers"]}
    expected.pop(answers.delivery.event_id_header, None)
    assert dict(headers) == expected


def load_dialect_of(vector: dict[str, Any]) -> Any:
    name, advanced = vector["dialect"], vector["advanced"]
    changes = {
        "advanced" if advanced else "simple": vector.get("scheme"),
        "secret": vector.get("secret"),
    }
    changed = {group: answers for group, answers in changes.items() if answers}
    return dialect(name, signatures=changed) if changed else load_dialect(name)


def test_a_secret_signs_until_the_instant_it_expires_and_not_after() -> None:
    secrets = (
        SigningSecret(value="old", expires_at=100.0),
        SigningSecret(value="new", expires_at=None),
    )
    assert secrets_valid_at(secrets, 99.999) == ["old", "new"]
    assert secrets_valid_at(secrets, 100.0) == ["new"]


def test_a_body_that_looks_like_a_template_is_signed_as_it_is() -> None:
    answers = load_dialect("standard-webhooks")
    form = SignatureFormat(answers.signatures.advanced, answers.signatures.secret)
    key = base64.b64encode(b"k" * 24).decode()
    first = form.headers([f"whsec_{key}"], "id", 5.0, b"{id}{timestamp}{body}")
    second = form.headers([f"whsec_{key}"], "id", 5.0, b"id5{body}")
    assert first != second


def test_without_a_valid_secret_nothing_is_signed() -> None:
    answers = load_dialect("reference")
    with pytest.raises(SigningError, match="no valid secret"):
        SignatureFormat(answers.signatures.simple, answers.signatures.secret).headers(
            [], "id", 5.0, b""
        )


def test_the_error_for_a_secret_that_is_not_base64_does_not_contain_it() -> None:
    rules = load_dialect("standard-webhooks").signatures.secret
    assert rules.form is SecretForm.BASE64
    with pytest.raises(SigningError) as caught:
        secret_key("whsec_not*base64", rules)
    assert "not*base64" not in str(caught.value)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (SignatureTime.MILLISECONDS, "1800000000875"),
        (SignatureTime.SECONDS, "1800000000"),
        (SignatureTime.HOURS, "500000"),
        (SignatureTime.RFC3339, "2027-01-15T08:00:00Z"),
    ],
)
def test_a_time_is_written_as_the_dialect_says(form: SignatureTime, text: str) -> None:
    assert timestamp(1_800_000_000.875, form) == text


NOW = 1_800_000_000.0
BODY = b'{"a": 1}'
SECRETS = ("sec_first", "sec_second", "sec_third")


def test_the_url_of_the_endpoint_may_be_signed() -> None:
    url = "https://receiver.invalid/t?a=%2F&b={id}"
    signatures = variant({"signatures.simple.signed": "{url}|{body}"}).signatures
    scheme, rules = signatures.simple, signatures.secret
    headers = SignatureFormat(scheme, rules).headers(["secret"], "id", NOW, BODY, url)
    line = RequestLine(method="POST", url=url)
    assert isinstance(verify(scheme, rules, ["secret"], headers, None, BODY, NOW, line), Verified)
    other = RequestLine(method="POST", url=url.replace("%2F", "/"))
    for wrong, why in ((other, "no signature"), (None, "give --url")):
        found = verify(scheme, rules, ["secret"], headers, None, BODY, NOW, wrong)
        assert isinstance(found, Unverified)
        assert why in f"{found.reason} {found.detail}"
    raw = tuple((name.encode(), value.encode()) for name, value in headers)
    assert not FastPath(scheme, rules, ["secret"], None).is_certain(raw, BODY, NOW)
    known = EndpointSignatures(
        variant({"signatures.simple.signed": "{url}|{body}"}),
        advanced=False,
        secrets=["secret"],
        url=url.replace("{id}", "1"),
    )
    headers = SignatureFormat(scheme, rules).headers(
        ["secret"], "id", NOW, BODY, url.replace("{id}", "1")
    )
    raw = tuple((name.encode(), value.encode()) for name, value in headers)
    assert known.problem(raw, BODY, NOW) is None
    assert known.problem(raw, BODY + b" ", NOW) is not None


def test_labels_may_count() -> None:
    signatures = variant({"signatures.advanced.versions": ["s0", "v{n}"]}).signatures
    scheme, rules = signatures.advanced, signatures.secret
    ((name, value),) = SignatureFormat(scheme, rules).headers(SECRETS, "id", NOW, BODY)
    assert [item.partition("=")[0] for item in value.split(",")] == ["t", "s0", "v2", "v3"]
    verified = verify(scheme, rules, SECRETS, [(name, value)], None, BODY, NOW)
    assert isinstance(verified, Verified)
    assert verified.in_order == (0, 1, 2)
    misplaced = value.replace("v3=", "v2=").replace("s0=", "v9=")
    found = verify(scheme, rules, SECRETS, [(name, misplaced)], None, BODY, NOW)
    assert isinstance(found, Verified)
    assert found.in_order == (None, 1, None)
    further = f"{value},w1=00,v04=00"
    assert verify(scheme, rules, SECRETS, [(name, further)], None, BODY, NOW).signatures == 4


@pytest.mark.parametrize("prefix_in_key", [True, False])
def test_the_prefix_of_a_secret_may_be_part_of_the_key(prefix_in_key: bool) -> None:
    answers = {
        "signatures.secret.prefix": "sec_",
        "signatures.secret.prefix_in_key": prefix_in_key,
    }
    signatures = variant(answers).signatures
    scheme, rules = signatures.simple, signatures.secret
    other = replace(rules, prefix_in_key=not prefix_in_key)
    headers = SignatureFormat(scheme, rules).headers(["sec_text"], "id", NOW, BODY)
    assert isinstance(verify(scheme, rules, ["sec_text"], headers, None, BODY, NOW), Verified)
    assert isinstance(verify(scheme, other, ["sec_text"], headers, None, BODY, NOW), Unverified)
    raw = tuple((name.encode(), value.encode()) for name, value in headers)
    assert FastPath(scheme, rules, ["sec_text"], None).is_certain(raw, BODY, NOW)
    assert not FastPath(scheme, other, ["sec_text"], None).is_certain(raw, BODY, NOW)
