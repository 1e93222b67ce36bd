"""The worked examples of CONTRIBUTING.md, applied to copies of the sources and run there.

A requirement with its check and its fault, or a question with its gap, its answer and its row,
needs no more than these edits, and they change nothing else.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from hookproof.conformance.generation.generators import KEPT_IN
from tests.source_tree import ROOT, copied_sources

pytestmark = pytest.mark.xdist_group("worked_example")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A section of the page, what it adds, and how many files and lines that may take.

    `beside` are requirements that are judged with the new one.
    """

    section: str
    requirement: str
    fault: str
    check: str
    files: int
    lines: int
    beside: tuple[str, ...]


EXAMPLES: Final = (
    Example(
        section="Adding a requirement",
        requirement="2.1-7",
        fault="empty_message",
        check="the_message_of_a_success_is_not_empty",
        files=3,
        lines=40,
        beside=("2.1-*", "4.5-*"),
    ),
    Example(
        section="Adding a question",
        requirement="7-12",
        fault="charset_refused",
        check="requests_on_which_the_document_is_silent_are_taken_or_refused",
        files=6,
        lines=50,
        beside=("7-11", "7-12"),
    ),
)
EDIT: Final = re.compile(
    r"(?:At the end of|After (?:requirement|gap|field) (?P<after>[\w.-]+) in)\s+`(?P<path>[^`]+)`"
    r":\n\n```\w+\n(?P<text>.*?)```",
    re.DOTALL,
)
TIMEOUT_S: Final = 300


def edits(example: Example) -> list[re.Match[str]]:
    page = (ROOT / "CONTRIBUTING.md").read_text()
    start = page.index(f"## {example.section}\n")
    return list(EDIT.finditer(page, start, page.index("\n## ", start)))


def apply(edit: re.Match[str], tree: Path) -> None:
    path = tree / edit["path"]
    source = path.read_text()
    if edit["after"] is None:
        path.write_text(f"{source}\n\n{edit['text']}")
        return
    place = re.compile(rf'^( *)(?:- id: )?"?{re.escape(edit["after"])}"?(?::|$)', re.MULTILINE)
    start = place.search(source)
    assert start is not None
    # Up to what stands beside it, or to the end of its part.
    following = re.compile(rf"^(?:{start[1]}[\w-]|\n)", re.MULTILINE).search(source, start.end())
    assert following is not None
    path.write_text(source[: following.start()] + edit["text"] + source[following.start() :])


def hookproof(
    tree: Path, folder: Path, *arguments: str, expected: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run the command of a source tree, which comes before the installed one.

    What generators wrote is kept for one version of the sources, and not for an edited copy.
    """
    outcome = subprocess.run(
        [sys.executable, "-P", "-m", "hookproof", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(tree)} | ({} if tree == ROOT else {KEPT_IN: ""}),
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


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda example: example.requirement)
def example(request: pytest.FixtureRequest) -> Example:
    given: Example = request.param
    return given


@pytest.fixture(scope="module")
def tree(example: Example, tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = copied_sources(tmp_path_factory.mktemp("example") / "edited")
    for edit in edits(example):
        apply(edit, copy)
    return copy


def test_the_example_touches_few_files(example: Example) -> None:
    packages = {edit["path"].split("/")[1] for edit in edits(example)}
    assert packages == {"spec", "conformance", "mockserver"}
    assert len({edit["path"] for edit in edits(example)}) == example.files
    assert sum(len(edit["text"].splitlines()) for edit in edits(example)) <= example.lines


def test_the_requirement_is_listed_and_no_other_changed(
    example: Example, tree: Path, tmp_path: Path
) -> None:
    edited = list_requirements(tree, tmp_path)
    new = edited.pop(example.requirement)
    assert new["checks"] == [example.check]
    assert edited == list_requirements(ROOT, tmp_path)


def test_the_requirement_is_explained_with_its_mistake_and_its_fault(
    example: Example, tree: Path, tmp_path: Path
) -> None:
    (explanation,) = json.loads(
        hookproof(tree, tmp_path, "explain", example.requirement, "--json").stdout
    )
    assert len(explanation["often_wrong"]) == 1
    assert [fault["name"] for fault in explanation["convicts"]] == [example.fault]


def test_the_clean_server_passes_and_the_other_verdicts_stay(
    example: Example, tree: Path, tmp_path: Path
) -> None:
    judged = check_requirements(tree, tmp_path, *example.beside)
    assert judged[example.requirement]["exercised"] > 0
    # As without the edits: the whole runs of the clean server pass all of them.
    assert {requirement["verdict"] for requirement in judged.values()} == {"pass"}


def test_the_fault_is_detected_by_the_new_check(
    example: Example, tree: Path, tmp_path: Path
) -> None:
    arguments = ("--fault", example.fault, "--dialect", "reference", "--profile", "quick")
    hookproof(tree, tmp_path, "mutants", *arguments, "--out", str(tmp_path / "mutants"))
    results = (tmp_path / "mutants" / "mutants.json").read_text()
    assert example.check in results
    assert example.requirement in results


def test_the_fault_is_not_detected_without_the_check(
    example: Example, tree: Path, tmp_path: Path
) -> None:
    arguments = ("--fault", example.fault, "--dialect", "reference", "--profile", "quick")
    without = ("--without", example.check)
    outcome = hookproof(tree, tmp_path, "mutants", *arguments, *without, expected=1)
    assert example.fault in outcome.stdout + outcome.stderr
