"""The findings of a run grouped: one defect, one finding, with every requirement that it breaks.

Findings are of one defect if they have the same cause, or if the same check found the same in the
same words. The one that leads is accepted by no baseline, if there is such a one, of the lowest
level, and has the smallest proof.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hookproof.conformance.model.ledger import Entry, Finding
from hookproof.spec.catalogue import Level

# Measures how much there is to read in the proof of a finding, as `proof_size` does.
ProofSize = Callable[[Finding], tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A requirement, by its entry, and what shows that it is broken."""

    entry: Entry
    finding: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """One defect: the finding that shows it best, and the others that come of it, in the order of
    the document.
    """

    lead: Broken
    others: tuple[Broken, ...]

    @property
    def all(self) -> tuple[Broken, ...]:
        """Every finding of the defect, the leading one first."""
        return (self.lead, *self.others)

    @property
    def further(self) -> tuple[Broken, ...]:
        """Each other requirement that it breaks, once."""
        first = {one.entry.requirement.id: one for one in reversed(self.others)}
        first.pop(self.lead.entry.requirement.id, None)
        return tuple(one for one in self.others if first.get(one.entry.requirement.id) is one)

    @property
    def accepted(self) -> bool:
        """Whether the baseline puts up with all that it breaks."""
        return all(one.entry.accepted is not None for one in self.all)


def defects(entries: Iterable[Entry]) -> tuple[Defect, ...]:
    """The defects behind these entries, in the order in which the document first speaks of them."""
    groups: dict[tuple[str, ...], list[Broken]] = {}
    for entry in entries:
        for finding in entry.findings:
            groups.setdefault(_key(finding), []).append(Broken(entry=entry, finding=finding))
    return tuple(map(_defect, groups.values()))


def proof_size(finding: Finding) -> tuple[int, int]:
    """How much there is to read in a proof: exchanges and deliveries, then bytes."""
    bodies = [len(one.request_body or b"") + len(one.response_body) for one in finding.exchanges]
    return len(finding.exchanges) + len(finding.deliveries), sum(bodies) + sum(
        len(d.body) for d in finding.deliveries
    )


def _key(finding: Finding) -> tuple[str, ...]:
    return ("cause", finding.cause) if finding.cause else ("check", finding.check, finding.message)


def _defect(found: list[Broken]) -> Defect:
    levels = list(Level)
    lead = min(
        found,
        key=lambda one: (
            one.entry.accepted is not None,
            levels.index(one.entry.requirement.level),
            proof_size(one.finding),
        ),
    )
    return Defect(lead=lead, others=tuple(one for one in found if one is not lead))
