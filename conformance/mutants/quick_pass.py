"""The quick pass: for every check the first fault that it is known to kill, in as few trials as
that takes.
"""

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from hookproof.conformance.mutants.campaign import Docket, campaign_of
from hookproof.conformance.mutants.kill_matrix import Expected, Kills, first_killers
from hookproof.conformance.mutants.mutant_run import TrialOrder
from hookproof.conformance.mutants.results import NOTHING, Campaign, Outcome
from hookproof.conformance.mutants.worker_pool import Courtroom, Told
from hookproof.process.exit_codes import CommandError


def quick_campaign(asked: Docket, kills: Kills, told: Told) -> tuple[Campaign, tuple[str, ...]]:
    """Try them, and tell which checks did not kill as they are recorded to; raises CommandError for a
    stale record.
    """
    started = time.monotonic()
    chosen = {(one.fault, one.dialect): one for one in first_killers(kills)}
    orders = _orders(asked, chosen.values())
    with Courtroom(asked.settings.jobs, told) as court:
        deque(court.tried_all(orders), maxlen=0)
    campaign = campaign_of(asked, court, started, complete=False, whole=False)
    return campaign, tuple(_missing(campaign.outcomes, chosen))


def _orders(asked: Docket, chosen: Iterable[Expected]) -> dict[Outcome, TrialOrder]:
    speaking = {one.name: one for one in asked.speaking}
    orders = {}
    for expected in chosen:
        fault = next(
            (one for one in asked.faults.get(expected.dialect, ()) if one.name == expected.fault),
            None,
        )
        if fault is None or not fault.applies:
            raise CommandError(
                f"{expected.fault} is recorded and is no fault any more; `make mutants` writes the record anew"
            )
        subject = Outcome(
            fault=fault, dialect=expected.dialect, claims=frozenset(fault.violates), result=NOTHING
        )
        orders[subject] = asked.order(
            speaking[expected.dialect], ("--fault", fault.name), asked.mattering(fault)
        )
    return orders


def _missing(
    outcomes: Iterable[Outcome], chosen: Mapping[tuple[str, str], Expected]
) -> Iterator[str]:
    for outcome in outcomes:
        expected = chosen[outcome.fault.name, outcome.dialect]
        for check in sorted(expected.checks - {one.check for one in outcome.rightly}):
            yield f"{check} no longer kills {outcome.fault.name} ({outcome.dialect})"
