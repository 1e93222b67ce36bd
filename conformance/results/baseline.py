"""The baseline: known verdicts that a run accepts, each with its reason and perhaps an end date.

- id: 4.3-4
  expected: fail                     # or: not exercised
  reason: Expired secrets sign for another minute, because they are cached.
  link: https://tracker.example/123  # optional
  expires: 2027-06-30                # optional; the last day on which it counts

An entry that is no longer right is stale, and a stale entry fails the run. Otherwise the list of
known failures would only grow, and hide new ones.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Final

import yaml

from hookproof.conformance.model.ledger import Entry, is_missing
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.consequences import fold_consequences
from hookproof.process.exit_codes import CommandError
from hookproof.spec.catalogue import Catalogue
from hookproof.spec.strict_yaml.editor_schema import naming_comment
from hookproof.spec.strict_yaml.file_problem import FileProblems
from hookproof.spec.strict_yaml.parser import YamlText
from hookproof.spec.strict_yaml.reader import check_yaml, read_text, scan_yaml

# The verdicts that a baseline can accept, as a file names them.
EXPECTED: Final = {"fail": Verdict.FAIL, "not exercised": Verdict.NOT_EXERCISED}

# Verdicts that leave nothing to accept.
OVER: Final = frozenset({Verdict.PASS, Verdict.NOT_APPLICABLE})

# What the schema of a baseline is called.
BASELINE: Final = "baseline"

_TEXT: Final = {"type": "string", "minLength": 1}
_DAY: Final = {
    "type": "string",
    "pattern": r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$",
    "x-expected": "a day such as 2027-06-30",
}
SCHEMA: Final = {
    "type": "array",
    "x-expected": "a list of entries, each with id, expected and reason",
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["id", "expected", "reason"],
        "properties": {
            "id": _TEXT,
            "expected": {"enum": list(EXPECTED)},
            "reason": _TEXT,
            "link": _TEXT,
            "expires": _DAY,
        },
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One entry: a requirement and its accepted verdict. `expires` is the last day it counts."""

    id: str
    expected: Verdict
    reason: str
    link: str | None = None
    expires: date | None = None

    @property
    def words(self) -> str:
        """Why the verdict is accepted, in one line."""
        link = f" ({self.link})" if self.link else ""
        return f"{self.reason}{link}{f', until {self.expires}' if self.expires else ''}"

    def to_json(self) -> dict[str, Any]:
        written = {
            "id": self.id,
            "expected": _named(self.expected),
            "reason": self.reason,
            "link": self.link,
        }
        written["expires"] = self.expires.isoformat() if self.expires else None
        return {name: value for name, value in written.items() if value is not None}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Expectation":
        """Raises ValueError for a day that does not exist."""
        expires = value.get("expires")
        return cls(
            id=value["id"],
            expected=EXPECTED[value["expected"]],
            reason=" ".join(value["reason"].split()),
            link=value.get("link"),
            expires=None if expires is None else date.fromisoformat(expires),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineOutcome:
    """The entries of the ledger with what the baseline accepts, and its stale entries in words."""

    entries: tuple[Entry, ...]
    stale: tuple[str, ...]


def read_baseline(path: Path) -> tuple[Expectation, ...]:
    """Read the entries of a file; raises CommandError with all its problems."""
    try:
        content = scan_yaml(read_text(path), str(path))
        check_yaml(content, SCHEMA, str(path))
        return _expectations(content, str(path))
    except FileProblems as wrong:
        raise CommandError(str(wrong)) from None


def _expectations(content: YamlText, name: str) -> tuple[Expectation, ...]:
    by_id: dict[str, Expectation] = {}
    problems = []
    for place, written in enumerate(content.value):
        if written["id"] in by_id:
            problems.append(
                content.problem(
                    (place, "id"), f"{written['id']} stands there before; once is enough"
                )
            )
        try:
            by_id[written["id"]] = Expectation.from_json(written)
        except ValueError as wrong:
            problems.append(content.problem((place, "expires"), str(wrong)))
    if problems:
        raise FileProblems(name, problems)
    return tuple(by_id.values())


def apply_baseline(
    entries: Sequence[Entry], baseline: Iterable[Expectation], catalogue: Catalogue, today: date
) -> BaselineOutcome:
    """Accept the verdicts that the baseline expects today."""
    by_id = {entry.requirement.id: entry for entry in entries}
    accepted: dict[str, str] = {}
    stale: list[str] = []
    for expectation in baseline:
        entry = by_id.get(expectation.id)
        wrong = _staleness(expectation, entry, catalogue, today)
        if wrong:
            stale.append(f"{expectation.id} {wrong}")
        elif entry is not None and entry.verdict is expectation.expected:
            accepted[expectation.id] = expectation.words
    judged = [replace(entry, accepted=accepted.get(entry.requirement.id)) for entry in entries]
    return BaselineOutcome(entries=fold_consequences(judged), stale=tuple(stale))


def baseline_text(entries: Iterable[Entry], baseline: Iterable[Expectation]) -> str:
    """A baseline that accepts every failure and every stated requirement not exercised.

    Entries of the present baseline that still count are kept. The reasons of new entries are drafts
    that somebody should replace.
    """
    present = {expectation.id: expectation for expectation in baseline}
    written = [
        (present[entry.requirement.id] if entry.accepted else _proposed(entry)).to_json()
        for entry in entries
        if entry.verdict is Verdict.FAIL or is_missing(entry)
    ]
    head = (
        "# Known verdicts of the target. State why each is accepted, where that is tracked (link)"
        " and until when.\n"
    )
    return (
        naming_comment(BASELINE)
        + head
        + (
            yaml.safe_dump(written, sort_keys=False, allow_unicode=True, width=118)
            if written
            else "[]\n"
        )
    )


def _staleness(
    expectation: Expectation, entry: Entry | None, catalogue: Catalogue, today: date
) -> str:
    """Why an entry is no longer right; empty if it is, or if the run did not select it."""
    if expectation.id not in catalogue.requirements:
        return "is no requirement: remove it, or correct its id"
    if expectation.expires is not None and expectation.expires < today:
        return f"expired on {expectation.expires}: fix what it is about, or give it another day"
    if entry is not None and entry.judged and entry.verdict in OVER:
        return (
            f"is expected to be {_named(expectation.expected)},"
            f" but is {entry.verdict.words} now: remove it"
        )
    return ""


def _proposed(entry: Entry) -> Expectation:
    words = entry.findings[0].message if entry.findings else " ".join(entry.reasons)
    return Expectation(
        id=entry.requirement.id, expected=entry.verdict, reason=words or entry.requirement.text
    )


def _named(verdict: Verdict) -> str:
    return next(name for name, known in EXPECTED.items() if known is verdict)
