"""Checks of client assertions, which are signed here by keys of both kinds."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from joserfc import jws, jwt
from joserfc.jwk import ECKey, RSAKey

from hookproof.conformance.model.evidence import NotExaminedError, Observation
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.credentials.evidence import AssertionGrant
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_evidence import NOW, verdict
from tests.conformance.subjects.credentials.canned_oauth2 import (
    GIVEN,
    authorized,
    token_request,
    with_oauth2,
)

PASS, FAIL = Verdict.PASS, Verdict.FAIL
ELLIPTIC = ECKey.generate_key("P-256", {"kid": "key-1"})
RSA = RSAKey.generate_key(2048, {"kid": "key-1"})
ALGORITHMS = ["ES256", "RS256", "RS512", "PS256"]


def assertion(
    key: ECKey | RSAKey = ELLIPTIC, alg: str = "ES256", kid: str | None = "key-1", **claims: Any
) -> str:
    """A valid assertion, except for these claims; None leaves one out."""
    members = {
        "iss": "them",
        "sub": "us",
        "aud": GIVEN["audience"],
        "exp": int(NOW) + 60,
        "jti": "1",
        **claims,
    }
    header = {"alg": alg, **({} if kid is None else {"kid": kid})}
    present = {name: value for name, value in members.items() if value is not None}
    return jwt.encode(header, present, key, algorithms=ALGORITHMS)


def requested(token: str, **further: Any) -> ReceivedDelivery:
    return token_request(f"client_assertion={token}", **further)


def granted(
    *requests: ReceivedDelivery, key: ECKey | RSAKey = ELLIPTIC, alg: str = "ES256"
) -> Observation:
    jwk = key.as_dict(private=True)
    where = authorized(issuer="them", subject="us", signing_algorithm=alg, signing_key=jwk)
    return with_oauth2(AssertionGrant, where=where, requests=requests)


def verdict_on(
    requirement: str, token: str, key: ECKey | RSAKey = ELLIPTIC, alg: str = "ES256"
) -> Verdict | None:
    """The verdict on one request with this assertion; None if there is none."""
    return verdict(requirement, granted(requested(token), key=key, alg=alg))


SIGNED_BY = {"ES256": ELLIPTIC, "RS256": RSA, "RS512": RSA, "PS256": RSA}


@pytest.mark.parametrize("alg", SIGNED_BY)
def test_an_assertion_by_the_signing_key_passes(alg: str) -> None:
    key = SIGNED_BY[alg]
    valid = assertion(key, alg)
    assert verdict_on("2.5-8", valid, key, alg) is PASS
    assert verdict_on("2.5-19", valid, key, alg) is PASS


@pytest.mark.parametrize(
    "token",
    [
        assertion(ECKey.generate_key("P-256")),
        assertion(RSA, "RS256"),
        assertion(sub="you"),
        assertion(iss=None),
        assertion(sub=["us"]),
        "none",
        "a.b.c",
        "W10.W10.W10",
    ],
    ids=[
        "another key",
        "another algorithm",
        "another subject",
        "no issuer",
        "a list as subject",
        "no parts",
        "no base64",
        "no object",
    ],
)
def test_an_assertion_by_another_key_or_about_another_subject_fails(token: str) -> None:
    assert verdict_on("2.5-8", token) is FAIL


def test_a_signature_in_der_is_none() -> None:
    """RFC 7518, section 3.4: the two numbers stand side by side."""
    signed = assertion().rpartition(".")[0]
    private = ELLIPTIC.private_key
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    der = private.sign(signed.encode(), ec.ECDSA(hashes.SHA256()))
    text = base64.urlsafe_b64encode(der).rstrip(b"=").decode()
    assert verdict_on("2.5-8", f"{signed}.{text}") is FAIL


def test_an_assertion_with_another_algorithm_than_the_given_one_fails() -> None:
    for alg in ("RS512", "PS256"):
        assert verdict_on("2.5-19", assertion(RSA, alg), RSA, "RS256") is FAIL


def test_an_assertion_that_names_another_key_or_none_fails() -> None:
    for kid, expected in (("key-1", PASS), ("key-2", FAIL), (None, FAIL)):
        assert verdict_on("2.5-20", assertion(kid=kid)) is expected


@pytest.mark.parametrize(
    ("audience", "expected"),
    [
        (GIVEN["audience"], PASS),
        (GIVEN["url"], PASS),
        ("https://tokens.invalid", PASS),
        ("https://tokens.invalid/path/", PASS),
        (["x", GIVEN["url"]], PASS),
        ("https://elsewhere.invalid/path/token", FAIL),
        ("http://tokens.invalid/path/token", FAIL),
        ("https://tokens.invalid/other", FAIL),
        ("me", FAIL),
        ([], FAIL),
        (None, FAIL),
    ],
)
def test_an_assertion_is_for_the_audience_or_the_token_server(
    audience: Any, expected: Verdict
) -> None:
    assert verdict_on("2.5-21", assertion(aud=audience)) is expected


@pytest.mark.parametrize(
    ("exp", "expected"),
    [
        (NOW + 60, PASS),
        (NOW + 86_400, PASS),
        (NOW - 30, PASS),  # of a clock that is behind
        (NOW - 3600, FAIL),
        (NOW * 1000, FAIL),
        (10**400, FAIL),
        (None, FAIL),
    ],
)
def test_an_assertion_expires_soon_but_not_before_it_was_sent(
    exp: float | None, expected: Verdict
) -> None:
    text = token_with_claims({"exp": exp} if exp is not None else {})
    assert verdict_on("2.5-22", text) is expected


def token_with_claims(claims: dict[str, Any]) -> str:
    """An assertion whose claims no library has looked at."""
    return jws.serialize_compact({"alg": "ES256"}, json.dumps(claims).encode(), ELLIPTIC)


def renewed(first: dict[str, Any], second: dict[str, Any], **further: Any) -> Observation:
    return granted(
        requested(assertion(**first), **further), requested(assertion(**second), at=NOW + 3)
    )


def test_assertions_with_a_jti_of_their_own_pass() -> None:
    assert verdict("2.5-23", renewed({"jti": "1"}, {"jti": "2"})) is PASS


def test_assertions_with_the_same_jti_or_none_fail() -> None:
    assert verdict("2.5-23", renewed({"jti": "1"}, {"jti": "1"})) is FAIL
    assert verdict("2.5-23", renewed({"jti": None}, {"jti": "1"})) is FAIL


def test_a_request_that_a_late_machine_noticed_after_its_answer_is_not_compared() -> None:
    repeated = replace(renewed({"jti": "1"}, {"jti": "1"}), late_s=5.0)
    with pytest.raises(NotExaminedError, match="this machine was late by 5000 ms"):
        verdict("2.5-23", repeated)
    distinct = replace(renewed({"jti": "1"}, {"jti": "2"}), late_s=5.0)
    assert verdict("2.5-23", distinct) is PASS


def test_a_request_that_is_repeated_for_want_of_an_answer_is_not_compared() -> None:
    repeated = renewed({"jti": "1"}, {"jti": "1"}, completed_after=None)
    with pytest.raises(NotExaminedError, match="only one"):
        verdict("2.5-23", repeated)


@pytest.mark.parametrize("requirement", ["2.5-19", "2.5-20", "2.5-21", "2.5-22", "2.5-23"])
def test_what_the_key_did_not_sign_is_judged_no_further(requirement: str) -> None:
    other = assertion(ECKey.generate_key("P-256"), kid=None, aud=None, exp=None, jti=None)
    assert verdict(requirement, granted(requested(other))) is None
    assert verdict(requirement, granted()) is None
