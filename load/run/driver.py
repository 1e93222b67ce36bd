"""Drives runs: the processes of a command, and each run from its plans to its outcome."""

import secrets
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from hookproof.load.distributed.workers import Spread, crew
from hookproof.load.ledger.share import Gathered
from hookproof.load.plan import Plan
from hookproof.load.profile.load_profile import Profile
from hookproof.load.run.outcome import Outcome, outcome_of
from hookproof.load.single_process import START_WITHIN_S, Interrupts, solo
from hookproof.load.target.preparation import Stage, set_up
from hookproof.load.target.settings import Site
from hookproof.receiver.client.child_process import child
from hookproof.receiver.http.authority import Authority

PROJECT: Final = "load"


class Team(Protocol):
    """Who carries out runs: one process, or a master with its workers."""

    @property
    def receivers(self) -> tuple[str, ...]:
        """The URL of each worker's receiver."""

    async def run(self, plans: Sequence[Plan]) -> Gathered:
        """Carry out the plan of each worker; raises GeneratorFailed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """All that runs need."""

    stage: Stage
    team: Team

    async def run(self, profile: Profile) -> Outcome:
        """One run, drained and balanced; raises GeneratorFailed."""
        gathered = await self.team.run(self.stage.plans(profile, secrets.token_hex(4)))
        return outcome_of(self.stage, profile, gathered)


@asynccontextmanager
async def staged(
    site: Site, profile: Profile, spread: Spread | None, *, web: str | None, interrupts: Interrupts
) -> AsyncIterator[Ready]:
    """Receivers, a target and the run's endpoints there.

    Raises ChildFailed, GeneratorFailed, UnfitWorker, Unreachable, Refused and AuthorityProblem.
    """
    async with AsyncExitStack() as stack:
        folder = site.ca_dir or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="hookproof-load-ca-"))
        )
        ca = Authority(folder).certificate_path
        reached = await stack.enter_async_context(_target(site, ca))
        team: Team
        if spread is None:
            team = await stack.enter_async_context(
                solo(reached, ca_dir=folder, web=web, interrupts=interrupts)
            )
        else:
            team = await stack.enter_async_context(
                crew(reached, spread, ca_dir=folder, web=web, interrupts=interrupts)
            )
        yield Ready(stage=await set_up(reached, profile, team.receivers), team=team)


@asynccontextmanager
async def _target(site: Site, ca: Path) -> AsyncIterator[Site]:
    """The target given, or an embedded server for as long as the command lasts."""
    if site.base_url is not None:
        yield site
        return
    key = secrets.token_urlsafe(24)
    serve = [
        "serve",
        "--port",
        "0",
        "--dialect",
        site.dialect_name,
        "--project",
        f"{PROJECT}={key}",
        "--ca",
        str(ca),
    ]
    async with child(serve, deadline_s=START_WITHIN_S) as server:
        yield replace(site, base_url=server["api"], project=PROJECT, api_key=key)
