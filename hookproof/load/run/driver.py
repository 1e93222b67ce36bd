"""Drives the runs of a command: starts its processes, and takes each run from plans to outcome."""

import json
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from hookproof.load.distributed.workers import Distribution, start_workers
from hookproof.load.ledger.run_metrics import RunMetrics
from hookproof.load.ledger.share import RunResult
from hookproof.load.metrics import MetricsProblem
from hookproof.load.plan import LoadPlan
from hookproof.load.profile.load_profile import LoadProfile
from hookproof.load.run.outcome import LoadOutcome, compute_outcome
from hookproof.load.single_process import (
    START_WITHIN_S,
    InterruptForwarder,
    LoadGeneratorFailed,
    SingleProcess,
    UnfitWorker,
    start_single_process,
)
from hookproof.load.target.client import TargetRefusal, Unreachable
from hookproof.load.target.hook_calls import HookCalls
from hookproof.load.target.preparation import LoadPreparation, prepare
from hookproof.load.target.settings import TargetSettings
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.messages import print_line
from hookproof.process.private_folder import private_folder
from hookproof.process.subprocesses import PROJECTS_VARIABLE
from hookproof.process.written_file import write_file
from hookproof.receiver.client.child_process import ChildFailed, child
from hookproof.receiver.http.address import Address, listener_names
from hookproof.receiver.http.authority import Authority, AuthorityProblem
from hookproof.spec.dialect.writer import written_dialect
from hookproof.target.hooks.provision import HookFailed
from hookproof.target.receiver_url import require_taken

PROJECT: Final = "load"


class Generators(Protocol):
    """What carries out runs: one process, or a master with its workers."""

    @property
    def receivers(self) -> tuple[str, ...]:
        """The URL of each worker's receiver."""

    async def run(self, plans: Sequence[LoadPlan]) -> RunResult:
        """Carry out the plan of each worker; raises LoadGeneratorFailed."""


@contextmanager
def command_errors() -> Iterator[None]:
    """Turn what keeps a run from being carried out into CommandError, with its exit code."""
    try:
        yield
    except Unreachable as unreachable:
        raise CommandError(str(unreachable), ExitCode.UNREACHABLE) from None
    except TargetRefusal as refused:
        code = ExitCode.FAILED if refused.is_failure else ExitCode.USAGE
        raise CommandError(str(refused), code) from None
    except (ChildFailed, HookFailed, AuthorityProblem, UnfitWorker, MetricsProblem) as failed:
        raise CommandError(str(failed)) from None
    except LoadGeneratorFailed as failed:
        raise CommandError(str(failed), ExitCode.INTERNAL_ERROR) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """Carries out runs against a prepared target."""

    preparation: LoadPreparation
    generators: Generators
    metrics: RunMetrics

    async def run(self, profile: LoadProfile) -> LoadOutcome:
        """Carry out one run and balance its ledger; raises LoadGeneratorFailed."""
        self.metrics.begin(len(self.preparation.endpoints))
        gathered = await self.generators.run(self.preparation.plans(profile, secrets.token_hex(4)))
        for sent in (share.sent for share in gathered.shares):
            self.preparation.hooks.note_created_by_mix(sent.counts.get("created", 0), sent.created)
            self.preparation.hooks.note_reached(sent.event)
        outcome = compute_outcome(self.preparation, profile, gathered)
        self.metrics.end(outcome.figures)
        return outcome


@asynccontextmanager
async def open_driver(
    settings: TargetSettings,
    profile: LoadProfile,
    distribution: Distribution | None,
    *,
    web: str | None,
    interrupts: InterruptForwarder,
    metrics: RunMetrics | None = None,
    announce: Callable[[str], object] = print_line,
) -> AsyncIterator[Driver]:
    """Start receivers and, if needed, a target, and create the endpoints of the runs there.

    `announce` is told where the figures of a receiver are served. At the end, hooks remove what was
    created, as far as there are any.

    Raises CommandError, ChildFailed, LoadGeneratorFailed, UnfitWorker, Unreachable, TargetRefusal,
    HookFailed and AuthorityProblem.
    """
    async with AsyncExitStack() as stack:
        folder = settings.ca_dir or stack.enter_context(private_folder())
        names = listener_names(Address.parse(settings.bind), settings.public_url)
        ca = Authority(folder, names).certificate_path
        settings = stack.enter_context(_dialect_in_a_file(settings))
        reached = await stack.enter_async_context(_target(settings, ca))
        if not reached.project:
            reached = await _with_fresh_project(reached, distribution)
        hooks = HookCalls.of(reached)
        await stack.enter_async_context(hooks.cleaned_up())
        generators: Generators
        metrics = metrics or RunMetrics()
        if distribution is None:
            generators = await stack.enter_async_context(
                start_single_process(
                    reached, ca_dir=folder, web=web, interrupts=interrupts, metrics=metrics
                )
            )
        else:
            generators = await stack.enter_async_context(
                start_workers(
                    reached,
                    distribution,
                    ca_dir=folder,
                    web=web,
                    interrupts=interrupts,
                    metrics=metrics,
                )
            )
        for url in generators.receivers:
            require_taken(url, reached.dialect)
        preparation = await prepare(reached, profile, generators.receivers, hooks)
        if isinstance(generators, SingleProcess) and generators.metrics_url is not None:
            announce(f"metrics of the receiver at {generators.metrics_url}")
        yield Driver(preparation=preparation, generators=generators, metrics=metrics)


@contextmanager
def _dialect_in_a_file(settings: TargetSettings) -> Iterator[TargetSettings]:
    """Write an inline dialect of the target file to a file that other processes can read."""
    if settings.dialect_source is not None:
        yield settings
        return
    with private_folder() as folder:
        path = folder / "dialect.yaml"
        write_file(path, json.dumps(written_dialect(settings.dialect)))
        yield replace(settings, dialect_source=str(path))


async def _with_fresh_project(
    settings: TargetSettings, distribution: Distribution | None
) -> TargetSettings:
    """The settings with a project that a hook has created; raises HookFailed and UnfitWorker."""
    if distribution is not None and not distribution.local:
        raise UnfitWorker(
            "the workers on other machines need the key of the project, and that of a fresh project"
            " is not passed on: name a project in the target file"
        )
    try:
        fresh = await settings.provision.fresh_project()
    except HookFailed as failure:
        raise failure.masked(HookCalls.of(settings).mask.quotation) from None
    return replace(settings, project=fresh["id"], api_key=fresh["api_key"])


@asynccontextmanager
async def _target(settings: TargetSettings, ca: Path) -> AsyncIterator[TargetSettings]:
    """The target of the settings, or an embedded server that runs as long as the command."""
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
        "--ca",
        str(ca),
    ]
    keys = {PROJECTS_VARIABLE: f"{PROJECT}={key}"}
    async with child(serve, deadline_s=START_WITHIN_S, environment=keys) as server:
        yield replace(settings, base_url=server["api"], project=PROJECT, api_key=key)
