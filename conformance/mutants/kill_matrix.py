"""The kill matrix as it was last recorded: which check killed which fault, under which dialect, by
which requirement.

`make mutants` writes it, people commit it, tests look into it. The quick pass takes from it for
each check the first fault that the check is known to kill.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hookproof.conformance.mutants.results import Campaign

RECORDED: Final = Path(__file__).parent / "kill_matrix.json"
FORMAT: Final = 1

# Fault, dialect, check, and the requirements that the check convicted the fault of.
Kills = Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One trial of the quick pass, and the checks that have to kill there."""

    fault: str
    dialect: str
    checks: frozenset[str]


def kills_of(campaign: Campaign) -> Kills:
    """What a campaign found, in the form that is recorded."""
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    for outcome in sorted(campaign.outcomes, key=lambda one: (one.fault.name, one.dialect)):
        checks = found.setdefault(outcome.fault.name, {}).setdefault(outcome.dialect, {})
        for one in outcome.rightly:
            checks.setdefault(one.check, []).append(one.requirement)
    return found


def recorded(path: Path = RECORDED) -> Kills:
    """The recorded matrix; raises OSError without one, ValueError if it is of another format."""
    content = json.loads(path.read_text(encoding="utf-8"))
    if content.get("format") != FORMAT:
        raise ValueError(f"{path} is of another format; `make mutants` writes it anew")
    kills: Kills = content["kills"]
    return kills


def record(kills: Kills, path: Path = RECORDED, *, whole: bool) -> None:
    """Write the matrix down; unless it is the `whole` one, what is recorded of other faults stays."""
    known = {} if whole or not path.is_file() else recorded(path)
    text = json.dumps({"format": FORMAT, "kills": {**known, **kills}}, indent=1, sort_keys=True)
    path.write_text(f"{text}\n", encoding="utf-8")


def first_killers(kills: Kills) -> tuple[Expected, ...]:
    """Few trials in which every check kills something: the one that helps most checks is taken
    first.
    """
    trials = {(fault, dialect): frozenset(checks) for fault, dialect, checks in _trials(kills)}
    left = {check for checks in trials.values() for check in checks}
    chosen = []
    while left:
        fault, dialect = max(trials, key=lambda one: (len(trials[one] & left), one))
        chosen.append(Expected(fault=fault, dialect=dialect, checks=trials[fault, dialect] & left))
        left -= trials[fault, dialect]
    return tuple(chosen)


def _trials(kills: Kills) -> Iterator[tuple[str, str, Mapping[str, Sequence[str]]]]:
    for fault, dialects in kills.items():
        for dialect, checks in dialects.items():
            yield fault, dialect, checks
