"""A distributed run as the command sees it: a master process and its workers, here or elsewhere."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from hookproof.load.ledger.head_messages import Hello, RunRequest
from hookproof.load.ledger.run_metrics import RunMetrics
from hookproof.load.ledger.share import RunResult
from hookproof.load.metrics import next_address
from hookproof.load.plan import LoadPlan
from hookproof.load.single_process import (
    START_WITHIN_S,
    HeadConnection,
    InterruptForwarder,
    UnfitWorker,
    longest_run_s,
    replying_locust_process,
    send_line,
    start_locust_process,
)
from hookproof.load.target.settings import KEY_VARIABLE, TargetSettings
from hookproof.process.standard_streams import UNTIL_STDIN_CLOSES
from hookproof.receiver.client.child_process import ChildFailed
from hookproof.receiver.http.address import Address

END_WITHIN_S: Final = 5.0
HTTPS_PORT: Final = 443
DIALECT_OF_MASTER: Final = "--dialect-of-master"


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """How many workers there are.

    With `local` the command starts them, otherwise they connect to `bind` within `within_s`
    seconds.
    """

    workers: int
    local: bool
    bind: str
    within_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """A master and its workers, ready for runs."""

    receivers: tuple[str, ...]
    master: HeadConnection
    interrupts: InterruptForwarder
    metrics: RunMetrics

    async def run(self, plans: Sequence[LoadPlan]) -> RunResult:
        """Have each worker carry out its plan; progress goes to standard output."""
        with self.interrupts.passed_on_to(self.master.process):
            send_line(self.master.process, RunRequest(plans=list(plans)))
            return await self.master.result(self.metrics, longest_run_s(plans[0]))


@asynccontextmanager
async def start_workers(
    settings: TargetSettings,
    distribution: Distribution,
    *,
    ca_dir: Path,
    web: str | None,
    interrupts: InterruptForwarder,
    metrics: RunMetrics | None = None,
) -> AsyncIterator[Workers]:
    """All workers and their master; raises ChildFailed, LoadGeneratorFailed and UnfitWorker."""
    async with AsyncExitStack() as stack:
        master = await stack.enter_async_context(_master(distribution, web))
        port = (await master.reply(START_WITHIN_S)).port
        local = [
            await stack.enter_async_context(
                _worker(
                    worker_settings(replace(settings, dialect_is_given=True), number),
                    f"{Address.parse(distribution.bind).host}:{port}",
                    ca_dir,
                )
            )
            for number in range(distribution.workers if distribution.local else 0)
        ]
        hellos = await _wait_for_workers(master, local, distribution.within_s)
        for hello in hellos:
            _check_worker(hello, settings)
        yield Workers(
            receivers=tuple(hello.url for hello in hellos),
            master=master,
            interrupts=interrupts,
            metrics=metrics or RunMetrics(),
        )


def worker_settings(settings: TargetSettings, number: int) -> TargetSettings:
    """The settings of one of several workers on this machine: each receiver has the next port."""
    bind = Address.parse(settings.bind)
    if bind.port and number:
        settings = replace(
            settings, bind=settings.bind.removesuffix(str(bind.port)) + str(bind.port + number)
        )
    if settings.metrics is not None:
        settings = replace(settings, metrics=next_address(settings.metrics, number))
    if settings.public_url and number:
        url = urlsplit(settings.public_url)
        host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname
        port = (url.port or HTTPS_PORT) + number
        settings = replace(settings, public_url=urlunsplit(url._replace(netloc=f"{host}:{port}")))
    return settings


def worker_options(
    settings: TargetSettings, *, master: str, ca_dir: Path, may_load: str | None
) -> list[str]:
    """The options with which a worker process is started."""
    options = ["--master", master, *settings.receiver_options(ca_dir)]
    options += [] if settings.dialect_is_given else [DIALECT_OF_MASTER]
    return options + (["--may-load", may_load] if may_load else [])


async def _wait_for_workers(
    master: HeadConnection, local: Sequence[asyncio.subprocess.Process], within_s: float
) -> list[Hello]:
    """Wait for all workers; raises ChildFailed if a local one ended instead."""
    coming = asyncio.create_task(master.reply(within_s + START_WITHIN_S))
    ending = [asyncio.create_task(process.wait()) for process in local]
    try:
        await asyncio.wait([coming, *ending], return_when=asyncio.FIRST_COMPLETED)
        if coming.done():
            return coming.result().workers
        code = next(process.result() for process in ending if process.done())
        raise ChildFailed(f"a worker ended before the run, with exit code {code}", code)
    finally:
        for task in (coming, *ending):
            task.cancel()
        await asyncio.gather(coming, *ending, return_exceptions=True)


def _check_worker(worker: Hello, settings: TargetSettings) -> None:
    if worker.dialect not in {None, settings.dialect.name}:
        raise UnfitWorker(
            f"the worker on {worker.name} has the dialect {worker.dialect},"
            f" this run has {settings.dialect.name}: give both the same --dialect"
        )
    if settings.host not in {None, worker.may_load}:
        raise UnfitWorker(
            f"the worker on {worker.name} may not load {settings.host}:"
            f" it needs --i-may-load {settings.host} too"
        )


@asynccontextmanager
async def _master(distribution: Distribution, web: str | None) -> AsyncIterator[HeadConnection]:
    options = [
        "--bind",
        distribution.bind,
        "--workers",
        str(distribution.workers),
        "--within",
        str(distribution.within_s),
    ]
    options += ["--web", web] if web is not None else []
    options += [] if distribution.local else ["--announce"]
    async with replying_locust_process(
        ["hookproof.load.locust_worker.head_process", *options], variables={KEY_VARIABLE: ""}
    ) as (process, replies):
        try:
            yield HeadConnection(
                process=process, replies=replies, name="the master of the load generators"
            )
        finally:
            await _end(process)


@asynccontextmanager
async def _worker(
    settings: TargetSettings, master: str, ca_dir: Path
) -> AsyncIterator[asyncio.subprocess.Process]:
    options = worker_options(settings, master=master, ca_dir=ca_dir, may_load=settings.host)
    process = await start_locust_process(
        ["hookproof.load.distributed.worker_process", *options, UNTIL_STDIN_CLOSES],
        variables=settings.variables,
    )
    try:
        yield process
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a process by closing its input, or else by force."""
    assert process.stdin is not None
    process.stdin.close()
    for end in (None, process.terminate, process.kill):
        if end is not None:
            with suppress(ProcessLookupError):
                end()
        with suppress(TimeoutError):
            async with asyncio.timeout(END_WITHIN_S):
                await process.wait()
            return
