"""The recorded kill matrix: every check kills, every fault is killed of all it names, and no check
can be spared.

`make mutants` writes the record out of real trials; what is added to the catalogue or the checks
since then shows here.
"""

from collections.abc import Iterator

import pytest

from hookproof.conformance.model.check_registry import all_checks
from hookproof.conformance.mutants.catalogue import DIALECTS
from hookproof.conformance.mutants.kill_matrix import RECORDED, Kills, recorded
from hookproof.mockserver.faults.registry import catalogue

if not RECORDED.is_file():
    pytest.skip(
        "no kill matrix is recorded yet: `make mutants` records one", allow_module_level=True
    )

KILLS: Kills = recorded()
FAULTS = {name: one for name, one in catalogue().items() if not one.innocent}
STALE = "the record is stale: `make mutants` writes it anew"


def pairs(without: str = "") -> Iterator[tuple[str, str]]:
    """Each fault with each requirement that a check convicted it of."""
    for fault, dialects in KILLS.items():
        for checks in dialects.values():
            for check, requirements in checks.items():
                if check != without:
                    yield from ((fault, one) for one in requirements)


def claimed() -> set[tuple[str, str]]:
    return {(name, one) for name, fault in FAULTS.items() for one in fault.violates}


def test_the_record_knows_every_fault_and_no_other() -> None:
    assert set(KILLS) == set(FAULTS), STALE
    assert {dialect for dialects in KILLS.values() for dialect in dialects} <= set(DIALECTS), STALE


def test_the_record_knows_checks_that_there_are() -> None:
    known = {check.name for check in all_checks()}
    assert {
        check for dialects in KILLS.values() for checks in dialects.values() for check in checks
    } <= known, STALE


def test_every_fault_is_convicted_of_all_that_it_violates_and_of_nothing_else() -> None:
    assert set(pairs()) == claimed(), STALE


@pytest.mark.parametrize("check", [check.name for check in all_checks()])
def test_every_check_kills_and_without_it_somebody_survives(check: str) -> None:
    killed = {
        fault
        for fault, dialects in KILLS.items()
        for checks in dialects.values()
        if check in checks
    }
    assert killed, f"{check} kills nothing"
    assert claimed() - set(pairs(without=check)), (
        f"without {check} every fault is still convicted of all it violates"
    )
