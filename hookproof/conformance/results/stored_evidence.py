"""Reads the evidence of a run back from run.jsonl, to judge it again."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.ledger import Finding
from hookproof.conformance.results.records.compression import cut_words, is_whole, unpack_evidence
from hookproof.conformance.results.records.evidence_records import evidence_of
from hookproof.conformance.results.records.finding_records import finding_of, typed
from hookproof.conformance.results.run_file import DAMAGED, NotARun, open_run, parsed_lines

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """The evidence of one repetition, by experiment and in order.

    `shrunk` holds the findings whose request was made smaller.
    """

    gathered: Mapping[str, Gathered]
    shrunk: tuple[Finding, ...] = ()

    @property
    def observations(self) -> Iterator[Evidence]:
        for gathered in self.gathered.values():
            yield from gathered.observations


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ending:
    """How an experiment ended, with how many observations."""

    name: str
    ending: Ending
    reason: str
    cases: int
    repetition: int
    began_s: float | None = None
    duration_s: float


@dataclass(slots=True)
class _Reading:
    observations: dict[tuple[int, str], list[Evidence]] = field(default_factory=dict)
    endings: list[_Ending] = field(default_factory=list)
    shrunk: dict[int, list[Finding]] = field(default_factory=dict)

    def add(self, event: dict[str, Any]) -> None:
        """Add an event; raises KeyError, TypeError, ValueError or zlib.error if it is damaged."""
        match event.pop("event"):
            case "case":
                if "observation" not in event:
                    raise ValueError(
                        "it was written by an earlier version, whose evidence has no types;"
                        " its reports can be rendered, and only a new run can be judged again"
                    )
                place = (_number(event), event["experiment"])
                self.observations.setdefault(place, []).append(_evidence_of(event))
            case "shrunk":
                del event["requests"]
                self.shrunk.setdefault(_number(event), []).append(finding_of(event))
            case "experiment":
                self.endings.append(typed(_Ending, event))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unended:
    """The experiments that a file which is cut off may say nothing of, and why they did not end."""

    experiments: Collection[str] = ()
    reason: str = ""


def read_evidence(path: Path, unended: Unended | None = None) -> tuple[Repetition, ...]:
    """Read the evidence of each repetition; raises NotARun if the file is damaged.

    Where the file may be cut off, what did not end in it is `unended`.
    """
    reading = _Reading()
    try:
        with open_run(path) as lines:
            for number, line in enumerate(lines, 1):
                try:
                    for event in parsed_lines([line]):
                        reading.add(event)
                except DAMAGED as error:
                    raise NotARun(
                        f"{path}:{number}: no evidence: {type(error).__name__}: {error}"
                    ) from None
    except OSError as error:
        raise NotARun(f"{path} cannot be read: {error.strerror or error}") from None
    numbers = {ending.repetition for ending in reading.endings}
    if unended is None:
        return tuple(_repetition(reading, number, path) for number in sorted(numbers) or [1])
    numbers |= {number for number, _ in reading.observations}
    return tuple(
        _with_unended(_repetition(reading, number, path), reading, number, unended)
        for number in sorted(numbers) or [1]
    )


def _number(event: dict[str, Any]) -> int:
    """The repetition that an event is of, which is taken out of it."""
    return msgspec.convert(event.pop("repetition"), int)


def _evidence_of(event: Mapping[str, Any]) -> Evidence:
    """The evidence of a case; an observation is none without all that it saw."""
    words = cut_words(event)
    if not words:
        return evidence_of(unpack_evidence(event))
    reason = (
        f"run.jsonl has only the beginning of long bodies, so they are not judged again: {words}"
    )
    without_facts = {
        **{name: value for name, value in event.items() if not name.startswith("facts")},
        "facts": {},
        "obstacle": event["obstacle"] or reason,
    }
    evidence = evidence_of(unpack_evidence(without_facts))
    return replace(
        evidence,
        exchanges=_whole(evidence.exchanges, event, "exchanges"),
        deliveries=_whole(evidence.deliveries, event, "deliveries"),
    )


def _whole(records: tuple[T, ...], event: Mapping[str, Any], kind: str) -> tuple[T, ...]:
    return tuple(
        record for position, record in enumerate(records) if is_whole(event, kind, position)
    )


def _with_unended(
    repetition: Repetition, reading: _Reading, number: int, unended: Unended
) -> Repetition:
    gathered = dict(repetition.gathered)
    seen = [name for other, name in reading.observations if other == number]
    for name in dict.fromkeys([*unended.experiments, *seen]):
        if name not in gathered:
            gathered[name] = Gathered(
                experiment=name,
                observations=tuple(reading.observations.get((number, name), ())),
                ending=Ending.CUT,
                reason=unended.reason,
            )
    return replace(repetition, gathered=gathered)


def _repetition(reading: _Reading, number: int, path: Path) -> Repetition:
    gathered: dict[str, Gathered] = {}
    for ending in reading.endings:
        if ending.repetition == number:
            name = ending.name
            observations = tuple(reading.observations.get((number, name), ()))
            if len(observations) != ending.cases:
                raise NotARun(
                    f"{path}: the experiment {name} has {len(observations)} observations"
                    f" of {ending.cases}"
                )
            gathered[name] = Gathered(
                experiment=name,
                observations=observations,
                ending=ending.ending,
                reason=ending.reason,
                began_s=ending.began_s,
                duration_s=ending.duration_s,
            )
    return Repetition(gathered=gathered, shrunk=tuple(reading.shrunk.get(number, ())))
