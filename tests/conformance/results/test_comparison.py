from dataclasses import replace

import pytest

from hookproof.conformance.model.ledger import Entry, Ledger
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.comparison import Change, differences
from hookproof.spec.catalogue import Level
from tests.conformance.canned_run import failed, not_exercised, passed

PASSED, FAILED = passed("4.1-2"), failed("4.1-2")
BROKEN = replace(PASSED, verdict=Verdict.ERROR)
NOT_EXERCISED = not_exercised("4.1-2")
ACCEPTED = replace(FAILED, accepted="Known")
LACKING = replace(PASSED, verdict=Verdict.NOT_APPLICABLE)


def change(before: Entry | None, after: Entry | None, *, strict: bool = False) -> list[Change]:
    ledgers = [Ledger(entries=() if entry is None else (entry,)) for entry in (before, after)]
    return [difference.change for difference in differences(*ledgers, strict=strict)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (PASSED, PASSED, []),
        (PASSED, FAILED, [Change.WORSE]),
        (FAILED, PASSED, [Change.BETTER]),
        (PASSED, NOT_EXERCISED, [Change.WORSE]),
        (NOT_EXERCISED, PASSED, [Change.BETTER]),
        (NOT_EXERCISED, FAILED, [Change.WORSE]),
        (FAILED, NOT_EXERCISED, [Change.BETTER]),
        (PASSED, BROKEN, [Change.WORSE]),
        (FAILED, ACCEPTED, [Change.BETTER]),
        (ACCEPTED, FAILED, [Change.WORSE]),
        (PASSED, ACCEPTED, [Change.OTHER]),
        (PASSED, LACKING, [Change.OTHER]),
        (None, FAILED, [Change.WORSE]),
        (None, PASSED, [Change.OTHER]),
        (PASSED, None, [Change.OTHER]),
    ],
)
def test_a_change_is_worse_better_or_neither(
    before: Entry | None, after: Entry | None, expected: list[Change]
) -> None:
    assert change(before, after) == expected


def test_failed_hygiene_is_worse_only_when_strict() -> None:
    before, after = passed("4.1-2", Level.HYGIENE), failed("4.1-2", Level.HYGIENE)
    assert change(before, after) == [Change.OTHER]
    assert change(before, after, strict=True) == [Change.WORSE]
