"""What the documentation names exists: files, headings, commands, options, faults, targets.

It states no number of faults, checks or requirements, since such numbers change with every issue.
"""

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final

import click
import pytest

from hookproof.cli import SUBCOMMANDS, cli
from hookproof.conformance.checks import all_checks
from hookproof.conformance.mutants.hiding.hiding_servers import read_hiding_servers
from hookproof.conformance.pytest_plugin.entry import OPTIONS
from hookproof.mockserver.faults.operators.generation import OPERATORS
from hookproof.spec.catalogue import Level, load_catalogue
from tests.source_tree import PACKAGES, ROOT

PAGES: Final = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("load/**/*.md")]
)
# The changelog is history: what it names may not exist any more.
LIVING: Final = [page for page in PAGES if page.name != "CHANGELOG.md"]

LINK: Final = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE: Final = re.compile(r"```\w*\n(.*?)```|`([^`\n]+)`", re.DOTALL)
# `from hookproof import ...` is no call.
CALL: Final = re.compile(r"(?:^|(?<!from)[\s(|])hookproof ([a-z]+(?:-[a-z]+)*)([^\n|#]*)")
COUNTED: Final = re.compile(
    r"\b\d[\d,]* (?:\w+ )?"
    r"(?:faults|checks|requirements|tests|vectors|variants|mutants|gaps|trials)\b"
)

# The fault that the worked example of CONTRIBUTING.md adds.
EXAMPLE: Final = "empty_message"

LONGEST_README: Final = 200
LONGEST_ARCHITECTURE: Final = 120
WIDEST: Final = 100


def each_of(pages: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", pages, ids=lambda page: str(page.relative_to(ROOT)))


def code_in(page: Path) -> Iterator[str]:
    """Yield the blocks and spans of code; a line that ends with a backslash goes on."""
    for block, span in CODE.findall(page.read_text()):
        yield (block or span).replace("\\\n", " ")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@cache
def fault_names() -> frozenset[str]:
    command = [sys.executable, "-m", "hookproof", "serve", "--list-faults"]
    outcome = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return frozenset(re.findall(r"^ +(\w+)  ", outcome.stdout, re.MULTILINE))


@cache
def options_of(command: str) -> frozenset[str]:
    """Return the options of a subcommand, and of those within it if it is a group."""
    subcommand = cli.get_command(click.Context(cli), command)
    assert subcommand is not None
    inner = subcommand.commands.values() if isinstance(subcommand, click.Group) else ()
    return frozenset(
        word
        for each in (subcommand, *inner)
        for parameter in each.params
        for word in (*parameter.opts, *parameter.secondary_opts)
    ) | {"--help"}


@cache
def locust_options() -> frozenset[str]:
    command = [sys.executable, "-m", "locust", "--help"]
    outcome = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return frozenset(re.findall(r"--[a-z][a-z-]*", outcome.stdout))


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= LONGEST_README


def test_the_architecture_fits_on_two_screens() -> None:
    lines = (ROOT / "ARCHITECTURE.md").read_text().splitlines()
    assert len(lines) <= LONGEST_ARCHITECTURE
    assert [line for line in lines if len(line) > WIDEST] == []


@each_of(PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text()):
        if "://" not in link:
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


@each_of(LIVING)
def test_commands_and_options_exist(page: Path) -> None:
    for code in code_in(page):
        for name, rest in CALL.findall(code):
            assert name in SUBCOMMANDS, f"hookproof {name}"
            named = set(re.findall(r"(?<!\S)--[a-z][a-z-]*", rest))
            assert named <= options_of(name), f"hookproof {name}{rest}"


@each_of([page for page in LIVING if "examples" not in page.parts])  # options of docker stand there
def test_options_without_a_command_exist_somewhere(page: Path) -> None:
    options = {f"--hookproof-{name}" for name, *_ in OPTIONS} | {"--hookproof-embedded"}
    options.update(*(options_of(command) for command in SUBCOMMANDS))
    named = {code.split()[0] for code in code_in(page) if re.match(r"--[a-z]", code)}
    further = locust_options() if page.name == "locust.md" else frozenset()
    assert named <= options | further


def hiding_server_names() -> set[str]:
    """What --fault names beside --hiding."""
    return {server.name for server in read_hiding_servers().servers}


@each_of(LIVING)
def test_faults_exist(page: Path) -> None:
    for code in code_in(page):
        for pattern in re.findall(r"--fault '?([a-z_*]{2,})|\"fault\": \"(\w+)\"", code):
            name = "".join(pattern)
            known = fault_names() | hiding_server_names() | {EXAMPLE, *OPERATORS}
            assert any(fnmatchcase(fault, name) for fault in known), name


@each_of(LIVING)
def test_paths_exist(page: Path) -> None:
    names = "|".join((*PACKAGES, "tests", "docs"))
    for code in code_in(page):
        if re.fullmatch(rf"(?:{names})/[\w./-]+", code):
            assert (ROOT / code).exists(), code


@each_of(LIVING)
def test_checks_exist(page: Path) -> None:
    named = {name for code in code_in(page) for name in re.findall(r"--without (\w+)", code)}
    assert named <= {check.name for check in all_checks()}


@each_of(LIVING)
def test_make_targets_and_modules_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for code in code_in(page):
        assert set(re.findall(r"(?:^|\$ )make ([a-z-]+)", code, re.MULTILINE)) <= targets
        for module in re.findall(r"python -m (tests[\w.]+)", code):
            assert importlib.util.find_spec(module), module


@each_of(LIVING)
def test_nothing_is_counted_that_changes(page: Path) -> None:
    assert COUNTED.findall(page.read_text()) == []


def test_a_count_would_be_noticed() -> None:
    assert COUNTED.findall("All 301 faults, 1,200 tests and 12 open requirements") != []


# The reference dialect masks client keys.
NOT_APPLICABLE = {"2.5-24"}


def test_the_verdict_line_of_the_readme_is_that_of_today() -> None:
    verdict_line = re.search(r"^CONFORMS .*", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert verdict_line is not None
    requirements = load_catalogue().requirements.values()
    testable = [
        requirement.level
        for requirement in requirements
        if not requirement.untestable and requirement.id not in NOT_APPLICABLE
    ]
    for level in (Level.STATED, Level.HYGIENE):  # open ones may not apply to a dialect
        total = testable.count(level)
        assert f"{level} {total}/{total} " in verdict_line[0]
