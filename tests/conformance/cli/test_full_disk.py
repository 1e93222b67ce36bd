"""Commands whose disk is full show what they have found out, and name the file that is missing."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.command import DEADLINE_S, CommandResult, command_line, environment
from tests.conformance.reference_server import reference_server, write_target_file
from tests.full_disk import with_files_of
from tests.source_tree import ROOT

# Enough for a certificate, and for no report.
SPACE = 3000
MUTANTS = ("--fault", "null_message", "--dialect", "reference", "--jobs", "1")
NO_SPACE = "No usable temporary directory found in"


def with_space(folder: Path, space: int, subcommand: str, *words: str | Path) -> CommandResult:
    """Run a command none of whose files can have more than so many bytes."""
    ended = subprocess.run(
        [*with_files_of(space), *command_line(subcommand, *words)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_S,
    )
    return CommandResult(code=ended.returncode, out=ended.stdout, err=ended.stderr)


@pytest.fixture(name="target")
def _target(tmp_path: Path) -> Iterator[Path]:
    with reference_server(tmp_path, ROOT, "p1", stderr=subprocess.DEVNULL) as ready:
        yield write_target_file(tmp_path, ready["api"], "p1")


def test_what_was_learned_is_shown_where_no_file_can_be_written(
    tmp_path: Path, target: Path
) -> None:
    words = ("--target", target, "--profile", "quick", "--out", "out")
    done = with_space(tmp_path, SPACE, "learn", *words)
    assert done.code == 64, done.err
    assert done.out.splitlines()[-1].startswith("LEARNED  seen ")
    problem = "hookproof learn: out/dialect.yaml cannot be written: File too large"
    assert done.err.splitlines()[-1] == problem
    assert done.err.count("cannot be written") == 1
    assert list((tmp_path / "out").iterdir()) == []


def test_what_a_campaign_found_is_shown_where_no_file_can_be_written(tmp_path: Path) -> None:
    done = with_space(tmp_path, SPACE, "mutants", *MUTANTS, "--out", "out")
    problem = "hookproof mutants: out/mutants.json cannot be written: File too large\n"
    assert (done.code, done.err) == (64, problem)
    assert done.out.splitlines()[-1].startswith("FLAWLESS  killed 1/1 faults")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_machine_without_space_for_any_file_is_told_so_in_one_line(
    tmp_path: Path, target: Path
) -> None:
    for subcommand, words in (
        ("learn", ("--target", target)),
        ("load", ("smoke", "--target", target)),
        ("mutants", MUTANTS),
    ):
        done = with_space(tmp_path, 0, subcommand, *words)
        assert (done.code, done.out) == (64, ""), done.err
        assert NO_SPACE in done.err.splitlines()[-1]
        assert "internal error" not in done.err
