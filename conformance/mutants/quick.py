"""The quick pass: for every check the first fault that it is known to kill, in as few trials as that takes.

Some faults show by chance, so a check that does not kill there is tried with the next fault that it is known to kill.
One that has not killed after a few is told of.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Final

from conformance.mutants.campaign import Docket, campaign_of
from conformance.mutants.courtroom import Courtroom, Told
from conformance.mutants.record import Expected, Kills, first_killers, killing
from conformance.mutants.results import NOTHING, Campaign, Outcome
from conformance.mutants.trial import TrialOrder
from conformance.refusal import Refusal

ROUNDS: Final = 3


def quick_campaign(asked: Docket, kills: Kills, told: Told) -> tuple[Campaign, tuple[str, ...]]:
    """Try them, and tell which checks do not kill as they are recorded to; raises Refusal for a stale record."""
    started = time.monotonic()
    missing: dict[str, str] = {}
    with Courtroom(asked.settings.jobs, told) as court:
        for _ in range(ROUNDS):
            orders = _orders(asked, chosen := first_killers(kills))
            tried = {(one.fault.name, one.dialect): one for one in court.tried_all(orders)}
            missing |= _missing(chosen, tried)
            missing = {check: why for check, why in missing.items() if not _killed(check, tried.values())}
            kills = killing(kills, missing, besides=tried)
    campaign = campaign_of(asked, court, started, complete=False, whole=False)
    return campaign, tuple(missing.values())


def _orders(asked: Docket, chosen: Iterable[Expected]) -> dict[Outcome, TrialOrder]:
    speaking = {one.name: one for one in asked.speaking}
    orders = {}
    for expected in chosen:
        fault = next((one for one in asked.faults.get(expected.dialect, ()) if one.name == expected.fault), None)
        if fault is None or not fault.applies:
            raise Refusal(
                f"{expected.fault} is recorded and is no fault any more; `make mutants` writes the record anew"
            )
        subject = Outcome(fault=fault, dialect=expected.dialect, claims=frozenset(fault.violates), result=NOTHING)
        orders[subject] = asked.order(speaking[expected.dialect], ("--fault", fault.name), asked.mattering(fault))
    return orders


def _missing(chosen: Iterable[Expected], tried: Mapping[tuple[str, str], Outcome]) -> dict[str, str]:
    """The checks that did not kill where they were to, each with the words for it."""
    return {
        check: f"{check} no longer kills {one.fault} ({one.dialect})"
        for one in chosen
        for check in sorted(one.checks)
        if not _killed(check, [tried[one.fault, one.dialect]])
    }


def _killed(check: str, tried: Iterable[Outcome]) -> bool:
    return any(check == conviction.check for one in tried for conviction in one.rightly)
