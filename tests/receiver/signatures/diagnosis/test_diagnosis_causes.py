"""Every signing mistake is named, in every dialect in which it can be made."""

import base64
from dataclasses import replace

import pytest

from hookproof.receiver.signatures.diagnosis import Aspect, Diagnosis, KnownValues
from hookproof.receiver.signatures.verification import Unverified
from hookproof.spec.dialect.vocabulary import Encoding
from tests.receiver.signatures.diagnosis.mistake_catalogue import ALL
from tests.receiver.signatures.diagnosis.signing_mistakes import (
    FORMATS,
    OTHER_KEY,
    TIME,
    Encode,
    SigningMistake,
    in_base64,
    in_base64url,
    in_hex,
    signed_with,
)
from tests.receiver.signatures.signature_vectors import SignedVector

CASES = [
    pytest.param(dialect, mistake, kind, id=f"{dialect}: {kind}: {mistake.name}")
    for kind, mistakes in ALL.items()
    for mistake in mistakes
    for dialect in mistake.only
]


def run_diagnosis(vector: SignedVector, *, known: KnownValues | None = None) -> Diagnosis:
    """The diagnosis of a delivery that does not verify."""
    assert isinstance(vector.outcome(now=TIME), Unverified)
    diagnosis = vector.diagnosis(now=TIME, known=known)
    assert diagnosis is not None
    return diagnosis


def secret_of_endpoint_2(dialect: str) -> KnownValues:
    """The secret behind OTHER_KEY, written as the dialect writes secrets."""
    in_base64 = base64.b64encode(OTHER_KEY).decode()
    text = {
        "reference": OTHER_KEY.decode(),
        "contrary": f"hs_{in_base64}",
        "standard-webhooks": f"whsec_{in_base64}",
    }[dialect]
    return KnownValues(secrets={"the secret of endpoint 2": text})


@pytest.mark.parametrize(("dialect", "mistake", "kind"), CASES)
def test_a_mistake_is_named(dialect: str, mistake: SigningMistake, kind: str) -> None:
    diagnosis = run_diagnosis(signed_with(dialect, mistake), known=secret_of_endpoint_2(dialect))
    assert diagnosis.explained, diagnosis.cause
    assert mistake.expected in diagnosis.cause
    allowed = {kind, "label"} if kind == "encoding" else {kind}
    assert {deviation.aspect for deviation in diagnosis.deviations} <= allowed, diagnosis


@pytest.mark.parametrize(
    ("expected", "written", "words"),
    [
        (Encoding.BASE64_UNPADDED, in_base64, "with padding"),
        (Encoding.BASE64_UNPADDED, in_hex, "in hex where base64 without padding is expected"),
        (Encoding.BASE64URL, in_base64, "in base64 where base64url is expected"),
        (
            Encoding.BASE64URL_UNPADDED,
            in_base64,
            "in base64 where base64url without padding is expected",
        ),
        (Encoding.BASE64URL_UNPADDED, in_base64url, "with padding"),
    ],
)
def test_another_base64_is_named(expected: Encoding, written: Encode, words: str) -> None:
    mistake = SigningMistake(name="another base64", expected=words, encode=written)
    vector = signed_with("contrary", mistake)
    diagnosis = run_diagnosis(replace(vector, scheme=replace(vector.scheme, encoding=expected)))
    assert words in diagnosis.cause


def test_at_least_75_mistakes_are_tried() -> None:
    assert (
        len({(kind, mistake.name) for kind, mistakes in ALL.items() for mistake in mistakes}) >= 75
    )
    assert {dialect for dialect, *_ in (case.values for case in CASES)} == set(FORMATS)


def find_mistake(kind: str, name: str) -> SigningMistake:
    (mistake,) = [mistake for mistake in ALL[kind] if mistake.name == name]
    return mistake


@pytest.mark.parametrize(
    ("dialect", "first", "second"),
    [
        ("reference", ("body", "compact"), ("hash", "SHA-1")),
        ("reference", ("body", "compact"), ("time", "milliseconds")),
        ("reference", ("join", "colons"), ("encoding", "base64")),
        ("contrary", ("body", "compact"), ("secret", "prefix kept")),
        ("contrary", ("secret", "undecoded"), ("encoding", "hex")),
        ("contrary", ("join", "body alone"), ("hash", "SHA-1")),
        ("standard-webhooks", ("body", "line end lost"), ("secret", "prefix kept")),
        ("standard-webhooks", ("body", "spaced"), ("join", "body alone")),
        ("standard-webhooks", ("secret", "undecoded"), ("time", "milliseconds")),
        ("standard-webhooks", ("hash", "SHA-512"), ("encoding", "hex")),
    ],
    ids=str,
)
def test_two_mistakes_at_once_are_both_named(
    dialect: str, first: tuple[str, str], second: tuple[str, str]
) -> None:
    mistakes = [find_mistake(kind, name) for kind, name in (first, second)]
    diagnosis = run_diagnosis(signed_with(dialect, *mistakes))
    assert diagnosis.explained, diagnosis.cause
    assert all(mistake.expected in diagnosis.cause for mistake in mistakes), diagnosis.cause
    assert len(diagnosis.deviations) == 2


def test_the_sentence_is_the_deviations_joined() -> None:
    mistakes = find_mistake("body", "compact"), find_mistake("secret", "prefix kept")
    diagnosis = run_diagnosis(signed_with("contrary", *mistakes))
    assert diagnosis.cause == "; ".join(deviation.words for deviation in diagnosis.deviations)
    assert [deviation.aspect for deviation in diagnosis.deviations] == [Aspect.BODY, Aspect.SECRET]
