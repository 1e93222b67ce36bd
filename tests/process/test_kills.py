"""A few kills at fixed moments; `make kills` makes 100 at random ones."""

import signal
from pathlib import Path

import pytest

from tests.process.kills import GRACE_S, Stopped, own_code, run_kills

SEED = 3


def test_commands_that_are_stopped_leave_nothing_behind_and_tell_what_they_hold(
    tmp_path: Path,
) -> None:
    # check, load, learn, mutants, serve, receive, and check and load again
    order = (
        signal.SIGTERM,
        signal.SIGHUP,
        signal.SIGINT,
        signal.SIGHUP,
        signal.SIGTERM,
        signal.SIGINT,
        signal.SIGKILL,
        signal.SIGKILL,
    )
    problems, codes = run_kills(tmp_path, len(order), SEED, order)
    assert problems == []
    assert codes.total() == len(order)


@pytest.mark.parametrize(
    ("code", "after_s", "is_lost"),
    [
        (0, GRACE_S + 1, True),
        (1, GRACE_S + 1, True),
        (0, GRACE_S - 1, False),
        (0, None, False),
        (3, GRACE_S + 1, False),
        (130, GRACE_S + 1, False),
        (-signal.SIGTERM, GRACE_S + 1, False),
    ],
)
def test_a_command_that_goes_on_after_a_signal_has_lost_it(
    tmp_path: Path, code: int, after_s: float | None, *, is_lost: bool
) -> None:
    stopped = Stopped(number=signal.SIGTERM, code=code, out=tmp_path, after_s=after_s)
    assert stopped.has_lost_the_signal is is_lost


def test_an_interrupt_before_anything_of_ours_runs_is_the_signal_itself(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("Fatal Python error: init_import_site: Failed to import the site module\n")
    assert own_code(1, log) == -signal.SIGINT
    log.write_text("Traceback (most recent call last):\n")
    assert own_code(1, log) == 1
