"""The evidence of a run, read back from run.jsonl: what judging it again needs, and no report does."""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import Case
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.ledger import Finding
from hookproof.conformance.model.verdict import Judgement
from hookproof.conformance.results.compression import unpacked_case
from hookproof.conformance.results.finding_records import finding_of, judgement_of
from hookproof.conformance.results.run_file import NotARun

# A case by its repetition, its experiment, and its place among the cases of that, from 0.
Place = tuple[int, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """What the experiments of one repetition brought in, by name, in their order; it judges as the
    run did.

    `said` holds, by the identity of a case and the name of a check, the judgements that were stored
    with it; `shrunk` the findings whose request was made smaller.
    """

    gathered: Mapping[str, Gathered]
    said: Mapping[tuple[int, str], Sequence[Judgement]]
    shrunk: tuple[Finding, ...] = ()

    def judge(self, check: Check, case: Case, context: CheckContext) -> Iterable[Judgement]:
        """What the check said of a case before it was masked, if masking would change that, else
        what it says now.
        """
        stored = self.said.get((id(case), check.name))
        return check.judge(case, context) if stored is None else stored


@dataclass(slots=True)
class _Reading:
    cases: dict[tuple[int, str], list[Case]] = field(default_factory=dict)
    said: dict[tuple[Place, str], list[Judgement]] = field(default_factory=dict)
    endings: list[Mapping[str, Any]] = field(default_factory=list)
    shrunk: dict[int, list[Finding]] = field(default_factory=dict)

    def take(self, event: dict[str, Any]) -> None:
        """Take in one event; raises KeyError, TypeError, ValueError or zlib.error if it is damaged."""
        kind = event.pop("event")
        if kind == "case":
            repetition = event.pop("repetition")
            case = Case.from_json(unpacked_case(event))
            self.cases.setdefault((repetition, case.experiment), []).append(case)
        elif kind == "judgements":
            place = (event["repetition"], event["experiment"], event["place"])
            self.said[place, event["check"]] = list(map(judgement_of, event["judgements"]))
        elif kind == "shrunk":
            del event["requests"]
            self.shrunk.setdefault(event.pop("repetition"), []).append(finding_of(event))
        elif kind == "experiment":
            self.endings.append(event)


def read_evidence(path: Path) -> tuple[Repetition, ...]:
    """The evidence in a file, repetition by repetition; raises NotARun if it is damaged."""
    reading = _Reading()
    try:
        with path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                try:
                    reading.take(json.loads(line))
                except (ValueError, KeyError, TypeError, zlib.error) as error:
                    raise NotARun(
                        f"{path}:{number}: no evidence: {type(error).__name__}: {error}"
                    ) from None
    except OSError as error:
        raise NotARun(f"{path} cannot be read: {error.strerror or error}") from None
    numbers = sorted({ending["repetition"] for ending in reading.endings}) or [1]
    return tuple(_repetition(reading, number, path) for number in numbers)


def _repetition(reading: _Reading, number: int, path: Path) -> Repetition:
    gathered: dict[str, Gathered] = {}
    for ending in reading.endings:
        if ending["repetition"] == number:
            name = ending["name"]
            cases = tuple(reading.cases.get((number, name), ()))
            if len(cases) != ending["cases"]:
                raise NotARun(
                    f"{path}: the experiment {name} has {len(cases)} cases of {ending['cases']}"
                )
            gathered[name] = Gathered(
                experiment=name,
                cases=cases,
                ending=Ending(ending["ending"]),
                reason=ending["reason"],
                duration_s=ending["duration_s"],
            )
    said = {
        (id(gathered[experiment].cases[place]), check): judgements
        for ((repetition, experiment, place), check), judgements in reading.said.items()
        if repetition == number
    }
    return Repetition(gathered=gathered, said=said, shrunk=tuple(reading.shrunk.get(number, ())))
