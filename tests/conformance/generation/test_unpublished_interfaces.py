"""What takes the place of names that Schemathesis and Hypothesis do not publish."""

from typing import Any

import pytest
from hypothesis.internal import charmap
from hypothesis.internal.conjecture import providers
from schemathesis.generation.hypothesis import builder

from hookproof.conformance.generation.contract_requests import generate_requests
from hookproof.conformance.generation.unpublished_interfaces import (
    ignore_local_constants,
    save_codec_tables,
)
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.reader import load_dialect


def generated() -> list[dict[str, Any]]:
    document = contract_for(load_dialect("reference")).document
    return list(generate_requests(document, seed=3, examples=4))


def phases(requests: list[dict[str, Any]]) -> set[str]:
    return {each["phase"] for each in requests}


def test_without_the_function_that_runs_all_phases_there_is_fuzzing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert phases(generated()) >= {"coverage", "examples"}
    monkeypatch.delattr(builder, "create_test")
    requests = generated()
    assert phases(requests) == {"fuzzing"}
    assert {each["valid"] for each in requests} == {True, False}
    assert len({each["operation_id"] for each in requests}) == 8
    assert requests == generated()


def test_settings_that_are_unknown_leave_fuzzing_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "HypothesisTestConfig", lambda **_: None)
    assert phases(generated()) == {"fuzzing"}


def test_without_their_place_no_tables_are_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(charmap, "charmap_file")
    save_codec_tables()


def test_without_the_function_that_looks_for_them_constants_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(providers, "_get_local_constants")
    ignore_local_constants()
    assert not hasattr(providers, "_get_local_constants")
