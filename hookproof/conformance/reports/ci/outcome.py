"""What a CI system is told of each requirement, and of the run as a whole.

`failure` is a failure of the target, `error` one of hookproof, and `skipped` is what was not
exercised, is not applicable, or does not count: a failure that the baseline accepts, one that only
follows from another, or one of hygiene without --strict.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from hookproof.conformance.model.ledger import Entry, counts
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.summary import flaky_words, stale_words, where
from hookproof.conformance.reports.texts.repeat_script import repeat_commands
from hookproof.conformance.reports.timeline import timeline
from hookproof.conformance.results.run_file import Run

MOST_EVENTS: Final = 20
THE_RUN: Final = "the run came to its end"

Kind = Literal["failure", "error", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """Why a case did not pass: in a line, and with the evidence, which may be empty."""

    kind: Kind
    message: str
    details: str = ""


def outcome_of(run: Run, entry: Entry) -> CaseOutcome | None:
    """The outcome of a requirement; None if it passed."""
    found = _outcome(run, entry)
    if found is None:
        return None
    kind, message = found
    return CaseOutcome(kind=kind, message=message, details="\n".join(_details(run, entry)))


def outcome_of_the_run(run: Run) -> CaseOutcome | None:
    """What belongs to no requirement: the run ended early or broke, or the baseline is stale."""
    stale = stale_words(run)
    broken = [
        *([f"The run ended early: {run.footer.cut}."] if run.footer.cut else []),
        *run.footer.faults,
    ]
    if not (broken or stale):
        return None
    words = [*broken, *stale]
    return CaseOutcome(
        kind="error" if broken else "failure", message=" ".join(words), details="\n".join(words)
    )


def _outcome(run: Run, entry: Entry) -> tuple[Kind, str] | None:
    reasons = " ".join(entry.reasons)
    match entry.verdict:
        case Verdict.PASS:
            return None
        case Verdict.ERROR:
            return "error", reasons or "hookproof could not judge it"
        case Verdict.FAIL:
            return _failure(run, entry)
        case _:
            accepted = f" The baseline accepts it: {entry.accepted}" if entry.accepted else ""
            return "skipped", f"{entry.verdict.words}: {reasons}{accepted}"


def _failure(run: Run, entry: Entry) -> tuple[Kind, str]:
    shown = entry.own_findings or entry.findings
    words = shown[0].message if shown else entry.requirement.text
    if entry.accepted:
        return "skipped", f"fails, and the baseline accepts it: {entry.accepted}"
    if entry.follows_from:
        return "skipped", f"fails, as follows from {', '.join(entry.follows_from)}: {words}"
    if not counts(entry, strict=run.header.strict):
        return "skipped", f"fails, and counts only with --strict: {words}"
    return "failure", words


def _details(run: Run, entry: Entry) -> Iterator[str]:
    if entry.findings:
        yield entry.requirement.text
        yield where(run, entry)
    if entry.seen:
        yield flaky_words(entry)
    for finding in entry.findings:
        yield ""
        yield f"found:    {finding.message}"
        yield f"expected: {finding.expected}"
        yield f"actual:   {finding.actual}"
        yield f"seen:     {finding.sightings} (check {finding.check})"
        if finding.follows_from:
            yield f"follows:  from {', '.join(finding.follows_from)}"
        yield from (event.words for event in timeline(finding)[:MOST_EVENTS])
        if finding.exchanges:
            yield from repeat_commands(finding, run.header)
