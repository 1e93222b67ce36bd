"""Deliveries that are signed with private keys verify by the public ones (section 6, item 3)."""

import base64
from dataclasses import replace

import pytest

from hookproof.mockserver.delivery.attempt.signing import SignatureFormat, SigningError
from hookproof.receiver.signatures.diagnosis import KnownValues, diagnose
from hookproof.receiver.signatures.fast_path import FastPath
from hookproof.receiver.signatures.verification import Unverified, Verified, verify
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Algorithm
from tests.spec.dialect_variants import variant
from tests.spec.signing_dialects import (
    ALGORITHMS,
    SEEDS,
    own_key_answers,
    own_key_dialect,
    seed_secret,
    seeds_dialect,
)

AT = 1_800_000_000.0
BODY = b'{"n": 1, "text": "a b"}'
Headers = tuple[tuple[str, str], ...]
# RFC 8032, section 7.1, test 2: the seed, the message and the signature.
RFC_SEED = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"
RFC_MESSAGE = bytes.fromhex("72")
RFC_SIGNATURE = (
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
)


def signed(dialect: Dialect, *secrets: str, advanced: bool = True) -> Headers:
    scheme = dialect.signatures.scheme(advanced=advanced)
    return SignatureFormat(scheme, dialect.signatures.secret).headers(secrets, "event", AT, BODY)


def verdict(
    dialect: Dialect, headers: Headers, *secrets: str, body: bytes = BODY, advanced: bool = True
) -> Verified | Unverified:
    signatures = dialect.signatures
    return verify(
        signatures.scheme(advanced=advanced), signatures.secret, secrets, headers, None, body, AT
    )


def cause(dialect: Dialect, headers: Headers, *secrets: str, body: bytes) -> str:
    signatures = dialect.signatures
    found = diagnose(signatures.advanced, signatures.secret, secrets, headers, None, body, AT)
    assert found is not None
    return found.cause


@pytest.mark.parametrize("advanced", [False, True])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_service_signs_with_its_own_key_whatever_the_secret(
    algorithm: Algorithm, advanced: bool
) -> None:
    dialect = own_key_dialect(algorithm)
    headers = signed(dialect, "of the endpoint", advanced=advanced)
    assert isinstance(verdict(dialect, headers, advanced=advanced), Verified)
    assert isinstance(verdict(dialect, headers, "another", advanced=advanced), Verified)
    tampered = verdict(dialect, headers, "another", body=BODY + b" ", advanced=advanced)
    assert isinstance(tampered, Unverified)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_signature_by_another_key_is_refused(algorithm: Algorithm) -> None:
    dialect = own_key_dialect(algorithm)
    headers = signed(dialect, "of the endpoint")
    foreign = Algorithm.RSA if "rsa" not in algorithm else Algorithm.ED25519
    other = own_key_dialect(foreign)
    with_other_key = replace(
        dialect.signatures.advanced, public_key=other.signatures.advanced.public_key
    )
    outcome = verify(with_other_key, dialect.signatures.secret, ("any",), headers, None, BODY, AT)
    assert isinstance(outcome, Unverified)


def test_a_secret_that_is_a_seed_signs_as_the_rfc_says() -> None:
    dialect = variant({**SEEDS, "signatures.simple.encoding": "hex"})
    secret = "whsk_" + base64.b64encode(bytes.fromhex(RFC_SEED)).decode()
    scheme = dialect.signatures.simple
    headers = SignatureFormat(scheme, dialect.signatures.secret).headers(
        [secret], "event", AT, RFC_MESSAGE
    )
    assert dict(headers) == {scheme.header: RFC_SIGNATURE}
    outcome = verify(scheme, dialect.signatures.secret, [secret], headers, None, RFC_MESSAGE, AT)
    assert isinstance(outcome, Verified)


def test_each_living_secret_signs_and_is_told_from_the_others() -> None:
    dialect, (old, new, other) = seeds_dialect(), map(seed_secret, "abc")
    outcome = verdict(dialect, signed(dialect, old, new), other, new, old)
    assert isinstance(outcome, Verified)
    assert (outcome.secrets, outcome.in_order) == ((1, 2), (2, 1))
    assert isinstance(verdict(dialect, signed(dialect, old), other), Unverified)


@pytest.mark.parametrize("secret", ["whsk_c2hvcnQ=", "whsk_no base64", "without"])
def test_a_secret_that_is_no_seed_verifies_and_signs_nothing(secret: str) -> None:
    dialect = seeds_dialect()
    outcome = verdict(dialect, signed(dialect, seed_secret()), secret)
    assert isinstance(outcome, Unverified)
    assert outcome.reason == "secret not usable"
    with pytest.raises(SigningError):
        signed(dialect, "whsk_c2hvcnQ=")


@pytest.mark.parametrize("dialect", [own_key_dialect(Algorithm.ED25519), seeds_dialect()])
def test_the_cause_of_a_bad_signature_is_found(dialect: Dialect) -> None:
    headers, secret = signed(dialect, seed_secret()), seed_secret()
    reserialised = b'{"n":1,"text":"a b"}'
    assert "compact" in cause(dialect, headers, secret, body=reserialised)
    assert cause(dialect, headers, secret, body=BODY + b"\n").startswith("signed ")


def test_the_seed_of_another_endpoint_is_named() -> None:
    dialect, signatures = seeds_dialect(), seeds_dialect().signatures
    found = diagnose(
        signatures.advanced,
        signatures.secret,
        [seed_secret("a")],
        signed(dialect, seed_secret("b")),
        None,
        BODY,
        AT,
        known=KnownValues(secrets={"the secret of endpoint 'b'": seed_secret("b")}),
    )
    assert found is not None
    assert found.cause == "signed with the secret of endpoint 'b'"


@pytest.mark.parametrize("dialect", [own_key_dialect(Algorithm.ED25519), seeds_dialect()])
def test_the_fast_path_leaves_them_to_the_verifier(dialect: Dialect) -> None:
    headers, signatures = signed(dialect, seed_secret()), dialect.signatures
    raw = [(name.encode(), value.encode()) for name, value in headers]
    fast_path = FastPath(signatures.advanced, signatures.secret, [seed_secret()], None)
    assert not fast_path.is_certain(raw, BODY, AT)


def test_without_its_private_key_the_reference_server_cannot_sign() -> None:
    answers = own_key_answers(Algorithm.ED25519)
    dialect = variant({name: each for name, each in answers.items() if "private" not in name})
    with pytest.raises(SigningError, match="private_key"):
        signed(dialect, "any")
