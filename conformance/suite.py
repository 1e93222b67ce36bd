"""The suite that pytest runs: one test, made as many times as there are requirements by `plugin.py`."""

import pytest

from conformance.ledger import Entry
from conformance.verdict import Verdict


def test_requirement(entry: Entry) -> None:
    """The target keeps this requirement."""
    if entry.verdict is Verdict.FAIL:
        told = [f"{one.message}\n  expected: {one.expected}\n  actual: {one.actual}" for one in entry.findings]
        pytest.fail("\n".join([entry.requirement.text, *told]), pytrace=False)
    if entry.verdict is not Verdict.PASS:
        pytest.skip("\n".join(entry.reasons))
