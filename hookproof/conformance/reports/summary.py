"""What every report states about a run as a whole: its verdict, the totals, and the notes."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.grading.not_exercised import DOES_NOT_DECIDE
from hookproof.conformance.model.ledger import (
    Entry,
    Ledger,
    LeftBehind,
    RunVerdict,
    counts,
    is_missing,
)
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.run_file import Run
from hookproof.spec.catalogue import Level
from hookproof.target.connection import NOT_VERIFIED, UNVERIFIED
from hookproof.target.hooks.removable_endpoints import slowing_words
from hookproof.target.rate_answer import limit_words

HEADLINES: Final = {
    RunVerdict.CONFORMS: "CONFORMS",
    RunVerdict.DOES_NOT_CONFORM: "DOES NOT CONFORM",
    RunVerdict.INCOMPLETE: "INCOMPLETE",
    RunVerdict.ERROR: "ERROR",
}
NOT_GIVEN: Final = (
    "No dialect was given, so that the answers of the reference dialect are assumed and nothing is"
    " judged by them: `hookproof learn` finds out the dialect, or give --dialect."
)
SHOWN_ORDER: Final = (
    Verdict.PASS,
    Verdict.FAIL,
    Verdict.ERROR,
    Verdict.NOT_EXERCISED,
    Verdict.NOT_APPLICABLE,
)


# What an applicable requirement that did not pass is, in words.
_OTHERS: Final = {
    Verdict.FAIL: "failed",
    Verdict.ERROR: "not judged",
    Verdict.NOT_EXERCISED: "not exercised",
}


def title(run: Run) -> str:
    header = run.header
    target = f"{header.target} (embedded)" if header.embedded else header.target
    far = f" · round trip {header.round_trip_s * 1000:.0f} ms" if header.round_trip_s else ""
    return (
        f"hookproof {header.tool_version} · {target} · dialect {header.dialect}"
        f" · {header.profile}{far}"
    )


def verdict_line(run: Run) -> str:
    """The verdict of a run in one line.

    Its beginning, the counts, is read by programs; what a reader must not miss stands at its end.
    """
    assumed = [f"assumed {len(run.header.assumed)}"] if run.header.assumed else []
    parts = [
        *tallies(run.ledger),
        *assumed,
        f"seed {run.header.seed}",
        f"{run.footer.duration_s:.1f} s",
    ]
    if run.header.learned:
        parts.append("dialect learned from the target")
    count = len(hygiene_findings(run))
    shout = [f"WITH {count} HYGIENE {'FINDING' if count == 1 else 'FINDINGS'}"] if count else []
    shout += [] if run.header.verified else [NOT_VERIFIED]
    return f"{HEADLINES[run.footer.verdict]}  {' · '.join([*parts, *shout])}"


def hygiene_findings(run: Run) -> list[Entry]:
    """The failures of hygiene that a verdict without other failures would let a reader miss."""
    if run.footer.verdict not in (RunVerdict.CONFORMS, RunVerdict.INCOMPLETE):
        return []
    return [
        entry
        for entry in run.entries
        if entry.verdict is Verdict.FAIL
        and entry.accepted is None
        and not entry.follows_from
        and not counts(entry, strict=run.header.strict)
    ]


def tallies(ledger: Ledger) -> list[str]:
    """How many of the applicable requirements of each level passed, and what the others are."""
    passed = []
    for level in Level:
        verdicts = ledger.totals[level]
        applicable = sum(verdicts.values()) - verdicts[Verdict.NOT_APPLICABLE]
        if applicable:
            others = [
                f"{verdicts[each]} {word}" for each, word in _OTHERS.items() if verdicts[each]
            ]
            why = f" ({', '.join(others)})" if others else ""
            passed.append(f"{level} {verdicts[Verdict.PASS]}/{applicable}{why}")
    idle = sum(verdicts[Verdict.NOT_EXERCISED] for verdicts in ledger.totals.values())
    accepted = sum(entry.accepted is not None for entry in ledger.entries)
    flaky = sum(bool(entry.seen) for entry in ledger.entries)
    further = [
        f"{word} {count}" for word, count in (("accepted", accepted), ("flaky", flaky)) if count
    ]
    return [*passed, f"not exercised {idle}", *further]


def warnings(run: Run) -> Iterator[str]:
    """What makes the verdict less certain than others, in sentences."""
    if not run.header.verified:
        yield UNVERIFIED
    if not run.header.given:
        yield NOT_GIVEN


def cut_words(run: Run) -> Iterator[str]:
    """Why the run is not whole, if it is not."""
    if run.footer.cut:
        yield f"The run ended before all was tried: {run.footer.cut}."


def stale_words(run: Run) -> list[str]:
    """What the baseline accepts and is no longer so, which fails the run by itself."""
    return [f"The baseline is stale: {words}." for words in run.footer.stale]


def notes(run: Run) -> Iterator[str]:
    """What a reader must know to interpret the verdict, in sentences."""
    footer = run.footer
    yield from warnings(run)
    yield from (f"An error of hookproof itself: {error}" for error in footer.faults)
    yield from (f"Your provision hook {failure}" for failure in footer.hooks)
    yield from _of_the_target(run)
    yield from stale_words(run)
    if footer.uncovered:
        yield f"The run saw too little: {footer.uncovered}."
    for disagreement in run.disagreements:
        yield (
            f"One field of the dialect explains {disagreement.findings} findings of"
            f" {', '.join(disagreement.requirements)}. {disagreement.words};"
            f" {disagreement.advice}."
        )
    yield from cut_words(run)
    if not run.header.everything:
        count = len(run.entries)
        selected = "1 requirement was" if count == 1 else f"{count} requirements were"
        yield f"Only {selected} selected; the others were not judged."
    yield from _left_out(run)
    if run.header.repetitions > 1:
        repetitions = f"{run.header.repetitions} repetitions"
        yield f"Each requirement has the worst of its verdicts in {repetitions}."
    yield from (flaky_words(entry) for entry in run.entries if entry.seen)
    follows = sum(run.ledger.consequences.values())
    if follows:
        yield (
            f"{follows} of the failed requirements only"
            f" {'follows' if follows == 1 else 'follow'} from others, and"
            f" {'is' if follows == 1 else 'are'} shown under those."
        )
    if unjudged := sum(map(_is_undecided, run.entries)):
        depend = "1 requirement depends" if unjudged == 1 else f"{unjudged} requirements depend"
        yield (
            f"The dialect leaves open what {depend} on; the reports name the questions, and the"
            " fields in which it can answer them."
        )
    withheld = [count.name for count in run.fields if count.is_withheld]
    if withheld:
        yield f"Fields that requests set and no answer showed with a value: {', '.join(withheld)}."
    yield from (
        f"The baseline accepts that {entry.requirement.id} is judged as {entry.verdict.words}:"
        f" {entry.accepted}"
        for entry in run.entries
        if entry.accepted
    )
    if run.header.embedded and any(entry.findings for entry in run.entries):
        yield (
            "The embedded server has ended; to repeat a command, start `hookproof serve` and use"
            " its address."
        )


def _left_out(run: Run) -> Iterator[str]:
    """What was left out on purpose for a reason, and what is newer than the set of the run."""
    ids_by_reason: dict[str, list[str]] = {}
    for name, reason in run.header.excluded.items():
        if reason:
            ids_by_reason.setdefault(reason, []).append(name)
    yield from (
        f"Left out: {', '.join(names)} ({reason})." for reason, names in ids_by_reason.items()
    )
    if newer := run.header.newer:
        count = "1 requirement is" if len(newer) == 1 else f"{len(newer)} requirements are"
        yield (
            f"{count} newer than the set {run.header.requirement_set}, and not counted:"
            f" {', '.join(newer)}."
        )


def _of_the_target(run: Run) -> Iterator[str]:
    """What its limit did to the run, and what the run left there."""
    footer, left = run.footer, run.left
    if footer.put_off:
        yield f"The API is limited: {limit_words(footer.put_off, footer.waited_s)}."
    if footer.cut_bodies:
        yield (
            f"{footer.cut_bodies} long bodies were judged and are cut in run.jsonl; `regrade`"
            " leaves out what rests on them."
        )
    if not run.header.embedded:
        yield from left_words(left, "report.json")
        yield from earlier_words(left)


def left_words(left: LeftBehind, place: str = "") -> Iterator[str]:
    """What a run has left at the target; `place` names the endpoints, if not what is beside."""
    count = len(left.endpoints)
    them = "it" if count == 1 else "them"
    advice = f"{f'{place} names {them}, and ' if place else ''}a hook remove_endpoint would remove"
    if count == 1:
        state = ", active," if left.active else ", disabled,"
        yield (
            f"1 endpoint is left at the target{state} with a URL that leads nowhere; {advice} it."
        )
    elif count:
        yield (
            f"{count} endpoints are left at the target, {left.active} of them active, with URLs"
            f" that lead nowhere; {advice} them."
        )


def earlier_words(left: LeftBehind) -> Iterator[str]:
    """What earlier runs have left at the target, if that was seen."""
    if left.earlier:
        yield f"{slowing_words(left.earlier)}."


def why_no_verdict(run: Run) -> list[str]:
    """What, apart from its findings, keeps the run from ending with 0, a line for each reason.

    The requirements that were not exercised, or not judged, are named with the reasons they share.
    """
    footer = run.footer
    if footer.verdict not in (RunVerdict.INCOMPLETE, RunVerdict.ERROR):
        return stale_words(run)
    nothing = not any(entry.exercised for entry in run.entries)
    groups: dict[str, list[str]] = {}
    for entry in run.entries:
        idle = entry.verdict is Verdict.NOT_EXERCISED and (nothing or is_missing(entry))
        if entry.verdict is Verdict.ERROR or (idle and not entry.accepted):
            reason = f"{entry.verdict.words}: {' '.join(entry.reasons)}"
            groups.setdefault(reason, []).append(entry.requirement.id)
    return [
        *footer.faults,
        *([f"the run saw too little: {footer.uncovered}"] if footer.uncovered else []),
        *(f"{', '.join(names)} {reason}" for reason, names in groups.items()),
        *(["Nothing was exercised."] if nothing and not groups else []),
        *stale_words(run),
    ]


def _is_undecided(entry: Entry) -> bool:
    return any(reason.startswith(DOES_NOT_DECIDE) for reason in entry.reasons)


def flaky_words(entry: Entry) -> str:
    """The verdicts of a flaky requirement in each repetition."""
    names = sorted({finding.check for finding in entry.findings})
    checks = f" (check {', '.join(names)})" if names else ""
    verdicts = ", ".join(verdict.words for verdict in entry.seen)
    return f"{entry.requirement.id} is flaky: {verdicts}{checks}."


def where(run: Run, entry: Entry) -> str:
    section = entry.requirement.section
    lost = " · DATA IS LOST OR SHOWN TO OTHERS" if entry.requirement.severe else ""
    title = run.header.sections.get(section, "")
    return f"{entry.requirement.level}{lost} · section {section}, {title}"
