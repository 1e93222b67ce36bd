"""Groups the findings of a run by defect, each with all requirements that it breaks.

Findings belong to one defect if they have the same cause, or the same check, message and
operation; a cause that says less belongs to the only one that says more. The leading finding is one
that the baseline does not accept, if there is any, then of the first level, then with the smallest
proof. What only follows from a defect is listed with it.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from hookproof.conformance.model.disagreement import Disagreement
from hookproof.conformance.model.ledger import Entry, Finding
from hookproof.spec.catalogue import Level

# Measures the proof of a finding, as `proof_size` does.
ProofSize = Callable[[Finding], tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenRequirement:
    """The entry of a broken requirement and the finding that shows it."""

    entry: Entry
    finding: Finding

    @property
    def operation(self) -> str:
        """The operation that is accused; empty where a delivery is the proof.

        A proof often ends with another one, such as the fetch that shows what a creation stored.
        """
        if not self.finding.operation:
            return ""
        called = {exchange.operation_id for exchange in self.finding.exchanges}
        accused = [name for name in self.entry.requirement.operations if name in called]
        return accused[0] if len(accused) == 1 else self.finding.operation

    @property
    def title(self) -> str:
        """What was found, and at which operation."""
        message = self.finding.message
        return message if self.operation in message else f"{self.operation}: {message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """One defect: the leading finding, and the others in the order of the document.

    `follows` are the findings that only follow from these, and are no defects of their own.
    """

    lead: BrokenRequirement
    others: tuple[BrokenRequirement, ...]
    follows: tuple[BrokenRequirement, ...] = ()

    @property
    def all(self) -> tuple[BrokenRequirement, ...]:
        """Every finding of the defect, the leading one first."""
        return (self.lead, *self.others)

    @property
    def further(self) -> tuple[BrokenRequirement, ...]:
        """The other broken requirements, each once."""
        return _once(self.others, {self.lead.entry.requirement.id})

    @property
    def consequences(self) -> tuple[BrokenRequirement, ...]:
        """The requirements that fail only as a consequence, each once."""
        return _once(self.follows, {broken.entry.requirement.id for broken in self.all})

    @property
    def accepted(self) -> bool:
        """Whether the baseline accepts all that it breaks."""
        return all(broken.entry.accepted is not None for broken in self.all)


def defects(entries: Iterable[Entry]) -> tuple[Defect, ...]:
    """The defects behind these entries, in the order of their first requirements."""
    groups: dict[tuple[str, ...], list[BrokenRequirement]] = {}
    follows: list[BrokenRequirement] = []
    listed = tuple(entries)
    detected = {entry.requirement.id for entry in listed if entry.own_findings}
    causes = {finding.cause for entry in listed for finding in entry.findings}
    for entry in listed:
        for finding in entry.findings:
            broken = BrokenRequirement(entry=entry, finding=finding)
            if detected.isdisjoint(finding.follows_from):
                groups.setdefault(_key(finding, causes), []).append(broken)
            else:
                follows.append(broken)
    return _with_consequences([_defect(group) for group in groups.values()], follows)


def explained_and_not(
    run_defects: Iterable[Defect], disagreements: Iterable[Disagreement]
) -> tuple[dict[str, list[Defect]], list[Defect]]:
    """The defects that a field of the dialect explains wholly, by the field, and all others."""
    fields = {name: each.field for each in disagreements for name in each.requirements}
    explained: dict[str, list[Defect]] = {}
    others = []
    for defect in run_defects:
        behind = {fields.get(broken.entry.requirement.id) for broken in defect.all}
        field = behind.pop() if len(behind) == 1 else None
        if field is None:
            others.append(defect)
        else:
            explained.setdefault(field, []).append(defect)
    return explained, others


def proof_size(finding: Finding) -> tuple[int, int]:
    """The size of a proof: the number of exchanges and deliveries, then that of bytes."""
    sent = sum(len(exchange.request_body or b"") for exchange in finding.exchanges)
    answered = sum(len(exchange.response_body) for exchange in finding.exchanges)
    delivered = sum(len(delivery.body) for delivery in finding.deliveries)
    return len(finding.exchanges) + len(finding.deliveries), sent + answered + delivered


def _key(finding: Finding, causes: Collection[str]) -> tuple[str, ...]:
    if finding.cause:
        # Not every proof shows all that is wrong.
        fuller = [cause for cause in causes if cause.startswith(f"{finding.cause}; ")]
        return "cause", fuller[0] if len(fuller) == 1 else finding.cause
    return "check", finding.check, finding.message, finding.operation


def _with_consequences(
    roots: Sequence[Defect], follows: Sequence[BrokenRequirement]
) -> tuple[Defect, ...]:
    """The defects, each with what follows from it.

    Where several fit, one of the same operation has it, or else the first.
    """
    lists: list[list[BrokenRequirement]] = [[] for _ in roots]
    for broken in follows:
        finding = broken.finding
        places = [
            (each.finding.operation != finding.operation, place)
            for place, defect in enumerate(roots)
            for each in defect.all
            if each.entry.requirement.id in finding.follows_from
        ]
        lists[min(places)[1]].append(broken)
    return tuple(
        replace(defect, follows=tuple(each)) for defect, each in zip(roots, lists, strict=True)
    )


def _once(
    group: Sequence[BrokenRequirement], without: Collection[str]
) -> tuple[BrokenRequirement, ...]:
    """The first of these for each requirement, in order, without some requirements."""
    first = {broken.entry.requirement.id: broken for broken in reversed(group)}
    return tuple(
        broken
        for broken in group
        if broken.entry.requirement.id not in without
        and first[broken.entry.requirement.id] is broken
    )


def _defect(group: list[BrokenRequirement]) -> Defect:
    levels = list(Level)
    lead = min(
        group,
        key=lambda broken: (
            broken.entry.accepted is not None,
            levels.index(broken.entry.requirement.level),
            proof_size(broken.finding),
        ),
    )
    return Defect(lead=lead, others=tuple(broken for broken in group if broken is not lead))
