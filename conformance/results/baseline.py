"""The baseline: verdicts that are known and put up with, each with its reason, until a day.

- id: 4.3-4
  expected: fail                     # or: not exercised
  reason: Expired secrets sign for another minute, because they are cached.
  link: https://tracker.example/123  # optional
  expires: 2027-06-30                # optional; the last day on which it counts

An entry that is no longer right is stale, and a stale entry fails the run: a list of known failures
that nobody has to keep short grows over what it hides.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Final

import yaml

from hookproof.conformance.model.ledger import Entry, is_missing
from hookproof.conformance.model.verdict import Verdict
from hookproof.process.exit_codes import CommandError
from hookproof.spec.catalogue import Catalogue
from hookproof.spec.strict_yaml.file_problem import FileProblems
from hookproof.spec.strict_yaml.parser import YamlText
from hookproof.spec.strict_yaml.reader import check_yaml, read_text, scan_yaml

# The verdicts that can be put up with, as a file names them.
EXPECTED: Final = {"fail": Verdict.FAIL, "not exercised": Verdict.NOT_EXERCISED}

# Verdicts that leave nothing to put up with.
OVER: Final = frozenset({Verdict.PASS, Verdict.NOT_APPLICABLE})

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
    """One entry: a requirement, and the verdict that is put up with; `expires` is the last day on
    which it counts.
    """

    id: str
    expected: Verdict
    reason: str
    link: str | None = None
    expires: date | None = None

    @property
    def words(self) -> str:
        """Why the verdict is put up with, in one line."""
        link = f" ({self.link})" if self.link else ""
        return f"{self.reason}{link}{f', until {self.expires}' if self.expires else ''}"

    def to_json(self) -> dict[str, Any]:
        """The entry as it stands in a file."""
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
        """The entry behind `to_json`; raises ValueError for a day that is in no calendar."""
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
    """Entries of the ledger with what the baseline accepts, and the words for each entry of it that
    is stale.
    """

    entries: tuple[Entry, ...]
    stale: tuple[str, ...]


def read_baseline(path: Path) -> tuple[Expectation, ...]:
    """The entries of a file; raises CommandError with all that is wrong with it."""
    try:
        content = scan_yaml(read_text(path), str(path))
        check_yaml(content, SCHEMA, str(path))
        return _expectations(content, str(path))
    except FileProblems as wrong:
        raise CommandError(str(wrong)) from None


def _expectations(content: YamlText, name: str) -> tuple[Expectation, ...]:
    found: dict[str, Expectation] = {}
    problems = []
    for place, written in enumerate(content.value):
        if written["id"] in found:
            problems.append(
                content.problem(
                    (place, "id"), f"{written['id']} stands there before; once is enough"
                )
            )
        try:
            found[written["id"]] = Expectation.from_json(written)
        except ValueError as wrong:
            problems.append(content.problem((place, "expires"), str(wrong)))
    if problems:
        raise FileProblems(name, problems)
    return tuple(found.values())


def apply_baseline(
    entries: Sequence[Entry], baseline: Iterable[Expectation], catalogue: Catalogue, today: date
) -> BaselineOutcome:
    """The entries with those accepted that the baseline puts up with today."""
    by_id = {entry.requirement.id: entry for entry in entries}
    accepted: dict[str, str] = {}
    stale: list[str] = []
    for one in baseline:
        entry = by_id.get(one.id)
        wrong = _staleness(one, entry, catalogue, today)
        if wrong:
            stale.append(f"{one.id} {wrong}")
        elif entry is not None and entry.verdict is one.expected:
            accepted[one.id] = one.words
    return BaselineOutcome(
        entries=tuple(
            replace(entry, accepted=accepted.get(entry.requirement.id)) for entry in entries
        ),
        stale=tuple(stale),
    )


def baseline_text(entries: Iterable[Entry], baseline: Iterable[Expectation]) -> str:
    """A baseline that puts up with every failure and every stated requirement that was not
    exercised in these entries.

    Entries of the present baseline that still count are kept; the reasons of new ones are for a
    reader to write.
    """
    present = {one.id: one for one in baseline}
    found = [
        (present[entry.requirement.id] if entry.accepted else _proposed(entry)).to_json()
        for entry in entries
        if entry.verdict is Verdict.FAIL or is_missing(entry)
    ]
    head = "# Known verdicts of the target. Say why each is put up with, where that is tracked (link) and until when.\n"
    return head + (
        yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=118) if found else "[]\n"
    )


def _staleness(one: Expectation, entry: Entry | None, catalogue: Catalogue, today: date) -> str:
    """Why an entry is no longer right, or nothing. What this run did not select says nothing about
    it.
    """
    if one.id not in catalogue.requirements:
        return "is no requirement: remove it, or correct its id"
    if one.expires is not None and one.expires < today:
        return f"expired on {one.expires}: fix what it is about, or give it another day"
    if entry is not None and entry.judged and entry.verdict in OVER:
        return (
            f"is expected to be {_named(one.expected)}, but is {entry.verdict.words} now: remove it"
        )
    return ""


def _proposed(entry: Entry) -> Expectation:
    words = entry.findings[0].message if entry.findings else " ".join(entry.reasons)
    return Expectation(
        id=entry.requirement.id, expected=entry.verdict, reason=words or entry.requirement.text
    )


def _named(verdict: Verdict) -> str:
    return next(name for name, known in EXPECTED.items() if known is verdict)
