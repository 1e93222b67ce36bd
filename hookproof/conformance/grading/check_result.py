"""The result of one check over all its observations, for each of its requirements."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from hookproof.conformance.grading.assumptions import Standing
from hookproof.conformance.grading.root_cause import root_cause
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import Observation, lasted_s
from hookproof.conformance.model.judgement import SENDER, Judgement
from hookproof.conformance.model.ledger import Finding, FindingKey
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.consequences import Proof
from hookproof.conformance.results.defects import proof_size

MOST_SHOWN: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PassProof:
    """What shows a pass, in one line, and how long it lasted."""

    words: str
    lasted_s: float


@dataclass(slots=True)
class CheckResult:
    """The judgements of one check, added up.

    `ruled_out` is what the dialect makes not applicable, `not_applicable` what the evidence so far
    does; `assumed` is why failures do not stand that rest on assumed answers. Of two findings of
    one defect, the one with the smaller proof is kept; `proofs` holds what each of them rests on.
    """

    check: Check
    exercised: Counter[str] = field(default_factory=Counter)
    shown_by: dict[str, PassProof] = field(default_factory=dict)
    not_applicable: dict[str, list[str]] = field(default_factory=dict)
    ruled_out: dict[str, list[str]] = field(default_factory=dict)
    not_examined: dict[str, list[str]] = field(default_factory=dict)
    assumed: dict[str, list[str]] = field(default_factory=dict)
    findings: dict[FindingKey, Finding] = field(default_factory=dict)
    proofs: dict[FindingKey, set[Proof]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def add_standing(
        self, standing: Standing, observation: Observation, context: CheckContext
    ) -> None:
        """Add the judgements that stand, and why others do not, once for each requirement."""
        for judgement in standing.judgements:
            self.add_judgement(judgement, observation, context)
        for name, reason in standing.assumed.items():
            self.assumed.setdefault(name, [reason])

    def add_judgement(
        self, judgement: Judgement, observation: Observation, context: CheckContext
    ) -> None:
        """Add one judgement; raises ValueError for a requirement that the check is not bound to."""
        name = judgement.requirement
        if name not in self.check.requirements:
            raise ValueError(f"it judges {name}, to which it is not bound")
        if judgement.verdict is Verdict.NOT_APPLICABLE:
            reasons = self.ruled_out if judgement.conclusive else self.not_applicable
            reasons.setdefault(name, []).append(judgement.message)
            return
        self.exercised[name] += 1
        if judgement.verdict is Verdict.FAIL:
            finding = _finding(self.check, judgement, observation, context)
            self._add(finding, {Proof.of(finding, judgement.state)})
        elif name not in self.shown_by:
            self.shown_by[name] = PassProof(
                words=proof_in_words(judgement, observation),
                lasted_s=lasted_s(judgement.exchanges, judgement.deliveries),
            )

    def add(self, other: "CheckResult") -> None:
        """Add the results of the same check for further observations."""
        self.exercised.update(other.exercised)
        self.errors.extend(other.errors)
        self.shown_by = other.shown_by | self.shown_by
        for mine, theirs in (
            (self.not_applicable, other.not_applicable),
            (self.ruled_out, other.ruled_out),
            (self.not_examined, other.not_examined),
            (self.assumed, other.assumed),
        ):
            for name, reasons in theirs.items():
                mine.setdefault(name, []).extend(reasons)
        for key, finding in other.findings.items():
            self._add(finding, other.proofs[key])

    def _add(self, finding: Finding, proofs: Iterable[Proof]) -> None:
        key = finding.key
        self.proofs.setdefault(key, set()).update(proofs)
        known = self.findings.get(key)
        if known is None:
            self.findings[key] = finding
            return
        # What the sender did says more than a smaller proof.
        smaller = min(
            known, finding, key=lambda each: (SENDER not in each.actual, proof_size(each))
        )
        self.findings[key] = replace(smaller, count=known.count + finding.count)


def proof_in_words(judgement: Judgement, observation: Observation) -> str:
    """Which exchanges and deliveries of an observation prove a judgement, in one line."""
    exchanges = [
        f"{exchange.method} {exchange.operation_id or 'request'} as {exchange.role!r}:"
        f" {exchange.status or exchange.problem}"
        for exchange in judgement.exchanges
    ]
    deliveries = [
        f"delivery {delivery.sequence} at {delivery.token}" for delivery in judgement.deliveries
    ]
    named = [*exchanges, *deliveries]
    more = f" and {len(named) - MOST_SHOWN} more" if len(named) > MOST_SHOWN else ""
    return f"{observation.experiment}, {observation.name}: {'; '.join(named[:MOST_SHOWN])}{more}"


def _finding(
    check: Check, judgement: Judgement, observation: Observation, context: CheckContext
) -> Finding:
    return Finding(
        requirement=judgement.requirement,
        check=check.name,
        message=judgement.message,
        expected=judgement.expected,
        actual=judgement.actual,
        exchanges=judgement.exchanges,
        deliveries=judgement.deliveries,
        count=1,
        experiment=observation.experiment,
        case=observation.name,
        cause=root_cause(judgement, observation, context),
        marks=judgement.marks,
    )
