"""The recorded kill matrix: which check killed which fault, under which dialect, by which
requirement.

`make mutants` writes it, people commit it, tests read it. A fault's entry comes from runs of the
mutant with that fault alone, and is replaced without touching the others. The quick pass takes from
the matrix the first fault that each check is known to kill, in few runs. What a machine that is
late cannot tell is no kill either, so that a run in which one is missing is made once more.
"""

import json
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Final

from hookproof.conformance.mutants.campaign import CampaignPlan, campaign_of
from hookproof.conformance.mutants.mutant_run import MutantRunOrder
from hookproof.conformance.mutants.results import NOT_RUN, Campaign, FaultOutcome
from hookproof.conformance.mutants.worker_pool import OnOutcome, WorkerPool
from hookproof.process.exit_codes import CommandError

RECORDED: Final = Path(__file__).parent / "kill_matrix.json"
FORMAT: Final = 1

# Fault, dialect, check, and the requirements of the fault that the check detected.
Kills = Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedKill:
    """One mutant run of the quick pass, and the checks that must kill the fault there."""

    fault: str
    dialect: str
    checks: frozenset[str]


def kills_of(campaign: Campaign) -> Kills:
    kills: dict[str, dict[str, dict[str, list[str]]]] = {}
    for outcome in sorted(campaign.outcomes, key=lambda item: (item.fault.name, item.dialect)):
        checks = kills.setdefault(outcome.fault.name, {}).setdefault(outcome.dialect, {})
        for detection in outcome.expected_detections:
            checks.setdefault(detection.check, []).append(detection.requirement)
    return kills


def read_kills(path: Path = RECORDED) -> Kills:
    """The recorded matrix; raises OSError without one, ValueError if it is of another format."""
    content = json.loads(path.read_text(encoding="utf-8"))
    if content.get("format") != FORMAT:
        raise ValueError(f"{path} is of another format; `make mutants` writes it anew")
    kills: Kills = content["kills"]
    return kills


def record_kills(campaign: Campaign, path: Path = RECORDED) -> None:
    """Write down the kills of a campaign.

    The entries of faults that it did not run stay as they are, unless it ran every fault. Of a
    fault that ran, what is recorded for a dialect that was not tried stays too.
    """
    kills = kills_of(campaign)
    known = {} if campaign.whole or not path.is_file() else read_kills(path)
    if not campaign.complete:
        kills = {fault: {**known.get(fault, {}), **kills[fault]} for fault in kills}
    text = json.dumps({"format": FORMAT, "kills": {**known, **kills}}, indent=1, sort_keys=True)
    path.write_text(f"{text}\n", encoding="utf-8")


def first_killers(kills: Kills) -> tuple[ExpectedKill, ...]:
    """A few mutant runs in which every check kills something.

    Greedy: the run in which most of the remaining checks kill comes first.
    """
    runs = {(fault, dialect): frozenset(checks) for fault, dialect, checks in _runs(kills)}
    remaining = {check for checks in runs.values() for check in checks}
    chosen = []
    while remaining:
        fault, dialect = max(runs, key=lambda run: (len(runs[run] & remaining), run))
        checks = runs[fault, dialect] & remaining
        chosen.append(ExpectedKill(fault=fault, dialect=dialect, checks=checks))
        remaining -= checks
    return tuple(chosen)


def _runs(kills: Kills) -> Iterator[tuple[str, str, Mapping[str, Sequence[str]]]]:
    for fault, dialects in kills.items():
        for dialect, checks in dialects.items():
            yield fault, dialect, checks


def run_quick_campaign(
    plan: CampaignPlan, kills: Kills, on_outcome: OnOutcome
) -> tuple[Campaign, tuple[str, ...]]:
    """Run them, and return a line for each check that does not kill as it is recorded to.

    Raises CommandError for a stale record.
    """
    started = time.monotonic()
    chosen = {(expected.fault, expected.dialect): expected for expected in first_killers(kills)}
    orders = _orders_of(plan, chosen.values())
    with WorkerPool(plan.settings.jobs, on_outcome) as pool:
        outcomes = list(pool.run_all(orders))
        for outcome in outcomes:
            # A run that shows another flaw of the suites stays as it is.
            flawed = outcome.false_positives or outcome.result.problems
            if _missing_kills(outcome, chosen) and not flawed:
                pool.outcomes.remove(outcome)
                subject = replace(outcome, result=NOT_RUN)
                deque(pool.run_all({subject: orders[subject]}), maxlen=0)
    campaign = campaign_of(plan, pool, started, complete=False, whole=False)
    missing = (_missing_kills(outcome, chosen) for outcome in campaign.outcomes)
    return campaign, tuple(chain.from_iterable(missing))


def _orders_of(
    plan: CampaignPlan, chosen: Iterable[ExpectedKill]
) -> dict[FaultOutcome, MutantRunOrder]:
    dialects = {dialect.name: dialect for dialect in plan.dialects}
    orders = {}
    for expected in chosen:
        faults = {fault.name: fault for fault in plan.faults.get(expected.dialect, ())}
        fault = faults.get(expected.fault)
        if fault is None or not fault.applies:
            raise CommandError(
                f"{expected.fault} is recorded and is no longer a fault;"
                " `make mutants` writes the record anew"
            )
        subject = FaultOutcome(
            fault=fault, dialect=expected.dialect, claims=frozenset(fault.violates), result=NOT_RUN
        )
        orders[subject] = plan.order_mutant(dialects[expected.dialect], fault)
    return orders


def _missing_kills(
    outcome: FaultOutcome, chosen: Mapping[tuple[str, str], ExpectedKill]
) -> list[str]:
    """A line for each check that is recorded to kill this fault, and has not."""
    fault, dialect = outcome.fault.name, outcome.dialect
    killed = {detection.check for detection in outcome.expected_detections}
    return [
        f"{check} no longer kills {fault} ({dialect})"
        for check in sorted(chosen[fault, dialect].checks - killed)
    ]
