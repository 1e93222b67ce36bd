"""The baseline: known verdicts that a run accepts, each with its reason and perhaps an end date.

- id: 4.3-4
  expected: fail                     # or: not exercised, flaky
  reason: Expired secrets sign for another minute, because they are cached.
  check: old_secrets_stop_signing    # optional; accept only what this check found,
  operation: expireEndpointSecret    # optional; and only what it found in this operation
  link: https://tracker.example/123  # optional
  expires: 2027-06-30                # optional; the last day on which it counts

An entry that is no longer right is stale, and a stale entry fails the run. Otherwise the list of
known failures would only grow, and hide new ones. What is flaky is judged and shown, and accepted
whatever the verdict, so that its entry is never stale before its last day.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Final

import yaml

from hookproof.conformance.model.ledger import Entry, Finding, Ledger, is_missing
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.consequences import fold_consequences
from hookproof.conformance.results.records.finding_records import typed
from hookproof.process.exit_codes import CommandError
from hookproof.spec.catalogue import Catalogue
from hookproof.spec.contract.service_contract import OPERATION_IDS
from hookproof.spec.strict_yaml.editor_schema import naming_comment
from hookproof.spec.strict_yaml.file_problem import FileProblems
from hookproof.spec.strict_yaml.parser import YamlText
from hookproof.spec.strict_yaml.reader import check_yaml, read_text, scan_yaml

# The verdicts that a baseline can accept, by the word of the file.
FLAKY: Final = "flaky"
EXPECTED: Final = {
    "fail": frozenset({Verdict.FAIL}),
    "not exercised": frozenset({Verdict.NOT_EXERCISED}),
    FLAKY: frozenset({Verdict.FAIL, Verdict.NOT_EXERCISED}),
}

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
            "check": _TEXT,
            "operation": {"enum": list(OPERATION_IDS)},
            "link": _TEXT,
            "expires": _DAY,
        },
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One entry: a requirement and its accepted verdict, a word of EXPECTED.

    With a `check` or an `operation` only their findings are accepted. `expires` is the last day on
    which it counts.
    """

    id: str
    expected: str
    reason: str
    check: str | None = None
    operation: str | None = None
    link: str | None = None
    expires: date | None = None

    @property
    def words(self) -> str:
        """Why the verdict is accepted, in one line."""
        link = f" ({self.link})" if self.link else ""
        return f"{self.reason}{link}{f', until {self.expires}' if self.expires else ''}"

    @property
    def subject(self) -> str:
        """What it accepts, in words."""
        check = f", check {self.check}" if self.check else ""
        return f"{self.id}{check}{f', {self.operation}' if self.operation else ''}"

    @property
    def is_of_findings(self) -> bool:
        """Whether it accepts some findings, and not the whole requirement."""
        return self.check is not None or self.operation is not None

    def is_over(self, today: date) -> bool:
        return self.expires is not None and self.expires < today

    def accepts(self, finding: Finding) -> bool:
        return self.check in {None, finding.check} and self.operation in {None, finding.operation}

    def to_json(self) -> dict[str, Any]:
        written = {
            "id": self.id,
            "expected": self.expected,
            "reason": self.reason,
            "check": self.check,
            "operation": self.operation,
            "link": self.link,
        }
        written["expires"] = self.expires.isoformat() if self.expires else None
        return {name: value for name, value in written.items() if value is not None}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Expectation":
        """Raises ValueError for a day that does not exist, and what `typed` raises."""
        expires = value.get("expires")
        read = typed(cls, value, expires=None if expires is None else date.fromisoformat(expires))
        if read.expected not in EXPECTED:
            raise ValueError(f"there is no expected verdict {read.expected!r}")
        return replace(read, reason=" ".join(read.reason.split()))


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineOutcome:
    """The entries of the ledger with what the baseline accepts, and its stale entries in words."""

    entries: tuple[Entry, ...]
    stale: tuple[str, ...]


def read_baseline(path: Path) -> tuple[Expectation, ...]:
    """Read the entries of a file; raises CommandError with all its problems."""
    try:
        return baseline_in(path)
    except FileProblems as wrong:
        raise CommandError(str(wrong)) from None


def baseline_in(path: Path) -> tuple[Expectation, ...]:
    """Read the entries of a file; raises FileProblems."""
    content = scan_yaml(read_text(path), str(path))
    check_yaml(content, SCHEMA, str(path))
    return _expectations(content, str(path))


def _expectations(content: YamlText, name: str) -> tuple[Expectation, ...]:
    by_subject: dict[str, Expectation] = {}
    problems = []
    for place, written in enumerate(content.value):
        try:
            entry = Expectation.from_json(written)
        except ValueError as wrong:
            problems.append(content.problem((place, "expires"), str(wrong)))
            continue
        if entry.subject in by_subject:
            stands = f"{entry.subject} stands there before; once is enough"
            problems.append(content.problem((place, "id"), stands))
        if entry.is_of_findings and Verdict.FAIL not in EXPECTED[entry.expected]:
            exercised = "what was not exercised has no findings: leave out check and operation"
            problems.append(content.problem((place, "expected"), exercised))
        by_subject[entry.subject] = entry
    if problems:
        raise FileProblems(name, problems)
    return tuple(by_subject.values())


def apply_baseline(
    entries: Sequence[Entry], baseline: Iterable[Expectation], catalogue: Catalogue, today: date
) -> BaselineOutcome:
    by_id = {entry.requirement.id: entry for entry in entries}
    counting: dict[str, list[Expectation]] = {}
    stale: list[str] = []
    for expectation in baseline:
        entry = by_id.get(expectation.id)
        wrong = _staleness(expectation, entry, catalogue, today)
        if wrong:
            stale.append(f"{expectation.subject} {wrong}")
        else:
            counting.setdefault(expectation.id, []).append(expectation)
    judged = [
        replace(entry, accepted=_accepted(entry, counting.get(entry.requirement.id, ())))
        for entry in entries
    ]
    return BaselineOutcome(entries=fold_consequences(judged), stale=tuple(stale))


def _accepted(entry: Entry, expectations: Sequence[Expectation]) -> str | None:
    """Why the verdict of this entry is accepted, if it is: the whole, or each of its findings."""
    expected = [each for each in expectations if entry.verdict in EXPECTED[each.expected]]
    for expectation in expected:
        if not expectation.is_of_findings:
            return expectation.words
    known = [[each for each in expected if each.accepts(finding)] for finding in entry.findings]
    if not known or not all(known):
        return None
    return "; ".join(dict.fromkeys(each[0].words for each in known))


def baseline_text(entries: Iterable[Entry], baseline: Iterable[Expectation], today: date) -> str:
    """A baseline that accepts every failure and every stated requirement not exercised.

    Entries of the present baseline that still count today are kept. The reasons of new entries are
    drafts that somebody should replace.
    """
    present: dict[str, list[Expectation]] = {}
    for expectation in baseline:
        if not expectation.is_over(today):
            present.setdefault(expectation.id, []).append(expectation)
    written = [
        expectation.to_json()
        for entry in entries
        for expectation in _kept_or_proposed(entry, present.get(entry.requirement.id, []))
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


def all_accepted(ledger: Ledger) -> Ledger:
    """The ledger of the same run with the baseline that is written for it."""
    entries = tuple(
        replace(entry, accepted=entry.accepted or "by the baseline that was written")
        if entry.judged and (entry.verdict is Verdict.FAIL or is_missing(entry))
        else entry
        for entry in ledger.entries
    )
    return replace(ledger, entries=entries, stale=())


def _staleness(
    expectation: Expectation, entry: Entry | None, catalogue: Catalogue, today: date
) -> str:
    """Why an entry is no longer right; empty if it is, or if the run did not select it."""
    if expectation.id not in catalogue.requirements:
        return "is no requirement: remove it, or correct its id"
    if expectation.is_over(today):
        return f"expired on {expectation.expires}: fix what it is about, or give it another day"
    if entry is None or not entry.judged or expectation.expected == FLAKY:
        return ""
    if entry.verdict in OVER:
        return (
            f"is expected to be {expectation.expected}, but is {entry.verdict.words} now: remove it"
        )
    if (
        expectation.is_of_findings
        and entry.verdict is Verdict.FAIL
        and not any(map(expectation.accepts, entry.findings))
    ):
        return "is expected to fail, but no finding is of this any more: remove it"
    return ""


def _kept_or_proposed(entry: Entry, present: Sequence[Expectation]) -> Iterator[Expectation]:
    """The entries of a baseline for a requirement: present ones that count, and new ones for what
    they do not accept.
    """
    if entry.accepted or not entry.judged:
        yield from present
        return
    flaky = [each for each in present if each.expected == FLAKY and not each.is_of_findings]
    if flaky:  # it passes this time
        yield from flaky
        return
    known = [
        each
        for each in present
        if each.is_of_findings
        and (each.expected == FLAKY or any(map(each.accepts, entry.findings)))
    ]
    yield from known
    if entry.verdict is not Verdict.FAIL and not is_missing(entry):
        return
    name = entry.requirement.id
    if not (known and entry.findings):
        words = entry.findings[0].message if entry.findings else " ".join(entry.reasons)
        expected = next(word for word, verdicts in EXPECTED.items() if entry.verdict in verdicts)
        yield Expectation(id=name, expected=expected, reason=words or entry.requirement.text)
        return
    others = {
        (finding.check, finding.operation or None): finding.message
        for finding in reversed(entry.findings)
        if not any(each.accepts(finding) for each in known)
    }
    for (check, operation), message in others.items():
        yield Expectation(
            id=name, expected="fail", reason=message, check=check, operation=operation
        )
