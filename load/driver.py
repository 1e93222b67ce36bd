"""Drives runs: the processes of a command, and each run from its plan to its outcome."""

import asyncio
import secrets
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import aiohttp
import msgspec

from load.outcome import Outcome, outcome_of
from load.plan import Plan
from load.profile import Profile
from load.sending import Sent
from load.sidecar_api import Arrived
from load.site import Site
from load.stage import Stage, set_up
from receiver.child import child

START_WITHIN_S: Final = 30.0
PROJECT: Final = "load"
SIDECAR: Final = (sys.executable, "-P", "-m")


class GeneratorFailed(Exception):
    """The locust process ended without a result; the text says how."""


@dataclass(slots=True, kw_only=True)
class Interrupts:
    """Ctrl-C, of which the generator makes what it means."""

    count: int = 0
    process: asyncio.subprocess.Process | None = field(default=None)

    def raised(self) -> None:
        """Count one, and hand it on to the generator."""
        self.count += 1
        if self.process is not None and self.process.returncode is None:
            with suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGINT)


@asynccontextmanager
async def staged(site: Site, profile: Profile) -> AsyncIterator[Stage]:
    """A sidecar, a target and the run's endpoints there; raises ChildFailed, Unreachable, Refused."""
    async with AsyncExitStack() as stack:
        folder = site.ca_dir or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hookproof-load-ca-")))
        options = ["--bind", site.bind, "--ca-dir", str(folder), "--dialect", site.dialect_name]
        options += ["--late-after", str(profile.late_after_s)]
        options += ["--public-url", site.public_url] if site.public_url else []
        sidecar = await stack.enter_async_context(
            child(["load.sidecar", *options], deadline_s=START_WITHIN_S, program=SIDECAR)
        )
        reached = await stack.enter_async_context(_target(site, sidecar["ca"]))
        yield await set_up(reached, profile, sidecar["url"], sidecar["control"])


@asynccontextmanager
async def _target(site: Site, ca: str) -> AsyncIterator[Site]:
    """The target given, or an embedded server for as long as the command lasts."""
    if site.base_url is not None:
        yield site
        return
    key = secrets.token_urlsafe(24)
    serve = ["serve", "--port", "0", "--dialect", site.dialect_name, "--project", f"{PROJECT}={key}", "--ca", ca]
    async with child(serve, deadline_s=START_WITHIN_S) as server:
        yield replace(site, base_url=server["api"], project=PROJECT, api_key=key)


async def run(stage: Stage, profile: Profile, interrupts: Interrupts) -> Outcome:
    """One run, drained and balanced; raises GeneratorFailed."""
    plan = stage.plan(profile, secrets.token_hex(4))
    sent = await _send(plan, interrupts)
    async with (
        aiohttp.ClientSession(stage.control_url, raise_for_status=True) as sidecar,
        sidecar.get("/arrivals") as answer,
    ):
        arrived = msgspec.json.decode(await answer.read(), type=Arrived)
    return outcome_of(stage, profile, sent, arrived)


async def _send(plan: Plan, interrupts: Interrupts) -> Sent:
    """Let the generator carry out the plan; what it says goes to standard output as it comes."""
    with tempfile.TemporaryDirectory(prefix="hookproof-load-") as folder:
        written, result = Path(folder) / "plan.json", Path(folder) / "result.json"
        plan.write(written)
        # The generator begins with interrupts blocked and takes them when it can, so that none is lost or ends it.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *(
                    "-P",
                    "-m",
                    "load.runner",
                    str(written),
                    str(result),
                ),  # -P: no folder of the user's stands in for ours
                stdin=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        interrupts.process = process
        try:
            code = await process.wait()
        finally:
            if process.returncode is None:
                process.terminate()
                await process.wait()
        if code != 0 or not result.exists():
            raise GeneratorFailed(f"the load generator ended with exit code {code} and without a result")
        return msgspec.json.decode(result.read_bytes(), type=Sent)
