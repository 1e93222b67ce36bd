"""How often a load run says how far it is, on a terminal and elsewhere."""

import json
import os
import subprocess
import sys
from contextlib import suppress

import pytest

# A process of its own, as only Locust's import gevent.
PROGRAM = """
import json, sys
from hookproof.load.ledger.run_progress import RunProgress
from hookproof.load.locust_worker.progress import show_progress

pauses = []

def pause(seconds):
    pauses.append(seconds)
    if len(pauses) == 3:
        raise TimeoutError

try:
    show_progress(RunProgress, started_at=0, duration_s=float(sys.argv[1]), pause=pause)
except TimeoutError:
    json.dump(pauses, sys.stderr)
"""


def shown(duration_s: float, *, on_terminal: bool) -> tuple[list[float], str]:
    """The pauses before the first three lines of progress, and the first two lines."""
    reader, writer = os.openpty() if on_terminal else os.pipe()
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(duration_s)],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=True,
    )
    lines = os.read(reader, 10_000).decode()
    for descriptor in (reader, writer):
        with suppress(OSError):
            os.close(descriptor)
    return json.loads(ended.stderr), lines


@pytest.mark.parametrize("duration_s", [1, 60, 6000])
def test_without_a_terminal_a_line_is_written_every_ten_seconds(duration_s: float) -> None:
    pauses, lines = shown(duration_s, on_terminal=False)
    assert pauses == [10, 10, 10]
    assert lines.count("accepted 0 (0/s)") == 2


@pytest.mark.parametrize(("duration_s", "every_s"), [(1, 1), (60, 1), (6000, 100)])
def test_on_a_terminal_a_run_has_about_sixty_lines(duration_s: float, every_s: float) -> None:
    pauses, lines = shown(duration_s, on_terminal=True)
    assert pauses == [every_s] * 3
    assert lines.count("accepted 0 (0/s)") == 2
