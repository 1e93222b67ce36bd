"""Groups the findings of a run by defect, each with all requirements that it breaks.

Findings belong to one defect if they have the same cause, or the same check and message. The
leading finding is one that the baseline does not accept, if there is any, then of the first level,
then with the smallest proof.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hookproof.conformance.model.ledger import Entry, Finding
from hookproof.spec.catalogue import Level

# Measures the proof of a finding, as `proof_size` does.
ProofSize = Callable[[Finding], tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenRequirement:
    """The entry of a broken requirement and the finding that shows it."""

    entry: Entry
    finding: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """One defect: the leading finding, and the others in the order of the document."""

    lead: BrokenRequirement
    others: tuple[BrokenRequirement, ...]

    @property
    def all(self) -> tuple[BrokenRequirement, ...]:
        """Every finding of the defect, the leading one first."""
        return (self.lead, *self.others)

    @property
    def further(self) -> tuple[BrokenRequirement, ...]:
        """The other broken requirements, each once."""
        first = {other.entry.requirement.id: other for other in reversed(self.others)}
        first.pop(self.lead.entry.requirement.id, None)
        return tuple(
            other for other in self.others if first.get(other.entry.requirement.id) is other
        )

    @property
    def accepted(self) -> bool:
        """Whether the baseline accepts all that it breaks."""
        return all(broken.entry.accepted is not None for broken in self.all)


def defects(entries: Iterable[Entry]) -> tuple[Defect, ...]:
    """The defects behind these entries, in the order of their first requirements."""
    groups: dict[tuple[str, ...], list[BrokenRequirement]] = {}
    for entry in entries:
        for finding in entry.findings:
            groups.setdefault(_key(finding), []).append(
                BrokenRequirement(entry=entry, finding=finding)
            )
    return tuple(map(_defect, groups.values()))


def proof_size(finding: Finding) -> tuple[int, int]:
    """The size of a proof: the number of exchanges and deliveries, then that of bytes."""
    sent = sum(len(exchange.request_body or b"") for exchange in finding.exchanges)
    answered = sum(len(exchange.response_body) for exchange in finding.exchanges)
    delivered = sum(len(delivery.body) for delivery in finding.deliveries)
    return len(finding.exchanges) + len(finding.deliveries), sent + answered + delivered


def _key(finding: Finding) -> tuple[str, ...]:
    return ("cause", finding.cause) if finding.cause else ("check", finding.check, finding.message)


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
