"""Runs spoiled servers, and compares what is exercised there with the clean server."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import fmean
from typing import Final

from hookproof.conformance.mutants.campaign import CLEAN, CLEAN_DIFFERENCE, CampaignPlan
from hookproof.conformance.mutants.hiding.hiding_servers import HidingServer, read_hiding_servers
from hookproof.conformance.mutants.mutant_run import MutantRunOrder
from hookproof.conformance.mutants.results import NOT_RUN, VariantOutcome
from hookproof.conformance.mutants.worker_pool import WorkerPool
from hookproof.process.exit_codes import CommandError

RECORDED: Final = Path(__file__).parent / "lost.json"
FORMAT: Final = 1

# The most that may be lost on average of all servers or of a sample, and to each fault, those apart
# by which a whole operation fails. A server with two faults may hide what each of them may.
MEAN_SHARE: Final = 0.05
MOST_SHARE: Final = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """The requirements that one spoiled server hid, out of `exercised` on the clean server.

    `problems` are errors of hookproof itself.
    """

    server: HidingServer
    lost: tuple[str, ...]
    exercised: int
    problems: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        return len(self.lost) / self.exercised

    @property
    def unnamed(self) -> tuple[str, ...]:
        """What was lost without a reason in `hiding_servers.yaml`."""
        if self.server.generated:
            return ()
        return tuple(name for name in self.lost if not self.server.may_hide(name))

    @property
    def is_too_much(self) -> bool:
        most_share = MOST_SHARE * self.server.faults
        return self.share >= most_share and not self.server.whole_operation


@dataclass(frozen=True, slots=True, kw_only=True)
class HidingOutcome:
    """The losses of all servers that ran; `interrupted` is whether some did not.

    Servers that somebody `picked` by name have no average to be held to.
    """

    losses: tuple[Loss, ...]
    duration_s: float
    interrupted: bool
    picked: bool = False

    @property
    def mean_share(self) -> float:
        """The average of the servers on which every operation succeeds."""
        shares = [loss.share for loss in self.losses if not loss.server.whole_operation]
        return fmean(shares) if shares else 0.0

    @property
    def is_within_bounds(self) -> bool:
        bad = any(loss.unnamed or loss.problems or loss.is_too_much for loss in self.losses)
        return not bad and (self.picked or self.mean_share < MEAN_SHARE)


def spoiled_servers(plan: CampaignPlan, patterns: Sequence[str]) -> tuple[HidingServer, ...]:
    """Every hiding server, every two in one, and every fault of the first dialect, as patterns
    select; of a plan with generated faults, these alone.

    Raises CommandError if that is nothing, and FileProblems.
    """
    known = read_hiding_servers()
    dialect = plan.dialects[0].name
    if plan.generated:
        return tuple(
            HidingServer(name=fault.name, deviations=fault.deviations, generated=True)
            for fault in plan.faults[dialect]
        )
    faults = tuple(
        known.of_fault(fault.name)
        for fault in plan.faults[dialect]
        if fault.applies and not fault.is_variant
    )
    servers = tuple(
        server
        for server in (*known.servers, *known.pairs, *faults)
        if not patterns or any(fnmatchcase(server.name, pattern) for pattern in patterns)
    )
    if not servers:
        raise CommandError(
            f"no hiding server or fault is named {' or '.join(patterns)}; hiding_servers.yaml and"
            " `hookproof serve --list-faults` name all"
        )
    return servers


def measure_hiding(
    plan: CampaignPlan, servers: Sequence[HidingServer], on_loss: Callable[[Loss], None]
) -> HidingOutcome:
    """Run the clean server, then each spoiled one; an interrupt ends it with what ran until then.

    All run under the first dialect of the plan, with every experiment of its profile. What hangs on
    time is not exercised while others keep the machine busy. So a server that hid what is not named
    runs once more, alone, and what it does not hide again is not lost.
    """
    started = time.monotonic()
    losses: list[Loss] = []
    doubtful: list[Loss] = []
    with WorkerPool(plan.settings.jobs, lambda _outcome: None) as pool:
        (clean,) = pool.run_all({_subject(CLEAN, plan): _order(plan, ())})
        by_name = {server.name: server for server in servers}
        orders = {
            _subject(server.name, plan): _order(plan, server.deviations) for server in servers
        }
        for outcome in pool.run_all(orders):
            exercised = clean.result.exercised
            loss = Loss(
                server=by_name[outcome.name],
                lost=tuple(sorted(exercised - outcome.result.exercised)),
                exercised=len(exercised),
                problems=outcome.result.problems,
            )
            if loss.unnamed:
                doubtful.append(loss)
                continue
            losses.append(loss)
            on_loss(loss)
        for loss in doubtful:
            subject = _subject(loss.server.name, plan)
            (again,) = pool.run_all({subject: _order(plan, loss.server.deviations)})
            lost = (name for name in loss.lost if name not in again.result.exercised)
            losses.append(replace(loss, lost=tuple(lost)))
            on_loss(losses[-1])
    return HidingOutcome(
        losses=tuple(losses),
        duration_s=time.monotonic() - started,
        interrupted=pool.interrupted,
    )


def _subject(name: str, plan: CampaignPlan) -> VariantOutcome:
    return VariantOutcome(
        name=name, dialect=plan.dialects[0].name, difference=CLEAN_DIFFERENCE, result=NOT_RUN
    )


def _order(plan: CampaignPlan, deviations: Sequence[str]) -> MutantRunOrder:
    return plan.order(plan.dialects[0], deviations, plan.experiment_names)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedLosses:
    """What each server was recorded to hide, by its name, of so many exercised requirements."""

    exercised: int
    lost: Mapping[str, Sequence[str]]


def read_losses(path: Path = RECORDED) -> RecordedLosses:
    """The record; raises OSError without one, ValueError if it is of another format."""
    content = json.loads(path.read_text(encoding="utf-8"))
    if content.get("format") != FORMAT:
        raise ValueError(f"{path} is of another format; `make hiding` writes it anew")
    return RecordedLosses(exercised=content["exercised"], lost=content["lost"])


def record_losses(outcome: HidingOutcome, path: Path = RECORDED) -> None:
    """Write down what the servers that ran hid; the entries of others stay as they are."""
    if not outcome.losses:
        return
    known = read_losses(path).lost if path.is_file() else {}
    new = {loss.server.name: loss.lost for loss in outcome.losses}
    content = {
        "format": FORMAT,
        "exercised": outcome.losses[0].exercised,
        "lost": {**known, **new},
    }
    path.write_text(f"{json.dumps(content, indent=1, sort_keys=True)}\n", encoding="utf-8")
