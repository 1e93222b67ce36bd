"""The vectors are what openssl produces, and the verifier accepts every one."""

import shutil

import pytest

from hookproof.receiver.signatures.verification import Verified
from hookproof.spec.dialect.vocabulary import Encoding, SecretForm, SigningSecrets
from tests.receiver.signatures.signature_vectors import SignedVector, file_content, vectors
from tests.receiver.signatures.vector_maker import maker, signed_by_python


def test_the_file_holds_what_openssl_signs() -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed; the vectors are made with it")
    assert [maker.signed_by_openssl(case) for case in maker.cases()] == file_content()["vectors"]


def test_python_signs_what_openssl_signs() -> None:
    assert [signed_by_python(case) for case in maker.cases()] == file_content()["vectors"]


def test_the_vectors_cover_every_format_hash_encoding_and_number_of_secrets() -> None:
    covered = {
        (v.dialect.name, v.scheme.hash, v.scheme.encoding, len(v.secrets)) for v in vectors()
    }
    assert len(vectors()) >= 40
    assert len({v.name for v in vectors()}) == len(vectors())
    assert {dialect for dialect, *_ in covered} == {"reference", "contrary", "standard-webhooks"}
    assert {(hash_, encoding) for _, hash_, encoding, _ in covered} == {
        (hash_, encoding) for hash_ in ("sha256", "sha512") for encoding in Encoding
    }
    assert {v.dialect.signatures.secret.form for v in vectors()} == set(SecretForm)
    assert {secrets for *_, secrets in covered} == {1, 2, 3}
    assert {0} < {len(v.body) for v in vectors()}
    assert max(len(v.body) for v in vectors()) >= 2**16


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector.name)
def test_every_vector_verifies_with_the_secrets_that_its_scheme_names(vector: SignedVector) -> None:
    signing = {
        SigningSecrets.NEWEST: [len(vector.secrets) - 1],
        SigningSecrets.OLDEST: [0],
        SigningSecrets.ALL_OLDEST_FIRST: range(len(vector.secrets)),
        SigningSecrets.ALL_NEWEST_FIRST: range(len(vector.secrets)),
    }[vector.scheme.secrets]
    per_second = round(1 / vector.scheme.timestamp_unit.in_seconds)
    timed = vector.scheme.timestamp_header is not None or "{timestamp}" in vector.scheme.value

    outcome = vector.outcome()

    assert isinstance(outcome, Verified), outcome
    assert outcome.secrets == tuple(signing)
    newest_first = vector.scheme.secrets is SigningSecrets.ALL_NEWEST_FIRST
    assert outcome.in_order == tuple(reversed(signing) if newest_first else signing)
    assert outcome.signatures == len(signing)
    assert outcome.timestamp == (
        pytest.approx(int(vector.timestamp * per_second) / per_second) if timed else None
    )
