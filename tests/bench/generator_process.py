"""Runs a load generator, a process that reads its plan and replies with its result."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from io import FileIO

import msgspec

from hookproof.load.ledger.head_messages import HeadReply, RunRequest, unpacked
from hookproof.load.ledger.share import RunResult
from hookproof.load.plan import LoadPlan


def generated(
    plan: LoadPlan, control: str, command: Sequence[str], variables: Mapping[str, str] | None = None
) -> RunResult:
    """What a generator gathered; `command` starts it, and `control` is the URL of its sidecar.

    Raises CalledProcessError if it fails.
    """
    reading, writing = os.pipe()
    words = [*command, "--control", control, "--replies", str(writing)]
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        pass_fds=[writing],
        env={**os.environ, **(variables or {})},
    ) as process:
        os.close(writing)
        assert process.stdin is not None
        # Its end would end the generator.
        process.stdin.write(msgspec.json.encode(RunRequest(plans=[plan])) + b"\n")
        process.stdin.flush()
        with FileIO(reading) as replies:
            *_, last = replies.readall().splitlines() or [b"{}"]
        code = process.wait()
    if code:
        raise subprocess.CalledProcessError(code, words)
    return unpacked(msgspec.json.decode(last, type=HeadReply).result, RunResult)
