"""The recorded kill matrix: every check kills, every claim is detected, and every check is needed.

`make mutants` writes the record from mutant runs. These tests fail when faults or checks have been
added since.
"""

from collections.abc import Iterator

import pytest

from hookproof.conformance.checks import all_checks
from hookproof.conformance.mutants.catalogue import DIALECTS
from hookproof.conformance.mutants.kill_matrix import RECORDED, Kills, read_kills
from hookproof.mockserver.faults.catalogue import catalogue

if not RECORDED.is_file():
    pytest.skip(
        "no kill matrix is recorded yet: `make mutants` records one", allow_module_level=True
    )

KILLS: Kills = read_kills()
FAULTS = {name: fault for name, fault in catalogue().items() if not fault.is_variant}
STALE = "the record is stale: `make mutants` writes it again"


def detected_pairs(without: str = "") -> Iterator[tuple[str, str]]:
    """Each fault with each of its requirements that a check detected."""
    for fault, dialects in KILLS.items():
        for checks in dialects.values():
            for check, requirements in checks.items():
                if check != without:
                    yield from ((fault, requirement) for requirement in requirements)


def claimed_pairs() -> set[tuple[str, str]]:
    return {(name, requirement) for name, fault in FAULTS.items() for requirement in fault.violates}


def test_the_record_holds_every_fault_and_no_other() -> None:
    assert set(KILLS) == set(FAULTS), STALE
    assert {dialect for dialects in KILLS.values() for dialect in dialects} <= set(DIALECTS), STALE


def test_the_record_names_only_existing_checks() -> None:
    known = {check.name for check in all_checks()}
    assert {
        check for dialects in KILLS.values() for checks in dialects.values() for check in checks
    } <= known, STALE


def test_all_that_a_fault_violates_is_detected_and_nothing_else() -> None:
    assert set(detected_pairs()) == claimed_pairs(), STALE


@pytest.mark.parametrize("check", [check.name for check in all_checks()])
def test_every_check_kills_and_without_it_a_claim_is_missed(check: str) -> None:
    killed = {
        fault
        for fault, dialects in KILLS.items()
        for checks in dialects.values()
        if check in checks
    }
    assert killed, f"{check} kills nothing"
    assert claimed_pairs() - set(detected_pairs(without=check)), (
        f"without {check} all that the faults violate is still detected"
    )
