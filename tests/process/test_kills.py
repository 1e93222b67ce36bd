"""A few kills at fixed moments; `make kills` makes 100 at random ones."""

import signal
from pathlib import Path

from tests.process.kills import run_kills

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
