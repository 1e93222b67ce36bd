"""Plain schemathesis beside the suites: it is really run, and what it finds is kept as it comes."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from hookproof.conformance.mutants import schemathesis_baseline as stock
from hookproof.conformance.mutants.campaign import Settings, docket
from hookproof.conformance.mutants.catalogue import Spoken
from hookproof.conformance.mutants.schemathesis_baseline import (
    compare,
    record_stock,
    recorded_stock,
)
from hookproof.process.exit_codes import CommandError


def test_each_result_is_kept_beside_those_before(tmp_path: Path) -> None:
    path = tmp_path / "stock.json"
    assert recorded_stock(path) is None
    record_stock({"one": ["old"], "two": []}, path)
    record_stock({"one": ["new"]}, path)
    assert recorded_stock(path) == {"one": ["new"], "two": []}


def test_what_it_finds_in_a_faulty_server_only_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stock, "EXAMPLES", 1)
    told: dict[str, list[str]] = {}
    asked = docket(Settings(patterns=("created_is_ok",), dialects=("reference",), jobs=1))
    compare(asked, lambda name, found: told.update({name: list(found)}))
    assert list(told) == ["clean", "created_is_ok"]
    assert told["created_is_ok"]
    assert not set(told["created_is_ok"]) & set(told["clean"])


def test_a_run_that_does_not_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stock, "ENDS_WITHIN_S", 0.0)
    asked = docket(Settings(patterns=("created_is_ok",), dialects=("reference",), jobs=1))
    with pytest.raises(CommandError, match="did not end within"):
        compare(asked, lambda _name, _found: None)


def test_each_server_is_held_against_the_clean_one_of_its_dialect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def findings(speaking: Spoken, deviations: Sequence[str], _seed: int) -> set[str]:
        usual = speaking.name if speaking.name == "contrary" else "reference"
        return {f"usual under {usual}", *(["found"] if deviations else [])}

    monkeypatch.setattr(stock, "_findings", findings)
    told: dict[str, Sequence[str]] = {}
    names = ("created_is_ok", "event_type_in_capitals", "further_members", "dropping")
    compare(docket(Settings(patterns=names)), told.__setitem__)
    assert told == {
        "clean": ["usual under reference"],
        "created_is_ok": ["found"],
        "further_members": ["found"],
        "dropping": [],
        "clean under contrary": ["usual under contrary"],
        "event_type_in_capitals": ["found"],
    }
