"""The corpus of `hookproof vectors` fits its schema, and verifiers agree with its verdicts."""

import base64
import importlib
import json
import math
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import standardwebhooks.webhooks
from jsonschema import Draft202012Validator

from hookproof.receiver.signatures.signed_message import Reason
from hookproof.receiver.signatures.verification import Unverified, verify
from hookproof.receiver.vectors.corpus import (
    build_corpus,
    corpus_document,
    corpus_schema,
    good_vectors,
)
from hookproof.receiver.vectors.vector import Vector
from tests.receiver.receiver_process import run
from tests.receiver.signatures.signature_vectors import dialect
from tests.spec.dialect_variants import ANSWERED

CORPUS = build_corpus()

# Its templates are those of the reference dialect, under another name of the header.
SIGNS_AS_ANOTHER = {"convoy"}


def reason_of(vector: Vector) -> Reason | None:
    rules = dialect(vector.dialect).signatures.secret
    outcome = verify(
        vector.scheme,
        rules,
        vector.secrets,
        vector.headers,
        vector.event_id_header,
        vector.body,
        vector.now,
    )
    return outcome.reason if isinstance(outcome, Unverified) else None


def test_our_verifier_gets_every_vector_right() -> None:
    wrong = {
        vector.name: reason_of(vector)
        for vector in CORPUS
        if reason_of(vector) is not vector.reason
    }
    assert wrong == {}


def test_there_are_well_over_eighty_vectors_with_names_of_their_own() -> None:
    counts = Counter((vector.dialect, vector.reason is None) for vector in CORPUS)
    assert len({vector.name for vector in CORPUS}) == len(CORPUS)
    dialects = set(ANSWERED) - SIGNS_AS_ANOTHER
    assert {dialect for dialect, _ in counts} == dialects
    assert all(
        counts[dialect, False] >= 50 and counts[dialect, True] >= 25 for dialect in dialects
    ), counts


def test_every_reason_of_the_verifier_has_a_vector() -> None:
    assert {vector.reason for vector in CORPUS} == {*Reason, None}


def test_each_bad_vector_differs_from_the_good_ones() -> None:
    good = {(v.scheme, v.headers, v.body, v.secrets, v.now) for v in CORPUS if v.reason is None}
    assert not [
        v.name
        for v in CORPUS
        if v.reason and (v.scheme, v.headers, v.body, v.secrets, v.now) in good
    ]


def test_what_is_printed_agrees_with_its_schema() -> None:
    Draft202012Validator.check_schema(corpus_schema())
    document = json.loads(json.dumps(corpus_document(CORPUS)))
    assert list(Draft202012Validator(corpus_schema()).iter_errors(document)) == []
    broken = {**document, "vectors": [{**document["vectors"][0], "expect": "reject"}]}
    assert list(Draft202012Validator(corpus_schema()).iter_errors(broken)) != []


def test_a_printed_vector_holds_all_that_a_verifier_needs() -> None:
    for vector, shown in zip(CORPUS, corpus_document(CORPUS)["vectors"], strict=True):  # type: ignore[call-overload]
        assert base64.b64decode(shown["body_b64"]) == vector.body
        assert tuple(map(tuple, shown["headers"])) == vector.headers
        assert (shown["expect"] == "accept") is (vector.reason is None)
        assert shown["scheme"]["header"] == vector.scheme.header


def accepted_by(package: Any, vector: Vector, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a package accepts a vector with any of its secrets, at the vector's time."""

    class AtTheTime(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "AtTheTime":
            return cls.fromtimestamp(vector.now, tz)

    monkeypatch.setattr(standardwebhooks.webhooks, "datetime", AtTheTime)
    for secret in vector.secrets:
        try:
            checker, headers = package.Webhook(secret), dict(reversed(vector.headers))
            if package is standardwebhooks.webhooks:
                checker.verify(vector.body, headers, json_parse=False)
            else:
                checker.verify(vector.body, headers)
        except Exception:  # noqa: BLE001, S112 - some of its refusals are other exceptions than its own
            continue
        return True
    return False


# svix takes a second to import, which the collection of all tests need not wait for.
@pytest.mark.parametrize("name", ["standardwebhooks", "svix"])
def test_where_other_verifiers_decide_otherwise_the_notes_say_so(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = importlib.import_module(f"{name}.webhooks")
    graded = [vector for vector in CORPUS if vector.dialect == "standard-webhooks"]
    differing = {
        vector.name.rpartition(": ")[2]
        for vector in graded
        if accepted_by(package, vector, monkeypatch) is not (vector.reason is None)
    }
    noted = {
        vector.name.rpartition(": ")[2]
        for vector in graded
        if any("for Python" in note for note in vector.notes)
    }
    assert len(graded) >= 100
    assert differing == noted


def test_the_command_prints_the_corpus_of_a_dialect(tmp_path: Path) -> None:
    completed = run("vectors", "--dialect", "standard-webhooks")
    assert completed.returncode == 0
    assert {vector["dialect"] for vector in json.loads(completed.stdout)["vectors"]} == {
        "standard-webhooks"
    }
    own = tmp_path / "ours.yaml"
    own.write_text("extends: standard-webhooks\nname: ours\nsummary: Ours.\n")
    assert run("vectors", "--dialect", str(own)).stdout == completed.stdout
    own.write_text(own.read_text() + "signatures: {simple: {header: Other}}\n")
    refused = run("vectors", "--dialect", str(own))
    assert (refused.returncode, refused.stdout) == (64, "")
    assert "there are vectors for" in refused.stderr


def test_the_command_prints_everything_and_its_schema() -> None:
    assert len(json.loads(run("vectors").stdout)["vectors"]) == len(CORPUS)
    assert json.loads(run("vectors", "--schema").stdout) == corpus_schema()
    assert len(good_vectors()) < len(CORPUS)
    assert all(
        math.isfinite(vector.now) and datetime.fromtimestamp(vector.now, UTC) for vector in CORPUS
    )
