"""What learning has caused ends with it: nothing that it left keeps failing."""

import asyncio
import json
import urllib.request
from pathlib import Path

import pytest

from hookproof.conformance.learning.deliveries.rest import MOST_S, wait_for_rest
from hookproof.process.exit_codes import ExitCode
from hookproof.receiver.client.control_api import ReceiverClient
from tests.conformance.command import run_command
from tests.conformance.reference_server import reference_server, write_target_file
from tests.source_tree import ROOT

STEP_S = 0.2


class ScriptedReceiver(ReceiverClient):
    """A receiver whose requests come at these times, in seconds from when it accepts everything."""

    def __init__(self, *arrivals: float, aborted: int = 0) -> None:
        super().__init__("http://receiver.invalid")
        self.now = 0.0
        self.accepts = False
        self._arrivals = arrivals
        self._aborted = aborted

    async def accept_all(self) -> int:
        self.accepts = True
        return self._aborted

    async def last_arrival_s_ago(self) -> float | None:
        before = [self.now - at for at in self._arrivals if at <= self.now]
        return min(before, default=None)

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize(
    ("arrivals", "aborted", "longest_wait_s", "ends_at"),
    [
        ((), 0, 4.0, 0.0),
        ((-9.0,), 0, 4.0, 0.0),
        ((-1.0,), 0, 4.0, 3.0),
        ((-9.0,), 1, 4.0, 4.0),
        ((-1.0, 1.0, 2.5), 0, 4.0, 4.5),
        ((-0.5, *(n / 2 for n in range(12))), 0, 4.0, 7.5),
        ((-0.5, *(n / 2 for n in range(200))), 0, 4.0, MOST_S),
        ((-1.0,), 0, 600.0, MOST_S),
    ],
    ids=[
        "nothing came",
        "all is over",
        "one more attempt may come",
        "what waited was aborted",
        "attempts come until all came",
        "a queue is worked off",
        "it never ends",
        "a wait is too long",
    ],
)
def test_it_waits_until_each_failed_attempt_may_have_been_followed(
    arrivals: tuple[float, ...], aborted: int, longest_wait_s: float, ends_at: float
) -> None:
    receiver = ScriptedReceiver(*arrivals, aborted=aborted)
    asyncio.run(wait_for_rest(receiver, longest_wait_s, receiver.sleep))
    assert receiver.accepts
    assert receiver.now == pytest.approx(ends_at, abs=STEP_S)


def test_after_learning_nothing_fails_any_more(tmp_path: Path) -> None:
    """The last attempt of each event is accepted, though the first ones were refused."""
    with reference_server(tmp_path, ROOT, "p1") as ready:
        write_target_file(tmp_path, ready["api"], "p1")
        done = run_command(tmp_path, "learn", "--target", "target.yaml", "--profile", "quick")
        with urllib.request.urlopen(f"{ready['control']}/journal?kind=deliveries") as answer:
            deliveries = json.load(answer)["deliveries"]
    assert done.code == ExitCode.OK, done.err
    assert "waiting for the last deliveries" in done.err
    assert any(len(each["attempts"]) > 1 for each in deliveries)
    assert "pending" not in {each["state"] for each in deliveries}
