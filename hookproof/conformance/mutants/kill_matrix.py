"""The recorded kill matrix: which check killed which fault, under which dialect, by which
requirement.

`make mutants` writes it, people commit it, tests read it. A fault's entry comes from runs of the
mutant with that fault alone, and is replaced without touching the others. The quick pass takes from
the matrix the first fault that each check is known to kill.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hookproof.conformance.mutants.results import Campaign

RECORDED: Final = Path(__file__).parent / "kill_matrix.json"
FORMAT: Final = 1

# Fault, dialect, check, and the requirements of the fault that the check detected.
Kills = Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedKill:
    """One mutant run of the quick pass, and the checks that must kill the fault there."""

    fault: str
    dialect: str
    checks: frozenset[str]


def kills_of(campaign: Campaign) -> Kills:
    """The kills of a campaign, in the form that is recorded."""
    kills: dict[str, dict[str, dict[str, list[str]]]] = {}
    for outcome in sorted(campaign.outcomes, key=lambda item: (item.fault.name, item.dialect)):
        checks = kills.setdefault(outcome.fault.name, {}).setdefault(outcome.dialect, {})
        for detection in outcome.expected_detections:
            checks.setdefault(detection.check, []).append(detection.requirement)
    return kills


def read_kills(path: Path = RECORDED) -> Kills:
    """The recorded matrix; raises OSError without one, ValueError if it is of another format."""
    content = json.loads(path.read_text(encoding="utf-8"))
    if content.get("format") != FORMAT:
        raise ValueError(f"{path} is of another format; `make mutants` writes it anew")
    kills: Kills = content["kills"]
    return kills


def record_kills(campaign: Campaign, path: Path = RECORDED) -> None:
    """Write down the kills of a campaign.

    The entries of faults that it did not run stay as they are, unless it ran every fault. Of a
    fault that ran, what is recorded for a dialect that was not tried stays too.
    """
    kills = kills_of(campaign)
    known = {} if campaign.whole or not path.is_file() else read_kills(path)
    if not campaign.complete:
        kills = {fault: {**known.get(fault, {}), **kills[fault]} for fault in kills}
    text = json.dumps({"format": FORMAT, "kills": {**known, **kills}}, indent=1, sort_keys=True)
    path.write_text(f"{text}\n", encoding="utf-8")


def first_killers(kills: Kills) -> tuple[ExpectedKill, ...]:
    """A few mutant runs in which every check kills something.

    Greedy: the run in which most of the remaining checks kill comes first.
    """
    runs = {(fault, dialect): frozenset(checks) for fault, dialect, checks in _runs(kills)}
    remaining = {check for checks in runs.values() for check in checks}
    chosen = []
    while remaining:
        fault, dialect = max(runs, key=lambda run: (len(runs[run] & remaining), run))
        checks = runs[fault, dialect] & remaining
        chosen.append(ExpectedKill(fault=fault, dialect=dialect, checks=checks))
        remaining -= checks
    return tuple(chosen)


def _runs(kills: Kills) -> Iterator[tuple[str, str, Mapping[str, Sequence[str]]]]:
    for fault, dialects in kills.items():
        for dialect, checks in dialects.items():
            yield fault, dialect, checks
