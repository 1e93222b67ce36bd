"""Measures the master of a distributed run: `python -m tests.bench.leading [N]...`.

A real master leads so many stand-ins for workers (`stand_in_workers`), which send it what real ones
would, at a pace for the whole run. For each number of workers: the share of a core and the memory
that the master takes, the bytes a second that reach it, how large the last message of a worker is,
and how long it takes to gather these and to add them up. The table is printed and written as JSON.
"""

import argparse
import asyncio
import json
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

import msgspec
import psutil

from hookproof.load.distributed.workers import Distribution, Workers, start_workers
from hookproof.load.ledger.share import arrived_at_all, sent_by_all
from hookproof.load.locust_worker.messages import SHARE
from hookproof.load.plan import LoadPlan, ReceivingEndpoint
from hookproof.load.single_process import InterruptForwarder
from hookproof.load.target.settings import target_settings
from hookproof.target.settings import Flags
from tests.bench.loading import plans
from tests.bench.rounds import RoundFigures, keep_rounds

WORKERS: Final = (10, 50, 100, 200)
# Broadcasts a second by all workers, each to all endpoints of all workers.
RATE: Final = 1000.0
SECONDS: Final = 20.0
# How long it takes to begin, for all of them.
BEGUN_AFTER_S: Final = 2.0
ENDPOINTS_EACH: Final = 2
READY_WITHIN_S: Final = 120.0
LOOK_EVERY_S: Final = 0.2
SECRET: Final = "whsec_" + "x" * 32
MIB: Final = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterFigures:
    """What a master took for a run with so many workers.

    `core` is its share of a core while they sent, `idle_mib` and `peak_mib` its memory before and
    at most, `message_bytes` how large a message of a worker is on the average, by its kind,
    `kib_each_s` what each sends in a second but for its share of the ledger, `gathered_s` the time
    from the last broadcast until the master had all shares, `added_s` the time to add them up.
    """

    workers: int
    core: float
    idle_mib: float
    peak_mib: float
    message_bytes: dict[str, float]
    kib_each_s: float
    gathered_s: float
    added_s: float

    def __str__(self) -> str:
        return (
            f"{self.workers:8}{self.core:10.0%}{self.idle_mib:10.0f}{self.peak_mib:10.0f}"
            f"{self.kib_each_s:12.2f}{self.message_bytes[SHARE] / 1024:12.1f}"
            f"{self.gathered_s:12.1f}{self.added_s:10.2f}"
        )


def plans_of(workers: int, rate: float, seconds: float) -> list[LoadPlan]:
    """The plans of a run at this pace."""
    curve = ((0.0, rate), (seconds, rate))
    return [
        msgspec.structs.replace(
            plan,
            points=curve,
            endpoints=tuple(
                ReceivingEndpoint(
                    token=f"{plan.worker}-{number}",
                    url="",
                    secrets=(SECRET,),
                    advanced=False,
                    limited=False,
                )
                for number in range(ENDPOINTS_EACH)
            ),
            deliveries_each=workers * ENDPOINTS_EACH,
        )
        for plan in plans("http://127.0.0.1:9", 1, workers)
    ]


async def watched(master: psutil.Process, seen: list[tuple[float, float, float]]) -> None:
    """Note the time, the processor time and the memory of the master, until cancelled."""
    while True:
        with master.oneshot():
            burned, memory = sum(master.cpu_times()[:2]), master.memory_info().rss
        seen.append((time.monotonic(), burned, memory / MIB))
        await asyncio.sleep(LOOK_EVERY_S)  # paces the looks


async def led(workers: Workers, count: int, rate: float, seconds: float) -> MasterFigures:
    """Lead a run; what the workers have sent is not known yet."""
    master = psutil.Process(workers.master.process.pid)
    seen: list[tuple[float, float, float]] = []
    watching = asyncio.create_task(watched(master, seen))
    idle_mib = master.memory_info().rss / MIB
    try:
        result = await workers.run(plans_of(count, rate, seconds))
    finally:
        watching.cancel()
    replied = time.time()
    while_sending = [look for look in seen if BEGUN_AFTER_S < look[0] - seen[0][0] < seconds]
    (first, burned_before, _), (last, burned, _) = while_sending[0], while_sending[-1]
    if len(result.shares) < count:
        raise SystemExit(f"{count - len(result.shares)} of {count} stand-ins were lost")
    began = time.monotonic()
    sent_by_all(result.shares, count)
    arrived_at_all(result.shares)
    return MasterFigures(
        workers=count,
        core=(burned - burned_before) / (last - first),
        idle_mib=idle_mib,
        peak_mib=max(memory for _, _, memory in seen),
        message_bytes={},
        kib_each_s=0.0,
        gathered_s=replied - result.started_at - seconds,
        added_s=time.monotonic() - began,
    )


async def measured(
    count: int, folder: Path, *, rate: float = RATE, seconds: float = SECONDS
) -> MasterFigures:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        at = f"127.0.0.1:{free.getsockname()[1]}"
    settings = target_settings(Flags(api_key="k", project="p", ca_dir=folder / "ca"), {})
    elsewhere = Distribution(workers=count, local=False, bind=at, within_s=READY_WITHIN_S)
    words = ("--master", at, "--workers", str(count), "--endpoints", str(ENDPOINTS_EACH))
    stand_ins = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.bench.stand_in_workers", *words),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        async with start_workers(
            settings,
            elsewhere,
            ca_dir=folder / "ca",
            web=None,
            interrupts=InterruptForwarder(cancel=lambda: None),
        ) as workers:
            figures = await led(workers, count, rate, seconds)
        sent = json.loads((await stand_ins.communicate())[0])
    except BaseException:
        stand_ins.kill()
        await stand_ins.communicate()
        raise
    beside = sum(size for kind, (_, size) in sent.items() if kind != SHARE)
    return replace(
        figures,
        message_bytes={kind: size / number for kind, (number, size) in sent.items()},
        kib_each_s=beside / 1024 / seconds / count,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workers", nargs="*", type=int, default=list(WORKERS), metavar="N")
    parser.add_argument("--rate", type=float, default=RATE, help="broadcasts a second, of all")
    parser.add_argument("--out", type=Path, default=Path("hookproof-bench-leading.json"))
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            asyncio.run(measured(count, Path(folder), rate=options.rate))
            for count in options.workers
        ]
    print(f"{'workers':>8}{'core':>10}{'idle MiB':>10}{'peak MiB':>10}", end="")
    print(f"{'KiB/s each':>12}{'share KiB':>12}{'gathered s':>12}{'added s':>10}")
    for row in rows:
        print(row)
    options.out.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    cores = {f"master of {row.workers}": row.core for row in rows}
    keep_rounds(
        "leading",
        {name: RoundFigures(rounds=[core], better="less") for name, core in cores.items()},
    )


if __name__ == "__main__":
    main()
