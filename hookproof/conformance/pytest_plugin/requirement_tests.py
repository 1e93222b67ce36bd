"""The pytest host: one test per requirement, in the order of the document.

The node id of a test contains the requirement's id and sentence, so that pytest's own ways of
selecting and stopping work. A requirement that fails is a failed test, one that hookproof could not
judge is an error in the test's setup. One that was not exercised, is not applicable, or fails only
as a consequence of others that fail too is a skipped test; what a baseline accepts is an expected
failure.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pytest

from hookproof.conformance.model.ledger import Entry, Finding
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.curl_command import curl
from hookproof.process.terminal_text import printable, printable_lines
from hookproof.spec.catalogue import Requirement

NAME: Final = "hookproof"

Judge = Callable[[Requirement], Entry]


class Suite(pytest.Collector):
    """Collects the requirements beside the user's own test files."""

    requirements: Sequence[Requirement]
    judge: Judge

    def collect(self) -> Iterator["RequirementItem"]:
        for requirement in self.requirements:
            name = f"{requirement.id} {requirement.text}"
            yield RequirementItem.from_parent(
                self, name=name, requirement=requirement, judge=self.judge
            )


class RequirementItem(pytest.Item):
    """The test that the target keeps one requirement; `judge` may wait for evidence."""

    def __init__(self, *, requirement: Requirement, judge: Judge, **further: Any):
        super().__init__(**further)
        self.requirement = requirement
        self.entry: Entry | None = None
        self._judge = judge

    def setup(self) -> None:
        """Judge here, so that an error of hookproof is an error and not a failure."""
        self.entry = self._judge(self.requirement)
        if self.entry.verdict is Verdict.ERROR:
            pytest.fail(printable_lines("\n".join(self.entry.reasons)), pytrace=False)

    def runtest(self) -> None:
        assert self.entry is not None
        if self.entry.accepted:
            pytest.xfail(
                f"{self.entry.verdict.words}, and the baseline accepts it: {self.entry.accepted}"
            )
        if self.entry.follows_from:
            pytest.skip(
                f"fails, as follows from {', '.join(self.entry.follows_from)}:"
                f" {printable(self.entry.findings[0].message)}"
            )
        if self.entry.verdict is Verdict.FAIL:
            pytest.fail(
                "\n\n".join([self.requirement.text, *map(_describe, self.entry.findings)]),
                pytrace=False,
            )
        if self.entry.verdict is not Verdict.PASS:
            pytest.skip(printable_lines("\n".join(self.entry.reasons)))

    def reportinfo(self) -> tuple[str, None, str]:
        return NAME, None, self.name


def collect_requirements(
    session: pytest.Session, requirements: Sequence[Requirement], judge: Judge
) -> list[pytest.Item]:
    """The tests, reported to pytest as collected so that its terminal reporter counts them."""
    suite = Suite.from_parent(session, name=NAME, nodeid=NAME)
    suite.requirements, suite.judge = requirements, judge
    items: list[pytest.Item] = list(suite.collect())
    report = pytest.CollectReport(nodeid=NAME, outcome="passed", longrepr=None, result=list(items))
    session.config.hook.pytest_collectreport(report=report)
    return items


def _describe(finding: Finding) -> str:
    """What a target has sent is shown without its control characters."""
    lines = [finding.message, f"  expected: {finding.expected}", f"  actual: {finding.actual}"]
    lines.append(f"  seen: {finding.sightings} (check {finding.check})")
    if finding.follows_from:
        lines.append(f"  follows: from {', '.join(finding.follows_from)}")
    lines += [f"  {command}" for command in curl(finding.exchanges).splitlines()]
    return printable_lines("\n".join(lines))
