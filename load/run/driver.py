"""Drives runs: the processes of a command, and each run from its plans to its outcome."""

import json
import secrets
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
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
from hookproof.load.target.settings import TargetSettings
from hookproof.receiver.client.child_process import child
from hookproof.receiver.http.authority import Authority
from hookproof.spec.dialect.writer import written_dialect

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
    settings: TargetSettings,
    profile: Profile,
    spread: Spread | None,
    *,
    web: str | None,
    interrupts: Interrupts,
) -> AsyncIterator[Ready]:
    """Receivers, a target and the run's endpoints there.

    Raises ChildFailed, GeneratorFailed, UnfitWorker, Unreachable, Refused and AuthorityProblem.
    """
    async with AsyncExitStack() as stack:
        folder = settings.ca_dir or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="hookproof-load-ca-"))
        )
        ca = Authority(folder).certificate_path
        settings = stack.enter_context(_dialect_in_a_file(settings))
        reached = await stack.enter_async_context(_target(settings, ca))
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


@contextmanager
def _dialect_in_a_file(settings: TargetSettings) -> Iterator[TargetSettings]:
    """Write a dialect that stands in the target file alone where other processes can read it."""
    if settings.dialect_source is not None:
        yield settings
        return
    with tempfile.TemporaryDirectory(prefix="hookproof-load-dialect-") as folder:
        path = Path(folder) / "dialect.yaml"
        path.write_text(json.dumps(written_dialect(settings.dialect)), encoding="utf-8")
        yield replace(settings, dialect_source=str(path))


@asynccontextmanager
async def _target(settings: TargetSettings, ca: Path) -> AsyncIterator[TargetSettings]:
    """The target given, or an embedded server for as long as the command lasts."""
    if settings.base_url is not None:
        yield settings
        return
    key = secrets.token_urlsafe(24)
    serve = [
        "serve",
        "--port",
        "0",
        "--dialect",
        settings.dialect_argument,
        "--project",
        f"{PROJECT}={key}",
        "--ca",
        str(ca),
    ]
    async with child(serve, deadline_s=START_WITHIN_S) as server:
        yield replace(settings, base_url=server["api"], project=PROJECT, api_key=key)
