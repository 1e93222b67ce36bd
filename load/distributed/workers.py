"""A run that is spread: a master process, its workers on this machine or elsewhere, and the word
between them.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import msgspec

from hookproof.load.distributed.messages import Hello, Reply, Request
from hookproof.load.ledger.share import Gathered
from hookproof.load.plan import Plan
from hookproof.load.single_process import START_WITHIN_S, GeneratorFailed, Interrupts, started
from hookproof.load.target.settings import TargetSettings
from hookproof.process import standard_input
from hookproof.receiver.client.child_process import ChildFailed
from hookproof.receiver.http.address import Address

END_WITHIN_S: Final = 5.0
PLENTY_S: Final = 3600.0
HTTPS_PORT: Final = 443


class UnfitWorker(Exception):
    """A worker cannot take part; the text says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How many workers, and whose: with `local` the command starts them, else they come to `bind`
    within some time.
    """

    workers: int
    local: bool
    bind: str
    within_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterLine:
    """What is said to a master process, and what it answers."""

    process: asyncio.subprocess.Process
    replies: asyncio.StreamReader

    async def reply(self, within_s: float) -> Reply:
        """Its next word; raises GeneratorFailed where that is a problem, or there is none."""
        try:
            line = await asyncio.wait_for(self.replies.readline(), within_s)
        except TimeoutError:
            raise GeneratorFailed("the master of the load generators is silent") from None
        if not line:
            code = await self.process.wait()
            raise GeneratorFailed(f"the master of the load generators ended with exit code {code}")
        reply = msgspec.json.decode(line, type=Reply)
        if reply.problem is not None:
            raise UnfitWorker(reply.problem)
        return reply

    def ask(self, request: Request) -> None:
        """Ask for a run."""
        assert self.process.stdin is not None
        self.process.stdin.write(msgspec.json.encode(request) + b"\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Crew:
    """A master and its workers, ready for runs."""

    receivers: tuple[str, ...]
    line: MasterLine

    async def run(self, plans: Sequence[Plan]) -> Gathered:
        """Let each worker carry out its plan; progress goes to standard output as it comes."""
        with tempfile.TemporaryDirectory(prefix="hookproof-load-") as folder:
            written, result = Path(folder) / "plans", Path(folder) / "result"
            written.write_bytes(msgspec.msgpack.encode(plans))
            self.line.ask(Request(plans=str(written), result=str(result)))
            await self.line.reply(plans[0].shape.duration_s + plans[0].drain_s + PLENTY_S)
            return msgspec.msgpack.decode(result.read_bytes(), type=Gathered)


@asynccontextmanager
async def crew(
    settings: TargetSettings,
    spread: Spread,
    *,
    ca_dir: Path,
    web: str | None,
    interrupts: Interrupts,
) -> AsyncIterator[Crew]:
    """All workers, with their master; raises ChildFailed, GeneratorFailed and UnfitWorker."""
    async with AsyncExitStack() as stack:
        line = await stack.enter_async_context(_master(spread, web))
        interrupts.process = line.process
        port = (await line.reply(START_WITHIN_S)).port
        local = [
            await stack.enter_async_context(
                _worker(
                    numbered(settings, number), f"{Address.parse(spread.bind).host}:{port}", ca_dir
                )
            )
            for number in range(spread.workers if spread.local else 0)
        ]
        hellos = await _gathered(line, local, spread.within_s)
        for one in hellos:
            _check(one, settings)
        yield Crew(receivers=tuple(one.url for one in hellos), line=line)


def numbered(settings: TargetSettings, number: int) -> TargetSettings:
    """The settings of one of several workers on this machine: each further receiver has the next port."""
    bind = Address.parse(settings.bind)
    if bind.port and number:
        settings = replace(
            settings, bind=settings.bind.removesuffix(str(bind.port)) + str(bind.port + number)
        )
    if settings.public_url and number:
        url = urlsplit(settings.public_url)
        host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname
        port = (url.port or HTTPS_PORT) + number
        settings = replace(settings, public_url=urlunsplit(url._replace(netloc=f"{host}:{port}")))
    return settings


def worker_options(
    settings: TargetSettings, *, master: str, ca_dir: Path, may_load: str | None
) -> list[str]:
    """What a worker process is told when it starts."""
    options = [
        "--master",
        master,
        "--bind",
        settings.bind,
        "--ca-dir",
        str(ca_dir),
        "--dialect",
        settings.dialect_argument,
    ]
    options += ["--public-url", settings.public_url] if settings.public_url else []
    return options + (["--may-load", may_load] if may_load else [])


async def _gathered(
    line: MasterLine, local: Sequence[asyncio.subprocess.Process], within_s: float
) -> list[Hello]:
    """The workers, when all have come; raises ChildFailed for one of our own that ended instead."""
    coming = asyncio.create_task(line.reply(within_s + START_WITHIN_S))
    ending = [asyncio.create_task(one.wait()) for one in local]
    try:
        await asyncio.wait([coming, *ending], return_when=asyncio.FIRST_COMPLETED)
        if coming.done():
            return coming.result().workers
        code = next(one.result() for one in ending if one.done())
        raise ChildFailed(f"a worker ended before the run, with exit code {code}", code)
    finally:
        for task in (coming, *ending):
            task.cancel()
        await asyncio.gather(coming, *ending, return_exceptions=True)


def _check(worker: Hello, settings: TargetSettings) -> None:
    if worker.dialect != settings.dialect.name:
        raise UnfitWorker(
            f"the worker on {worker.name} has the dialect {worker.dialect}, this run has {settings.dialect.name}:"
            " give both the same --dialect"
        )
    if settings.host not in {None, worker.may_load}:
        raise UnfitWorker(
            f"the worker on {worker.name} may not load {settings.host}: it needs --i-may-load {settings.host} too"
        )


@asynccontextmanager
async def _master(spread: Spread, web: str | None) -> AsyncIterator[MasterLine]:
    loop, (read, written) = asyncio.get_running_loop(), os.pipe()
    replies = asyncio.StreamReader()
    options = [
        "--bind",
        spread.bind,
        "--workers",
        str(spread.workers),
        "--within",
        str(spread.within_s),
    ]
    options += ["--replies", str(written), *(["--web", web] if web is not None else [])]
    options += [] if spread.local else ["--announce"]
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(replies), os.fdopen(read, "rb")
    )
    try:
        try:
            process = await started(
                ["hookproof.load.distributed.master_process", *options],
                key="",
                standard_input=asyncio.subprocess.PIPE,
                keep=[written],
            )
        finally:
            os.close(written)
        try:
            yield MasterLine(process=process, replies=replies)
        finally:
            await _ended(process)
    finally:
        transport.close()


@asynccontextmanager
async def _worker(
    settings: TargetSettings, master: str, ca_dir: Path
) -> AsyncIterator[asyncio.subprocess.Process]:
    options = worker_options(settings, master=master, ca_dir=ca_dir, may_load=settings.host)
    process = await started(
        ["hookproof.load.distributed.worker_process", *options, standard_input.OPTION],
        key=settings.api_key,
        standard_input=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        await _ended(process)


async def _ended(process: asyncio.subprocess.Process) -> None:
    """End a process by closing its input, or else by force."""
    assert process.stdin is not None
    process.stdin.close()
    for end in (None, process.terminate, process.kill):
        if end is not None:
            with suppress(ProcessLookupError):
                end()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), END_WITHIN_S)
            return
