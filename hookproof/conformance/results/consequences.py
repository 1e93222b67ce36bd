"""Tells findings that only follow from others from those that stand for themselves.

Which requirement may follow from which is data: `follows_from` in the requirements file. A finding
is put down to findings of those requirements only if *all* its proofs are explained by them, so one
proof of its own makes it a finding of its own. It keeps its verdict and its place in the run file:
what follows is shown under what it follows from and counted apart, and no exit code changes by it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.ledger import Entry, Finding
from hookproof.conformance.model.verdict import Verdict
from hookproof.receiver.inbox.delivery import ReceivedDelivery

# An exchange, a delivery or a state of the target.
Evidence = Exchange | ReceivedDelivery | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What one failed judgement rests on, and what else that shows to be wrong.

    `state` names what is wrong with the target as all of it shows, or is empty.
    """

    exchanges: frozenset[Exchange]
    deliveries: frozenset[ReceivedDelivery]
    cause: str
    state: str = ""

    @classmethod
    def of(cls, finding: Finding, state: str = "") -> "Proof":
        return cls(
            exchanges=frozenset(finding.exchanges),
            deliveries=frozenset(finding.deliveries),
            cause=finding.cause,
            state=state,
        )

    @property
    def evidence(self) -> frozenset[Evidence]:
        return frozenset[Evidence]().union(
            self.exchanges, self.deliveries, {self.state} if self.state else ()
        )

    def explains(self, other: "Proof") -> bool:
        """Whether this proof is part of the other one, and the other one shows no other cause.

        Of two proofs about the same resource with the same cause, either explains the other: the
        first attempt is unsigned, and so is the second; nothing is validly signed before a roll of
        the endpoint's secret, and so is nothing afterwards. The same holds for two proofs that show
        the same state of the target.
        """
        if other.state and other.state == self.state:
            return True
        if other.cause and not _is_one(self.cause, other.cause):
            return False
        if self.exchanges <= other.exchanges and self.deliveries <= other.deliveries:
            return True
        return bool(other.cause) and self._is_about_the_resource_of(other)

    def _is_about_the_resource_of(self, other: "Proof") -> bool:
        """Whether the exchanges of one of the proofs are among those of the other."""
        fewer, more = sorted((self.exchanges, other.exchanges), key=len)
        return bool(fewer) and fewer <= more


def _is_one(cause: str, other: str) -> bool:
    """Whether two causes are the same, or one of them is the other with more of it known."""
    return cause == other or (
        bool(cause) and (cause.startswith(f"{other}; ") or other.startswith(f"{cause}; "))
    )


def explained_by(
    proofs: Collection[Proof], upstream: Mapping[str, Collection[Proof]]
) -> tuple[str, ...]:
    """The requirements whose failures explain all these proofs; empty if one is not explained."""
    explained = {name: _explained(proofs, others) for name, others in upstream.items()}
    if set().union(*explained.values()) != set(proofs):
        return ()
    return tuple(name for name, theirs in explained.items() if theirs)


def _explained(proofs: Collection[Proof], others: Collection[Proof]) -> set[Proof]:
    """Those of the proofs that one of the others explains.

    Only others that share evidence with a proof are compared with it: a server that is always wrong
    gives thousands of both.
    """
    by_evidence: dict[Evidence, list[Proof]] = {}
    for other in others:
        for evidence in other.evidence:
            by_evidence.setdefault(evidence, []).append(other)
    return {
        proof
        for proof in proofs
        if any(
            other.explains(proof)
            for evidence in proof.evidence
            for other in by_evidence.get(evidence, ())
        )
    }


def fold_consequences(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries, where findings follow only from failures of the same ledger.

    What follows from a failure that the baseline accepts is accepted only if it is named there too.
    """
    reported = _by_id(entries)
    checked = _by_id(
        replace(entry, findings=tuple(_reported(entry, reported))) for entry in entries
    )
    return tuple(
        replace(entry, findings=tuple(_with_roots(entry, checked))) for entry in checked.values()
    )


def _by_id(entries: Iterable[Entry]) -> dict[str, Entry]:
    return {entry.requirement.id: entry for entry in entries}


def _reported(entry: Entry, by_id: Mapping[str, Entry]) -> Iterable[Finding]:
    for finding in entry.findings:
        roots = [by_id.get(name) for name in finding.follows_from]
        is_reported = all(root is not None and _stands_for(root, entry) for root in roots)
        yield finding if is_reported else replace(finding, follows_from=())


def _stands_for(root: Entry, entry: Entry) -> bool:
    """Whether the failure of one entry may be reported in place of that of another."""
    if root.verdict is not Verdict.FAIL or not root.findings:
        return False
    return root.accepted is None or entry.accepted is not None


def _with_roots(entry: Entry, by_id: Mapping[str, Entry]) -> Iterable[Finding]:
    """The findings of an entry; what follows from a consequence follows from its root."""
    for finding in entry.findings:
        roots = [root for name in finding.follows_from for root in _roots(name, by_id)]
        yield replace(finding, follows_from=tuple(dict.fromkeys(roots)))


def _roots(name: str, by_id: Mapping[str, Entry]) -> Iterable[str]:
    upstream = by_id[name].follows_from
    if not upstream:
        yield name
    for further in upstream:
        yield from _roots(further, by_id)
