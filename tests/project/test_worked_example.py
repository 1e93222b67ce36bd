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


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy with the edits of both examples, which share no line."""
    copy = copied_sources(tmp_path_factory.mktemp("example") / "edited")
    for example in EXAMPLES:
        for edit in edits(example):
            apply(edit, copy)
    return copy


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.requirement)
def test_the_example_touches_few_files(example: Example) -> None:
    packages = {edit["path"].split("/")[1] for edit in edits(example)}
    assert packages == {"spec", "conformance", "mockserver"}
    assert len({edit["path"] for edit in edits(example)}) == example.files
    assert sum(len(edit["text"].splitlines()) for edit in edits(example)) <= example.lines


def test_the_requirements_are_listed_and_no_other_changed(tree: Path, tmp_path: Path) -> None:
    edited = list_requirements(tree, tmp_path)
    for example in EXAMPLES:
        assert edited.pop(example.requirement)["checks"] == [example.check]
    assert edited == list_requirements(ROOT, tmp_path)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.requirement)
def test_the_requirement_is_explained_with_its_mistake_and_its_fault(
    example: Example, tree: Path, tmp_path: Path
) -> None:
    (explanation,) = json.loads(
        hookproof(tree, tmp_path, "explain", example.requirement, "--json").stdout
    )
    assert len(explanation["often_wrong"]) == 1
    assert [fault["name"] for fault in explanation["convicts"]] == [example.fault]


def test_the_clean_server_passes_and_the_other_verdicts_stay(tree: Path, tmp_path: Path) -> None:
    beside = [selector for example in EXAMPLES for selector in example.beside]
    judged = check_requirements(tree, tmp_path, *beside)
    assert all(judged[example.requirement]["exercised"] > 0 for example in EXAMPLES)
    # As without the edits: the whole runs of the clean server pass all of them.
    assert {requirement["verdict"] for requirement in judged.values()} == {"pass"}


def try_faults(tree: Path, folder: Path, *options: str, expected: int = 0) -> dict[str, Any]:
    """The results of the examples' faults."""
    faults = [word for example in EXAMPLES for word in ("--fault", example.fault)]
    words = (*faults, "--dialect", "reference", "--profile", "quick", *options)
    hookproof(tree, folder, "mutants", *words, "--out", str(folder), expected=expected)
    results: dict[str, Any] = json.loads((folder / "mutants.json").read_text())
    return results


def test_the_faults_are_detected_by_the_new_checks(tree: Path, tmp_path: Path) -> None:
    results = try_faults(tree, tmp_path)
    detected = {
        fault["name"]: {
            (detection["check"], detection["requirement"])
            for trial in fault["trials"]
            for detection in trial["convictions"]
        }
        for fault in results["faults"]
    }
    for example in EXAMPLES:
        assert (example.check, example.requirement) in detected[example.fault]


def test_the_faults_are_not_detected_without_the_checks(tree: Path, tmp_path: Path) -> None:
    without = [word for example in EXAMPLES for word in ("--without", example.check)]
    results = try_faults(tree, tmp_path, *without, expected=1)
    survivors = {survivor["fault"] for survivor in results["survivors"]}
    assert survivors == {example.fault for example in EXAMPLES}
