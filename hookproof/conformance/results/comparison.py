"""Compares two runs: which requirements got better, which got worse."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from hookproof.conformance.model.ledger import Entry, Ledger, counts
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.run_file import Run

PROVED = (Verdict.PASS, Verdict.NOT_APPLICABLE)
# Members of the header that people know by other words.
NAMES: Final[Mapping[str, str]] = {"tool_version": "version of hookproof"}


class Change(StrEnum):
    """How the verdict of a requirement changed from one run to the next."""

    WORSE = "worse"
    BETTER = "better"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A requirement with different entries in two ledgers; None stands for not judged."""

    change: Change
    before: Entry | None
    after: Entry | None

    @property
    def entry(self) -> Entry:
        """The later entry that there is."""
        entry = self.after or self.before
        assert entry is not None
        return entry

    @property
    def words(self) -> str:
        return f"{_words(self.before)} -> {_words(self.after)}"


def differences(before: Ledger, after: Ledger, *, strict: bool = False) -> Iterator[Difference]:
    """The differences between two ledgers, in the order of the document.

    `worse` is a new failure that is not accepted, a new error, or a lost pass. Failed hygiene
    counts only with `strict`.
    """
    old = {entry.requirement.id: entry for entry in before.entries}
    new = {entry.requirement.id: entry for entry in after.entries}
    for name in {**old, **new}:
        pair = old.get(name), new.get(name)
        if _words(pair[0]) != _words(pair[1]):
            yield Difference(change=_change(*pair, strict=strict), before=pair[0], after=pair[1])


def differing_settings(before: Run, after: Run, names: Sequence[str]) -> Iterator[str]:
    """The members of the header in which two runs differ, of these, in words."""
    for name in names:
        values = [getattr(run.header, name) for run in (before, after)]
        if values[0] != values[1]:
            yield f"the {NAMES.get(name, name)} differs: {values[0]}, then {values[1]}"


def _change(before: Entry | None, after: Entry | None, *, strict: bool) -> Change:
    if before is None or after is None:
        return Change.WORSE if after is not None and _is_bad(after, strict=strict) else Change.OTHER
    if _is_bad(before, strict=strict) != _is_bad(after, strict=strict):
        return Change.WORSE if _is_bad(after, strict=strict) else Change.BETTER
    lost = before.verdict is Verdict.PASS and after.verdict is Verdict.NOT_EXERCISED
    won = before.verdict is Verdict.NOT_EXERCISED and after.verdict in PROVED
    return Change.WORSE if lost and not after.accepted else Change.BETTER if won else Change.OTHER


def _is_bad(entry: Entry, *, strict: bool) -> bool:
    return entry.verdict is Verdict.ERROR or counts(entry, strict=strict)


def _words(entry: Entry | None) -> str:
    if entry is None:
        return "not judged"
    return f"{entry.verdict.words}{' (accepted)' if entry.accepted else ''}"
