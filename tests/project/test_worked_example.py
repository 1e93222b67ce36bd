"""The worked example of CONTRIBUTING.md, applied to a copy of the sources and run there.

A requirement with its check and its fault needs no more than these three edits, and they change
nothing else.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.source_tree import ROOT, copied_sources

pytestmark = pytest.mark.xdist_group("worked_example")

NEW_REQUIREMENT: Final = "2.1-7"
FAULT: Final = "empty_message"
EDIT: Final = re.compile(
    r"(?:At the end of|After requirement (?P<after>[\d.]+-\d+) in)\s+`(?P<path>[^`]+)`:\n\n"
    r"```\w+\n(?P<text>.*?)```",
    re.DOTALL,
)
TIMEOUT_S: Final = 300


def edits() -> list[re.Match[str]]:
    return list(EDIT.finditer((ROOT / "CONTRIBUTING.md").read_text()))


def apply(edit: re.Match[str], tree: Path) -> None:
    path = tree / edit["path"]
    source = path.read_text()
    if edit["after"] is None:
        path.write_text(f"{source}\n\n{edit['text']}")
        return
    start = source.index(f'    - id: "{edit["after"]}"')
    following = re.compile(r"^(?:    - id:|\n- section:)", re.MULTILINE).search(source, start + 1)
    assert following is not None
    path.write_text(source[: following.start()] + edit["text"] + source[following.start() :])


def hookproof(
    tree: Path, folder: Path, *arguments: str, expected: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run the command of a source tree, which comes before the installed one."""
    outcome = subprocess.run(
        [sys.executable, "-P", "-m", "hookproof", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert outcome.returncode == expected, outcome.stdout + outcome.stderr
    return outcome


def list_requirements(tree: Path, folder: Path) -> dict[str, Any]:
    requirements = json.loads(hookproof(tree, folder, "list", "--json").stdout)
    return {requirement["id"]: requirement for requirement in requirements}


def check_requirements(tree: Path, folder: Path, *selectors: str) -> dict[str, Any]:
    only = [word for selector in selectors for word in ("--only", selector)]
    out = folder / tree.name
    hookproof(tree, folder, "check", "--profile", "quick", *only, "--out", str(out))
    report = json.loads((out / "report.json").read_text())
    return {requirement["id"]: requirement for requirement in report["requirements"]}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = copied_sources(tmp_path_factory.mktemp("example") / "edited")
    for edit in edits():
        apply(edit, copy)
    return copy


def test_the_example_touches_three_files() -> None:
    assert [edit["path"].split("/")[1] for edit in edits()] == ["spec", "conformance", "mockserver"]
    assert len({edit["path"] for edit in edits()}) == 3


def test_the_requirement_is_listed_and_no_other_changed(tree: Path, tmp_path: Path) -> None:
    edited = list_requirements(tree, tmp_path)
    new = edited.pop(NEW_REQUIREMENT)
    assert new["checks"] == ["the_message_of_a_success_is_not_empty"]
    assert edited == list_requirements(ROOT, tmp_path)


def test_the_requirement_is_explained_with_its_mistake_and_its_fault(
    tree: Path, tmp_path: Path
) -> None:
    (explanation,) = json.loads(
        hookproof(tree, tmp_path, "explain", NEW_REQUIREMENT, "--json").stdout
    )
    assert len(explanation["often_wrong"]) == 1
    assert [fault["name"] for fault in explanation["convicts"]] == [FAULT]


def test_the_clean_server_passes_and_the_other_verdicts_stay(tree: Path, tmp_path: Path) -> None:
    judged = check_requirements(tree, tmp_path, "2.1-*", "4.5-*")
    assert judged[NEW_REQUIREMENT]["exercised"] > 0
    # As without the edits: the whole runs of the clean server pass all of them.
    assert {requirement["verdict"] for requirement in judged.values()} == {"pass"}


def test_the_fault_is_detected_by_the_new_check(tree: Path, tmp_path: Path) -> None:
    arguments = ("--fault", FAULT, "--dialect", "reference", "--profile", "quick")
    hookproof(tree, tmp_path, "mutants", *arguments, "--out", str(tmp_path / "mutants"))
    results = (tmp_path / "mutants" / "mutants.json").read_text()
    assert "the_message_of_a_success_is_not_empty" in results
    assert NEW_REQUIREMENT in results


def test_the_fault_is_not_detected_without_the_check(tree: Path, tmp_path: Path) -> None:
    arguments = ("--fault", FAULT, "--dialect", "reference", "--profile", "quick")
    without = ("--without", "the_message_of_a_success_is_not_empty")
    outcome = hookproof(tree, tmp_path, "mutants", *arguments, *without, expected=1)
    assert FAULT in outcome.stdout + outcome.stderr
