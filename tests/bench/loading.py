"""Measures the load generator: `python -m tests.bench.loading`, or `make bench`.

Broadcasts sent a second by one generator process, pinned to a core, against a sink on the other, beside a bare
FastHttpUser that posts the same bytes there. The generator has its marks, its schedule, its histograms and its sidecar
to look after meanwhile; every slot is due at once, so that it sends as fast as it can. The two take turns; the ratio is
the median of the ratios of the rounds. It is printed and written as JSON.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import msgspec

from load.marker import marked_data
from load.plan import Call, Plan
from load.profile import BROADCAST
from load.sending import Sent
from tests.bench.machine import CLIENT_CORE, announced

USERS: Final = 64
PAD: Final = "x" * 290
DUE_WITHIN_S: Final = 0.05
LEAST_RATIO: Final = 0.85
PINNED: Final = ("taskset", "-c", CLIENT_CORE, sys.executable, "-P", "-m")
EVENT: Final[Mapping[str, Any]] = {"event_type": "hookproof.load"}


def generated(folder: Path, sink: str, control: str, requests: int) -> float:
    """Broadcasts a second of the generator."""
    plan = Plan(
        run=f"{random.randrange(16**8):08x}",
        base_url=sink,
        headers={"Content-Type": "application/json"},
        points=((0.0, requests / DUE_WITHIN_S), (DUE_WITHIN_S, requests / DUE_WITHIN_S)),
        users=USERS,
        mix={BROADCAST: 1.0},
        calls={BROADCAST: Call(method="POST", paths=("/",), statuses=())},
        broadcast=dict(EVENT),
        pad=PAD,
        control_url=control,
        deliveries_each=0,
        drain_s=0.0,
        may_drop=False,
        rolls=None,
        spells=(),
    )
    plan.write(folder / "plan.json")
    command = [*PINNED, "load.runner", str(folder / "plan.json"), str(folder / "sent.json")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    sent = msgspec.json.decode((folder / "sent.json").read_bytes(), type=Sent)
    if sent.counts.get("accepted") != requests:
        raise SystemExit(f"the sink did not take every broadcast: {sent.counts} {sent.samples}")
    return requests / (sent.ended_at - sent.started_at)


def bare(folder: Path, sink: str, requests: int) -> float:
    """Requests a second of the bare user, with the bytes of a broadcast."""
    data = json.loads(marked_data("0123abcd", 12345, 1700000000.0, PAD))
    body = {**EVENT, "idempotency_key": "0123abcd.12345", "data": data}
    (folder / "body.json").write_bytes(msgspec.json.encode(body))
    words = [sink, str(USERS), str(requests), str(folder / "body.json")]
    command = [word for word in PINNED if word != "-P"]  # this one is of the tests, beside where the benchmark stands
    shown = subprocess.run(
        [*command, "tests.bench.bare_locust", *words], check=True, capture_output=True, text=True
    ).stdout
    return float(shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=30_000)
    parser.add_argument("--out", type=Path, default=Path("hookproof-bench-loading.json"))
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sidecar = ["load.sidecar", "--ca-dir", str(folder / "ca"), "--dialect", "reference", "--late-after", "1"]
        witness, _ = stack.enter_context(announced([sys.executable, "-m", *sidecar]))
        sink, _ = stack.enter_context(announced([sys.executable, "tests/bench/bare.py"]))
        rounds = [
            (
                bare(folder, sink["api"], options.requests),
                generated(folder, sink["api"], witness["control"], options.requests),
            )
            for _ in range(options.rounds)
        ]
    ratio = statistics.median(ours / theirs for theirs, ours in rounds)
    theirs, ours = (statistics.median(column) for column in zip(*rounds, strict=True))
    verdict = "ok" if ratio >= LEAST_RATIO else "BELOW"
    print(f"broadcasts sent {ours:.0f}/s {ratio:.2f} of bare {theirs:.0f}/s  wanted {LEAST_RATIO:g} {verdict}")
    written = {"rate": ours, "of_rate": theirs, "ratio": ratio, "least": LEAST_RATIO}
    options.out.write_text(json.dumps(written, indent=2) + "\n")


if __name__ == "__main__":
    main()
