"""A run in one process: a sidecar as long as the command lasts, and a Locust process per run."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from hookproof.load.ledger.head_messages import HeadReply, RunRequest, unpacked
from hookproof.load.ledger.run_metrics import RunMetrics
from hookproof.load.ledger.share import RunResult
from hookproof.load.plan import LoadPlan
from hookproof.load.target.settings import TargetSettings
from hookproof.process.subprocesses import send_signal
from hookproof.receiver.client.child_process import child

START_WITHIN_S: Final = 300.0
RUN_MARGIN_S: Final = 3600.0
# In bytes; the result of a run has one for each broadcast, and some for each endpoint.
LONGEST_REPLY: Final = 2**31
MODULE: Final = (sys.executable, "-P", "-m")  # -P: not from the current folder


class UnfitWorker(Exception):
    """A worker cannot take part; the message says why and what to do."""


class LoadGeneratorFailed(Exception):
    """A Locust process ended without a result; the message says how."""


@dataclass(slots=True, kw_only=True)
class InterruptForwarder:
    """Passes ctrl-C on to the process that carries out a run, which decides what it means.

    Before the first run `cancel` is called instead. One that comes between two runs is passed on
    to the second one, if that begins.
    """

    cancel: Callable[[], object]
    count: int = 0
    _process: asyncio.subprocess.Process | None = None
    _has_begun: bool = False

    def interrupt(self) -> None:
        """Count an interrupt and pass it on."""
        self.count += 1
        if self._process is not None:
            send_signal(self._process, signal.SIGINT)
        elif not self._has_begun:
            self.cancel()

    @contextmanager
    def passed_on_to(self, process: asyncio.subprocess.Process) -> Iterator[None]:
        """Pass interrupts on to this process, which carries out a run within the block."""
        self._process, self._has_begun = process, True
        if self.count:
            send_signal(process, signal.SIGINT)
        try:
            yield
        finally:
            self._process = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadConnection:
    """The pipes to and from the head of a run; `name` is what errors call it."""

    process: asyncio.subprocess.Process
    replies: asyncio.StreamReader
    name: str

    async def reply(self, within_s: float) -> HeadReply:
        """The next reply; raises LoadGeneratorFailed or UnfitWorker."""
        try:
            async with asyncio.timeout(within_s):
                line = await self.replies.readline()
        except TimeoutError:
            raise LoadGeneratorFailed(f"{self.name} is silent") from None
        if not line.endswith(b"\n"):
            code = await self.process.wait()
            raise LoadGeneratorFailed(
                f"{self.name} ended with exit code {code} and without a result"
            )
        reply = msgspec.json.decode(line, type=HeadReply)
        if reply.problem is not None:
            raise UnfitWorker(reply.problem)
        return reply

    async def result(self, metrics: RunMetrics, within_s: float) -> RunResult:
        """What a run has gathered, when it is over; its progress is noted until then."""
        while (reply := await self.reply(within_s)).progress is not None:
            metrics.note(reply.progress)
        return unpacked(reply.result, RunResult)


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleProcess:
    """The only worker of a run that is not distributed; `metrics_url` is that of its receiver."""

    receivers: tuple[str, ...]
    control_url: str
    metrics_url: str | None
    variables: Mapping[str, str] = field(repr=False)
    web: str | None
    interrupts: InterruptForwarder
    metrics: RunMetrics

    async def run(self, plans: Sequence[LoadPlan]) -> RunResult:
        """Have a Locust process carry out the plan; its progress goes to standard output.

        Raises LoadGeneratorFailed.
        """
        options = ["--web", self.web] if self.web is not None else []
        async with replying_locust_process(
            ["hookproof.load.locust_worker.head_process", "--control", self.control_url, *options],
            variables=self.variables,
        ) as (process, replies):
            try:
                with self.interrupts.passed_on_to(process):
                    send_line(process, RunRequest(plans=[*plans]))
                    head = HeadConnection(
                        process=process, replies=replies, name="the load generator"
                    )
                    result = await head.result(self.metrics, longest_run_s(plans[0]))
                    await process.wait()
            finally:
                send_signal(process, signal.SIGTERM)
                await process.wait()
        return result


@asynccontextmanager
async def start_single_process(
    settings: TargetSettings,
    *,
    ca_dir: Path,
    web: str | None,
    interrupts: InterruptForwarder,
    metrics: RunMetrics | None = None,
) -> AsyncIterator[SingleProcess]:
    """A sidecar of the command's own; raises ChildFailed."""
    async with child(
        ["hookproof.load.sidecar.process", *settings.receiver_options(ca_dir)],
        deadline_s=START_WITHIN_S,
        program=MODULE,
    ) as sidecar:
        yield SingleProcess(
            receivers=(sidecar["url"],),
            control_url=sidecar["control"],
            metrics_url=sidecar.get("metrics"),
            variables=settings.variables,
            web=web,
            interrupts=interrupts,
            metrics=metrics or RunMetrics(),
        )


@asynccontextmanager
async def replying_locust_process(
    arguments: Sequence[str], *, variables: Mapping[str, str]
) -> AsyncIterator[tuple[asyncio.subprocess.Process, asyncio.StreamReader]]:
    """As `start_locust_process`, of a process with the option --replies, and what it writes to the
    descriptor of that option. No file is between the two, as the disk may be full.
    """
    read_end, write_end = os.pipe()
    replies = asyncio.StreamReader(limit=LONGEST_REPLY)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(replies), os.fdopen(read_end, "rb")
    )
    try:
        try:
            process = await start_locust_process(
                [*arguments, "--replies", str(write_end)], variables=variables, keep=[write_end]
            )
        finally:
            os.close(write_end)
        yield process, replies
    finally:
        transport.close()


def longest_run_s(plan: LoadPlan) -> float:
    """How long a run may take at most, its preparation in the processes included."""
    longest_drain_s = max(plan.drain_s, plan.drain_at_most_s)
    return plan.shape.duration_s + longest_drain_s + RUN_MARGIN_S


def send_line(process: asyncio.subprocess.Process, request: msgspec.Struct) -> None:
    """Write a request to the standard input of a process, as a line of JSON."""
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(request) + b"\n")


async def start_locust_process(
    arguments: Sequence[str],
    *,
    variables: Mapping[str, str],
    keep: Sequence[int] = (),
) -> asyncio.subprocess.Process:
    """A Locust process with further environment variables, which ends when its input closes; it
    inherits the descriptors `keep`.
    """
    # It starts with interrupts blocked and unblocks them when it can handle them.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        return await asyncio.create_subprocess_exec(
            *MODULE,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            start_new_session=True,
            pass_fds=tuple(keep),
            env={**os.environ, **variables},
        )
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
