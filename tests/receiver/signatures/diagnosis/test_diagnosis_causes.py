"""Every signing mistake is named, in every dialect in which it can be made."""

import base64

import pytest

from hookproof.receiver.signatures.diagnosis import Aspect, Diagnosis, diagnose
from hookproof.receiver.signatures.diagnosis.known_values import KnownValues
from hookproof.receiver.signatures.verification import Unverified
from tests.receiver.signatures.diagnosis.body_mistakes import BODIES
from tests.receiver.signatures.diagnosis.mistake_catalogue import (
    ALL,
    ENCODINGS,
    HASHES,
    JOINS,
    SECRETS,
    TIMES,
)
from tests.receiver.signatures.diagnosis.signing_mistakes import (
    FORMATS,
    TIME,
    SigningMistake,
    signed_with,
)
from tests.receiver.signatures.signature_vectors import SignedVector

CASES = [
    pytest.param(dialect, mistake, kind, id=f"{dialect}: {kind}: {mistake.name}")
    for kind, mistakes in ALL.items()
    for mistake in mistakes
    for dialect in mistake.only
]


def run_diagnosis(
    vector: SignedVector, *, known: KnownValues | None = None, now: float = TIME
) -> Diagnosis:
    """The diagnosis of a delivery that does not verify."""
    assert isinstance(vector.outcome(now=now), Unverified)
    rules = vector.dialect.signatures.secret
    diagnosis = diagnose(
        vector.scheme,
        rules,
        vector.secrets,
        vector.headers,
        vector.dialect.delivery.event_id_header,
        vector.body,
        now,
        known=known,
    )
    assert diagnosis is not None
    return diagnosis


def other_secrets(dialect: str) -> KnownValues:
    prefix = {"reference": "", "contrary": "hs_", "standard-webhooks": "whsec_"}[dialect]
    text = (
        "\x07" * 24 if dialect == "reference" else prefix + base64.b64encode(b"\x07" * 24).decode()
    )
    return KnownValues(secrets={"the secret of endpoint 2": text})


@pytest.mark.parametrize(("dialect", "mistake", "kind"), CASES)
def test_a_mistake_is_named(dialect: str, mistake: SigningMistake, kind: str) -> None:
    diagnosis = run_diagnosis(signed_with(dialect, mistake), known=other_secrets(dialect))
    assert diagnosis.explained, diagnosis.cause
    assert mistake.expected in diagnosis.cause
    allowed = {kind, "label"} if kind == "encoding" else {kind}
    assert {deviation.aspect for deviation in diagnosis.deviations} <= allowed, diagnosis


def test_at_least_75_mistakes_are_tried() -> None:
    assert (
        len({(kind, mistake.name) for kind, mistakes in ALL.items() for mistake in mistakes}) >= 75
    )
    assert {dialect for dialect, *_ in (case.values for case in CASES)} == set(FORMATS)


PAIRS = [
    ("reference", BODIES[0], HASHES[0]),
    ("reference", BODIES[0], TIMES[0]),
    ("reference", JOINS[2], ENCODINGS[0]),
    ("contrary", BODIES[0], SECRETS[0]),
    ("contrary", SECRETS[1], ENCODINGS[1]),
    ("contrary", JOINS[0], HASHES[0]),
    ("standard-webhooks", BODIES[13], SECRETS[0]),
    ("standard-webhooks", BODIES[1], JOINS[0]),
    ("standard-webhooks", SECRETS[1], TIMES[0]),
    ("standard-webhooks", HASHES[2], ENCODINGS[1]),
]


@pytest.mark.parametrize(
    ("dialect", "first", "second"),
    [pytest.param(*pair, id=f"{pair[0]}: {pair[1].name} and {pair[2].name}") for pair in PAIRS],
)
def test_two_mistakes_at_once_are_both_named(
    dialect: str, first: SigningMistake, second: SigningMistake
) -> None:
    diagnosis = run_diagnosis(signed_with(dialect, first, second))
    assert diagnosis.explained, diagnosis.cause
    assert first.expected in diagnosis.cause
    assert second.expected in diagnosis.cause
    assert len(diagnosis.deviations) == 2


def test_the_sentence_is_the_deviations_joined() -> None:
    diagnosis = run_diagnosis(signed_with("contrary", BODIES[0], SECRETS[0]))
    assert diagnosis.cause == "; ".join(deviation.words for deviation in diagnosis.deviations)
    assert [deviation.aspect for deviation in diagnosis.deviations] == [Aspect.BODY, Aspect.SECRET]
