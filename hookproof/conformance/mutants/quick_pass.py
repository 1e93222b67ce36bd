"""The quick pass: for every check the first fault that it is recorded to kill, in few runs.

What a machine that is late cannot tell is no failure of a target, and so no kill. A run in which a
kill is missing is therefore made once more when all others have ended.
"""

import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain

from hookproof.conformance.mutants.campaign import CampaignPlan, campaign_of
from hookproof.conformance.mutants.kill_matrix import ExpectedKill, Kills, first_killers
from hookproof.conformance.mutants.mutant_run import MutantRunOrder
from hookproof.conformance.mutants.results import NOT_RUN, Campaign, FaultOutcome
from hookproof.conformance.mutants.worker_pool import OnOutcome, WorkerPool
from hookproof.process.exit_codes import CommandError


def run_quick_campaign(
    plan: CampaignPlan, kills: Kills, on_outcome: OnOutcome
) -> tuple[Campaign, tuple[str, ...]]:
    """Run them, and return a line for each check that does not kill as it is recorded to.

    Raises CommandError for a stale record.
    """
    started = time.monotonic()
    chosen = {(expected.fault, expected.dialect): expected for expected in first_killers(kills)}
    orders = _orders(plan, chosen.values())
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


def _orders(
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
