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

from hookproof.load.ledger.share import RunResult
from hookproof.load.plan import LoadPlan
from hookproof.load.target.settings import TargetSettings
from hookproof.process.exit_codes import ExitCode
from hookproof.process.private_folder import private_folder
from hookproof.process.subprocesses import send_signal
from hookproof.process.written_file import write_file
from hookproof.receiver.client.child_process import child

START_WITHIN_S: Final = 300.0
MODULE: Final = (sys.executable, "-P", "-m")  # -P: not from the current folder


class LoadGeneratorFailed(Exception):
    """A Locust process ended without a result; the message says how."""


class ReportedByGenerator(Exception):
    """A Locust process has said itself, in a line, which file it cannot write."""


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
class SingleProcess:
    """The only worker of a run that is not distributed."""

    receivers: tuple[str, ...]
    control_url: str
    variables: Mapping[str, str] = field(repr=False)
    web: str | None
    interrupts: InterruptForwarder

    async def run(self, plans: Sequence[LoadPlan]) -> RunResult:
        """Have a Locust process carry out the plan; its progress goes to standard output.

        Raises FileNotWritten, ReportedByGenerator and LoadGeneratorFailed.
        """
        with private_folder() as folder:
            plan, result = folder / "plan.json", folder / "result"
            write_file(plan, msgspec.json.encode(plans[0]))
            options = [
                "--control",
                self.control_url,
                *(["--web", self.web] if self.web is not None else []),
            ]
            process = await start_locust_process(
                ["hookproof.load.locust_worker.runner", str(plan), str(result), *options],
                variables=self.variables,
            )
            try:
                with self.interrupts.passed_on_to(process):
                    code = await process.wait()
            finally:
                send_signal(process, signal.SIGTERM)
                await process.wait()
            if code == ExitCode.USAGE:
                raise ReportedByGenerator
            if not result.exists():
                raise LoadGeneratorFailed(
                    f"the load generator ended with exit code {code} and without a result"
                )
            return msgspec.msgpack.decode(result.read_bytes(), type=RunResult)


@asynccontextmanager
async def start_single_process(
    settings: TargetSettings, *, ca_dir: Path, web: str | None, interrupts: InterruptForwarder
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
            variables=settings.variables,
            web=web,
            interrupts=interrupts,
        )


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
