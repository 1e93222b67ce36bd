"""Measures the load generator: `python -m tests.bench.loading`, part of `make bench`.

It compares the broadcasts per second of one generator process, pinned to a core, with a bare
FastHttpUser that posts the same bytes, both to a sink on the other core. The generator also does
its other work: marks, schedule, histograms and sidecar. Every slot is due at once, so that it sends
as fast as it can. Then two of each run on both cores beside the sink, and four: the generators are
workers of a master, the bare processes begin at the same time. Both take turns; a ratio is the
median of the ratios of the rounds. The efficiency of several is their rate, of that of as many as
one alone. The results are printed and written as JSON.
"""

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from hookproof.load.broadcast_mark import data_with_mark
from hookproof.load.distributed.workers import Distribution, start_workers
from hookproof.load.ledger.share import RunResult
from hookproof.load.plan import LoadPlan, OperationTemplate
from hookproof.load.profile.load_profile import BROADCAST
from hookproof.load.single_process import MODULE, InterruptForwarder
from hookproof.load.target.settings import TargetSettings, target_settings
from hookproof.target.settings import Flags
from tests.bench.generator_process import generated
from tests.bench.machine import CLIENT_CORE, running_server
from tests.bench.rounds import RoundFigures, keep_rounds

USERS: Final = 64
PAD: Final = "x" * 290
DUE_WITHIN_S: Final = 0.05
# By the number of sending processes.
LEAST_RATIOS: Final = {1: 0.85, 2: 0.95, 4: 0.85}

PINNED: Final = ("taskset", "-c", CLIENT_CORE)
EVENT: Final[Mapping[str, Any]] = {"event_type": "hookproof.load"}
# Paces: the time in which several bare processes start; then they begin together.
TOGETHER_AFTER_S: Final = 8.0


def plans(sink: str, requests: int, workers: int) -> list[LoadPlan]:
    """Return the plans of a run of broadcasts that are all due at once, one per worker."""
    return [
        LoadPlan(
            run=f"{random.randrange(16**8):08x}",
            worker=worker,
            workers=workers,
            base_url=sink,
            headers={"Content-Type": "application/json"},
            points=((0.0, requests / DUE_WITHIN_S), (DUE_WITHIN_S, requests / DUE_WITHIN_S)),
            users=USERS * workers,
            mix={BROADCAST: 1.0},
            calls={BROADCAST: OperationTemplate(method="POST", paths=("/",), statuses=())},
            pad=PAD,
            endpoints=(),
            deliveries_each=0,
            timeout_s=0.0,
            late_after_s=1.0,
            drain_s=0.0,
            drain_at_most_s=0.0,
            pause_s=0.0,
            may_drop=False,
            rolls=None,
            reply_periods=(),
        )
        for worker in range(workers)
    ]


def run_generator(sink: str, control: str, requests: int) -> RunResult:
    """Run one generator on its core; return what it gathered."""
    command = [*PINNED, *MODULE, "hookproof.load.locust_worker.head_process"]
    return generated(plans(sink, requests, 1)[0], control, command)


async def run_several(
    processes: int,
    settings: TargetSettings,
    folder: Path,
    requests: int,
    rounds: int,
    run_bare_processes: Callable[[], float],
) -> list[tuple[float, float]]:
    """Run so many bare processes, then as many workers; return a pair of rates per round."""
    rates = []
    distribution = Distribution(workers=processes, local=True, bind="127.0.0.1:0", within_s=60.0)
    interrupts = InterruptForwarder(cancel=lambda: None)
    async with start_workers(
        settings, distribution, ca_dir=folder / "ca", web=None, interrupts=interrupts
    ) as workers:
        for _ in range(rounds):
            bare_rate = await asyncio.to_thread(run_bare_processes)
            gathered = await workers.run(plans(settings.base_url or "", requests, processes))
            rates.append((bare_rate, rate_of(gathered, requests)))
    return rates


def rate_of(gathered: RunResult, requests: int) -> float:
    """Return the broadcasts per second; the sink must have accepted each."""
    accepted = sum(share.sent.counts.get("accepted", 0) for share in gathered.shares)
    if accepted != requests:
        samples = [share.sent.samples for share in gathered.shares]
        raise SystemExit(f"the sink accepted {accepted} of {requests}: {samples}")
    return requests / max(share.sent.sending_s for share in gathered.shares)


def run_bare(
    folder: Path, sink: str, requests: int, *, processes: int, pinned: Sequence[str]
) -> float:
    """Run bare processes with the bytes of a broadcast; return the requests per second."""
    data = json.loads(data_with_mark("0123abcd", 12345, 1700000000.0, PAD))
    body = {**EVENT, "idempotency_key": "0123abcd.12345", "data": data}
    (folder / "body.json").write_bytes(msgspec.json.encode(body))
    begin_at = time.time() + (TOGETHER_AFTER_S if processes > 1 else 0.0)
    words = [sink, str(USERS), str(requests // processes), str(folder / "body.json"), str(begin_at)]
    command = [*pinned, sys.executable, "-m", "tests.bench.bare_locust", *words]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)
    ]
    seconds = [float(process.communicate()[0]) for process in running]
    return requests / max(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=30_000)
    parser.add_argument("--out", type=Path, default=Path("hookproof-bench-loading.json"))
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sidecar = [
            "hookproof.load.sidecar.process",
            "--ca-dir",
            str(folder / "ca"),
            "--dialect",
            "reference",
        ]
        receiver, _ = stack.enter_context(running_server([sys.executable, "-m", *sidecar]))
        sink, _ = stack.enter_context(running_server([sys.executable, "tests/bench/bare.py"]))
        url, requests = sink["api"], options.requests
        single = [
            (
                run_bare(folder, url, requests, processes=1, pinned=PINNED),
                rate_of(run_generator(url, receiver["control"], requests), requests),
            )
            for _ in range(options.rounds)
        ]
        settings = target_settings(
            Flags(url=url, api_key="k", project="p", ca_dir=folder / "ca"), {}
        )
        by_processes = {1: single}
        for processes in (2, 4):
            by_processes[processes] = asyncio.run(
                run_several(
                    processes,
                    settings,
                    folder,
                    requests,
                    options.rounds,
                    partial(run_bare, folder, url, requests, processes=processes, pinned=()),
                )
            )
    alone = statistics.median(rate for _, rate in single)
    written = [print_ratio(processes, rounds, alone) for processes, rounds in by_processes.items()]
    options.out.write_text(json.dumps(written, indent=2) + "\n")
    keep_rounds(
        "loading",
        {
            f"broadcasts sent, {processes} process{'es' if processes > 1 else ''}": RoundFigures(
                rounds=[rate / bare_rate for bare_rate, rate in rounds]
            )
            for processes, rounds in by_processes.items()
        },
    )


def print_ratio(
    processes: int, rounds: Sequence[tuple[float, float]], alone: float
) -> dict[str, float]:
    """Print one row and return it for the file; `alone` is the rate of one process."""
    ratio = statistics.median(rate / bare_rate for bare_rate, rate in rounds)
    least = LEAST_RATIOS[processes]
    bare_rate, rate = (statistics.median(column) for column in zip(*rounds, strict=True))
    verdict = "ok" if ratio >= least else "BELOW"
    efficiency = rate / processes / alone
    what = f"broadcasts sent, {processes} process{'es' if processes > 1 else ''}"
    print(
        f"{what} {rate:.0f}/s {ratio:.2f} of bare {bare_rate:.0f}/s  wanted {least:g} {verdict}"
        f"  efficiency {efficiency:.2f}",
        flush=True,
    )
    return {
        "processes": processes,
        "rate": rate,
        "of_rate": bare_rate,
        "ratio": ratio,
        "least": least,
        "efficiency": efficiency,
    }


if __name__ == "__main__":
    main()
