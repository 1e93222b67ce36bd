"""Groups the findings of a run by defect, each with all requirements that it breaks.

Findings belong to one defect if they have the same cause, or if none of them names another one and
they are of one requirement, or of requirements that one known fault breaks (`one_cause_each`);
a cause that says less belongs to the only one that says more. Wrong fields stay apart. The leading
finding is one that the baseline does not accept, if there is any, then of the first level, then the
one that tells most of the cause. What only follows from a defect is listed with it. First come
defects of the first level, of these what loses or shows data, and then what breaks most.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from hookproof.conformance.model.disagreement import Disagreement
from hookproof.conformance.model.judgement import SENDER
from hookproof.conformance.model.ledger import Entry, Finding
from hookproof.conformance.model.verdict import Verdict
from hookproof.spec.catalogue import LEVELS

RECORDED: Final = Path(__file__).parents[1] / "mutants" / "kill_matrix.json"

Requirements = frozenset[str]


@cache
def recorded_patterns() -> frozenset[Requirements]:
    """The requirements that a server with one fault was seen to break, under one dialect.

    A list that repeats its cursor's row breaks five requirements of each list, for one cause.
    """
    kills = json.loads(RECORDED.read_text(encoding="utf-8"))["kills"]
    return frozenset(
        frozenset(name for names in checks.values() for name in names)
        for by_dialect in kills.values()
        for checks in by_dialect.values()
    )


def rarity(requirement: str, patterns: Collection[Requirements]) -> int:
    """Of how many faults it tells: what few of them break tells more of the cause."""
    return sum(requirement in pattern for pattern in patterns)


def one_cause_each(
    broken: Requirements, held: Collection[str], patterns: Iterable[Requirements]
) -> Iterator[Requirements]:
    """Disjoint groups of at least two of the broken requirements, each broken by one known fault.

    A fault that breaks what holds here explains so much less, so that one that breaks all that is
    left, and nothing else, comes first.
    """
    left = set(broken)
    known = sorted(
        ((pattern & broken, len(pattern.intersection(held))) for pattern in patterns),
        key=lambda each: sorted(each[0]),
    )
    while known := [each for each in known if len(each[0] & left) > max(1, each[1])]:
        group, _ = max(known, key=lambda each: (len(each[0] & left) - each[1], -len(each[0])))
        yield group & left
        left -= group


_FIELD: Final = re.compile(r": (?:/[\w*~-]+)*/([\w~-]+)(?:/\*)?$")
_NUMBER: Final = re.compile(r"\d+")


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
    def sightings(self) -> str:
        """How often it was seen; what was seen once of many times may be a race."""
        seen = self.finding.sightings
        judged, name = self.entry.exercised, self.entry.requirement.id
        if judged < 2 or sum(finding.count for finding in self.entry.findings) > 1:  # noqa: PLR2004
            return seen
        again = f"`--only {name} --repeat 5` shows whether it comes again"
        return f"{seen}; once in {judged} judgements: {again}"

    @property
    def title(self) -> str:
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
    def reason(self) -> str:
        """What the sender of a delivery did, where any of the findings says it; or empty."""
        for broken in (*self.all, *self.follows):
            _, told, words = broken.finding.actual.partition(SENDER)
            if told:
                return f"{SENDER}{words}"
        return ""

    @property
    def summary(self) -> str:
        message, reason = self.lead.finding.message, self.reason
        return f"{message}: {reason}" if reason else message

    @property
    def members(self) -> tuple[BrokenRequirement, ...]:
        """What else was found, in other words than the leading finding, each once; where one cause
        is named, the others say nothing else.
        """
        if self.lead.finding.cause:
            return ()
        first = {_told(broken): broken for broken in reversed(self.all)}
        return tuple(each for each in self.others if first[_told(each)] is each)

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations that the leading finding was made at besides its own."""
        found = [each.operation for each in self.others if _told(each) == _told(self.lead)]
        return tuple(dict.fromkeys(name for name in found if name not in {"", self.lead.operation}))

    @property
    def accepted(self) -> bool:
        """Whether the baseline accepts all that it breaks."""
        return all(broken.entry.accepted is not None for broken in self.all)


def defects(entries: Iterable[Entry]) -> tuple[Defect, ...]:
    """The defects behind these entries, first what matters most."""
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
    patterns = recorded_patterns()
    roots = Counter(name for broken in follows for name in broken.finding.follows_from)
    found = [
        _defect(group, patterns, roots)
        for group in _of_one_cause(groups.values(), listed, patterns)
    ]
    return tuple(sorted(_with_consequences(found, follows), key=_rank))


def _rank(defect: Defect) -> tuple[bool, int, bool, int]:
    requirement = defect.lead.entry.requirement
    return (
        defect.accepted,
        LEVELS.index(requirement.level),
        not requirement.severe,
        -len(defect.further) - len(defect.consequences),
    )


def _of_one_cause(
    groups: Iterable[list[BrokenRequirement]],
    entries: Sequence[Entry],
    patterns: Collection[Requirements],
) -> Iterable[list[BrokenRequirement]]:
    """The groups, those together that are of one requirement or that one known fault explains."""
    listed = list(groups)
    broken = frozenset(each.entry.requirement.id for group in listed for each in group)
    held = {entry.requirement.id for entry in entries if entry.verdict is Verdict.PASS}
    place_of = {
        name: place
        for place, names in enumerate(one_cause_each(broken, held, patterns))
        for name in names
    }
    joined: dict[tuple[object, ...], list[BrokenRequirement]] = {}
    for group in listed:
        finding = group[0].finding
        name = finding.requirement
        key = (place_of.get(name, name), finding.cause, _field(finding.message))
        joined.setdefault(key, []).extend(group)
    return joined.values()


def _field(message: str) -> str:
    """The field that a message names, as in `not as documented: /data/secrets/*/uid`."""
    found = _FIELD.search(message)
    return found[1] if found else ""


def _told(broken: BrokenRequirement) -> tuple[str, str]:
    """What a finding says, apart from the operation and from how often something was tried."""
    message = broken.finding.message.partition(": ")[0]
    words = [each for each in message.split() if each != broken.finding.operation]
    return broken.entry.requirement.id, _NUMBER.sub("#", " ".join(words))


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


def _defect(
    group: list[BrokenRequirement], patterns: Collection[Requirements], roots: Mapping[str, int]
) -> Defect:
    """The defect of these findings; of `roots` so many others follow. What may follow from another
    of them does not lead, be the proof as it may.

    Where the proofs name the same cause, the law that was seen broken most often is the widest, and
    the others are parts of it: a secret that is not the one shown is only what is wrong where the
    secrets that were given sign.
    """
    names = {broken.entry.requirement.id for broken in group}
    seen = Counter[str]()
    for broken in group:
        seen[broken.entry.requirement.id] += broken.finding.count if broken.finding.cause else 0
    lead = min(
        group,
        key=lambda broken: (
            broken.entry.accepted is not None,
            LEVELS.index(broken.entry.requirement.level),
            not broken.entry.requirement.severe,
            not names.isdisjoint(broken.entry.requirement.follows_from),
            -roots.get(broken.entry.requirement.id, 0),
            -seen[broken.entry.requirement.id],
            rarity(broken.entry.requirement.id, patterns),
            proof_size(broken.finding),
        ),
    )
    return Defect(lead=lead, others=tuple(broken for broken in group if broken is not lead))
