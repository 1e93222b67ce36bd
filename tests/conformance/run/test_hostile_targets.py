"""A few commands against a few hostile targets; `make hostile` runs all against all."""

from pathlib import Path

import pytest

from tests.conformance.run.hostile_targets import COMMANDS, TARGETS, run_against

SAMPLE = (
    ("load", "never ends its body"),
    ("load", "has an encoding of its own"),
    ("load", "nests without end"),
    ("learn", "answers garbage"),
    ("doctor", "has chunks of no size"),
    ("check", "answers with escapes for terminals"),
)


@pytest.mark.parametrize(("command", "name"), SAMPLE)
def test_a_command_ends_within_bounds_whatever_a_target_does(
    tmp_path: Path, command: str, name: str
) -> None:
    ended, problems = run_against(tmp_path, TARGETS[name], command)
    assert problems == [], ended.said


def test_there_are_thirty_targets_and_the_four_commands() -> None:
    assert len(TARGETS) >= 30
    assert set(COMMANDS) == {"check", "doctor", "learn", "load"}
