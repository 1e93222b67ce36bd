"""The form of a shown secret is examined in clear, and judged when the secret is masked."""

import base64
from dataclasses import replace

import pytest

from hookproof.conformance.model.evidence import Evidence, NotExaminedError, Observation
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.round_trip import MinimalEndpoints
from hookproof.conformance.observations.shown_secret import (
    is_generated,
    secret_values,
    shows_credential,
)
from hookproof.conformance.results.records.evidence_records import evidence_json, evidence_of
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.run.intake import Intake
from hookproof.conformance.subjects.secrets.evidence import RollAnswer
from tests.conformance.canned_evidence import context, exchange, observation, verdict
from tests.conformance.checks.api.example import created, endpoint, secret

GENERATED, SHORT = "generated-secret-0123456789-0123456789-0123456789", "short-1"


def masked(evidence: Observation) -> Observation:
    dialect = context().dialect
    written: list[Evidence] = []
    Intake(Mask((), dialect), dialect, written.append).take(evidence)
    (masked_evidence,) = written
    assert isinstance(masked_evidence, Observation)
    return masked_evidence


def minimal(value: str) -> MinimalEndpoints:
    return observation(MinimalEndpoints, created({"secrets": [secret(value=value)]}))


def rolled(value: str) -> RollAnswer:
    shown = endpoint(secrets=[secret(value=value)])
    return observation(
        RollAnswer,
        exchange("roll", "expireEndpointSecret", data=shown, request={"expiration": 1}),
        given=(),
    )


@pytest.mark.parametrize(
    ("requirement", "evidence", "expected"),
    [
        ("2.3-13", minimal(GENERATED), Verdict.PASS),
        ("2.3-13", minimal(SHORT), Verdict.FAIL),
        ("4.3-19", rolled(GENERATED), Verdict.PASS),
        ("4.3-19", rolled(SHORT), Verdict.FAIL),
    ],
)
def test_the_form_of_a_secret_is_judged_after_it_was_masked(
    requirement: str, evidence: Observation, expected: Verdict
) -> None:
    masked_evidence = masked(evidence)
    written = str(evidence_json(masked_evidence))
    assert GENERATED not in written
    assert SHORT not in written
    assert "secret#1" in written
    assert verdict(requirement, masked_evidence) is expected
    assert evidence_of(evidence_json(masked_evidence)) == masked_evidence


@pytest.mark.parametrize(
    ("requirement", "evidence"),
    [
        ("2.3-13", minimal(GENERATED)),
        ("4.3-19", rolled(GENERATED)),
    ],
)
def test_the_form_of_a_secret_is_not_judged_by_other_rules_than_it_was_examined_by(
    requirement: str, evidence: Observation
) -> None:
    other = replace(context("standard-webhooks"), examined_by=context().dialect)
    with pytest.raises(NotExaminedError):
        verdict(requirement, masked(evidence), other)


def test_a_secret_has_the_prefix_the_form_and_the_length_of_its_dialect() -> None:
    as_text = context("reference").dialect.signatures.secret
    assert is_generated("s" * as_text.generated_bytes, as_text)
    assert not is_generated("s" * (as_text.generated_bytes - 1), as_text)
    as_base64 = replace(context("standard-webhooks").dialect.signatures.secret, generated_bytes=24)
    assert is_generated(f"{as_base64.prefix}{'A' * 32}", as_base64)
    assert not is_generated("A" * 32, as_base64)
    assert not is_generated(f"{as_base64.prefix}{'A' * 28}", as_base64)
    assert not is_generated(f"{as_base64.prefix}not*base64", as_base64)


def test_a_credential_is_shown_where_a_text_contains_it_but_not_a_longer_name() -> None:
    shown = exchange(data={"secrets": [{"value": "secret#12"}], "note": "it was secret#3, once"})
    assert shows_credential(shown, "secret#12")
    assert shows_credential(shown, "secret#3")
    assert not shows_credential(shown, "secret#1")
    assert not shows_credential(exchange(body=b"secret#1"), "secret#1"), "it is not JSON"


@pytest.mark.parametrize(
    "data",
    [
        {"secrets": [{"value": GENERATED}]},
        {"note": f"it was {GENERATED}, once"},
        {"note": base64.b64encode(f"it was {GENERATED}".encode()).decode()},
        {GENERATED: 1},
    ],
)
def test_a_credential_that_can_be_nothing_else_is_shown_anywhere(data: object) -> None:
    assert shows_credential(exchange(data=data), GENERATED)
    assert not shows_credential(exchange(data=data), f"another-{GENERATED}")


def test_one_that_may_be_any_value_is_shown_where_a_credential_belongs_alone() -> None:
    assert shows_credential(exchange(data={"secret": "name"}), "name")
    assert not shows_credential(exchange(data={"name": "name", "note": "names"}), "name")


def test_values_are_read_as_far_as_they_are_texts() -> None:
    shown = exchange(data={"secrets": [{"value": "one"}, {"value": 2}, {"value": ""}, "odd"]})
    assert secret_values(shown) == ["one"]
    assert secret_values(exchange(data={"secrets": {"value": "one"}})) == []
