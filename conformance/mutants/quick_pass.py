"""The quick pass: for every check the first fault that it is recorded to kill, in few runs."""

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping

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
        deque(pool.run_all(orders), maxlen=0)
    campaign = campaign_of(plan, pool, started, complete=False, whole=False)
    return campaign, tuple(_missing_kills(campaign.outcomes, chosen))


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
    outcomes: Iterable[FaultOutcome], chosen: Mapping[tuple[str, str], ExpectedKill]
) -> Iterator[str]:
    for outcome in outcomes:
        expected = chosen[outcome.fault.name, outcome.dialect]
        killed = {detection.check for detection in outcome.expected_detections}
        for check in sorted(expected.checks - killed):
            yield f"{check} no longer kills {outcome.fault.name} ({outcome.dialect})"
