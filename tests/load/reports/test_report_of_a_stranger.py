"""Reports of load runs that anybody may have written are compared, or refused in one line."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookproof.load.figures import FIGURES
from hookproof.process.exit_codes import ExitCode
from tests.conformance.cli.test_hostile_run_files import HOSTILE, ended

FIRST = next(iter(FIGURES))


def report(**changes: Any) -> dict[str, Any]:
    figures = dict.fromkeys(FIGURES, 1.5)
    return {
        "profile": "smoke",
        "verdict": "pass",
        "target": "http://target.invalid",
        "started_at": "2026-11-29T10:00:00+00:00",
        "figures": figures,
        **changes,
    }


def compared(folder: Path, *, changed: dict[str, Any]) -> Any:
    for name, content in (("a", report()), ("b", changed)):
        (folder / name).mkdir()
        (folder / name / "report.json").write_text(json.dumps(content))
    return ended("load", "compare", folder / "a", folder / "b")


def test_two_reports_are_compared(tmp_path: Path) -> None:
    done = compared(tmp_path, changed=report(profile=HOSTILE))
    assert (done.code, list(done.problems)) == (ExitCode.OK, [])
    assert "\\x1b]0;owned" in done.out


@pytest.mark.parametrize(
    "changes",
    [
        {"profile": None},
        {"verdict": 7},
        {"verdict": ["x"]},
        {"figures": []},
        *({"figures": {FIRST: value}} for value in (HOSTILE, True, 10**4000, 1e400, [], {})),
    ],
    ids=lambda changes: str(changes)[:30],
)
def test_what_cannot_be_compared_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    done = compared(tmp_path, changed=report(**changes))
    assert (done.code, list(done.problems)) == (ExitCode.USAGE, [])
    assert "is not a report of a load run" in done.err


@pytest.mark.parametrize(
    "changes",
    [
        {"target": HOSTILE},
        {"started_at": HOSTILE},
        {"started_at": "9999-12-31T23:59:59-23:59"},
        {"started_at": 10**300},
        {"rate": HOSTILE},
        {"verdict": HOSTILE},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_a_trend_shows_it_or_says_why_not(changes: dict[str, Any], tmp_path: Path) -> None:
    compared(tmp_path, changed=report(**changes))
    for words in ((), ("--format", "json")):
        done = ended("trend", tmp_path, *words)
        assert (done.code, list(done.problems)) == (ExitCode.OK, [])
