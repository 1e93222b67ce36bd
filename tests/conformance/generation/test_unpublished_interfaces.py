"""What takes the place of names that Schemathesis and Hypothesis do not publish."""

import asyncio
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from hypothesis.internal import charmap
from hypothesis.internal.conjecture import providers
from schemathesis.generation.hypothesis import builder

from hookproof.conformance.generation.contract_requests import generate_requests
from hookproof.conformance.generation.generators import KEPT_IN, RequestGenerators
from hookproof.conformance.generation.unpublished_interfaces import (
    ignore_local_constants,
    save_codec_tables,
    why_only_fuzzing,
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
    assert why_only_fuzzing() is None
    monkeypatch.delattr(builder, "create_test")
    requests = generated()
    assert phases(requests) == {"fuzzing"}
    assert {each["valid"] for each in requests} == {True, False}
    assert len({each["operation_id"] for each in requests}) == 8
    assert requests == generated()
    assert "create_test" in str(why_only_fuzzing())


def test_settings_that_are_unknown_leave_fuzzing_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*, project: object, modes: object) -> None: ...

    monkeypatch.setattr(builder, "HypothesisTestConfig", unknown)
    assert phases(generated()) == {"fuzzing"}
    assert "'settings'" in str(why_only_fuzzing())


def test_a_type_error_of_another_cause_is_not_taken_for_another_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*, operation: object, test_func: object, config: object) -> None:
        raise TypeError("of our own")

    monkeypatch.setattr(builder, "create_test", fail)
    with pytest.raises(TypeError, match="of our own"):
        generated()


def test_that_there_is_only_fuzzing_is_said_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`sitecustomize` is imported first in each process, as if another version were installed."""
    (tmp_path / "sitecustomize.py").write_text(
        "from schemathesis.generation.hypothesis import builder\ndel builder.create_test\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delenv(KEPT_IN, raising=False)

    async def collect() -> set[str]:
        document = contract_for(load_dialect("reference")).document
        async with RequestGenerators() as generators:
            requests = generators.requests(document, seed=3, examples=4)
            return {each.phase async for each in requests}

    assert asyncio.run(collect()) == {"fuzzing"}
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"hookproof: Schemathesis {version('schemathesis')} has no phases")
    assert line.endswith("there is less evidence")


def test_without_their_place_no_tables_are_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(charmap, "charmap_file")
    save_codec_tables()


def test_without_the_function_that_looks_for_them_constants_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(providers, "_get_local_constants")
    ignore_local_constants()
    assert not hasattr(providers, "_get_local_constants")
