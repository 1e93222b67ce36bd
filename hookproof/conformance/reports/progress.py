"""The progress of a run on a terminal: the sections judged so far as a tree, and the experiments
under way.

Failures are written above it at once and stay; the report repeats them at the end. Where standard
error is not a terminal, a line says now and then how far the run is.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, TextIO

from rich.console import Group
from rich.live import Live
from rich.text import Text

from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.summary import SHOWN_ORDER
from hookproof.conformance.results.defects import BrokenRequirement
from hookproof.process.message_console import MessageConsole
from hookproof.process.messages import print_line
from hookproof.process.terminal_text import printable
from hookproof.spec.catalogue import Requirement

REFRESHES_PER_SECOND: Final = 4
# Between two lines where there is no terminal, in seconds.
LINE_EVERY_S: Final = 10.0
MOST_EXPERIMENTS: Final = 6
# How wide the column of titles is; a longer one moves what follows it.
TITLE: Final = 28
STYLES: Final = {
    Verdict.PASS: "green",
    Verdict.FAIL: "red",
    Verdict.ERROR: "magenta",
    Verdict.NOT_EXERCISED: "yellow",
    Verdict.NOT_APPLICABLE: "dim",
}

# Shows an entry, whose keys are masked, as soon as it is judged.
EntryListener = Callable[[Entry], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressPlan:
    """What a run will judge: `sections` are titles by number, `usual_s` holds the durations of
    experiments in an earlier run.
    """

    requirements: Sequence[Requirement]
    sections: Mapping[str, str]
    usual_s: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The current state; `under_way` and `clock` (in seconds) may be called from any thread."""

    plan: ProgressPlan
    under_way: Callable[[], Sequence[str]]
    clock: Callable[[], float]
    started: float
    entries: list[Entry] = field(default_factory=list)

    def __rich__(self) -> Group:
        return Group(*self._tree(), *self._experiments())

    def _tree(self) -> Iterator[Text]:
        """The chapters of the document; the one that is being judged shows its sections."""
        done = [entry.requirement for entry in self.entries]
        current = next((one.section for one in self.plan.requirements[len(done) :]), "")
        for chapter in dict.fromkeys(_chapter(one.section) for one in self.plan.requirements):
            inner = dict.fromkeys(
                one.section for one in self.plan.requirements if _chapter(one.section) == chapter
            )
            yield self._branch(chapter, inner, "")
            for section in inner if chapter == _chapter(current) and len(inner) > 1 else ():
                yield self._branch(section, (section,), "  ")

    def _branch(self, name: str, sections: Collection[str], indent: str) -> Text:
        total = sum(one.section in sections for one in self.plan.requirements)
        counts = Counter(
            entry.verdict for entry in self.entries if entry.requirement.section in sections
        )
        found = [
            (f"  {counts[one]} {one.words}", STYLES[one]) for one in SHOWN_ORDER if counts[one]
        ]
        left = total - sum(counts.values())
        waiting = [(f"  {left} to come", "dim")] if left else []
        title = f"{indent}{name:<{6 - len(indent)}}{self.plan.sections.get(name, ''):<{TITLE}}"
        return _line(title, *found, *waiting)

    def _experiments(self) -> Iterator[Text]:
        """The experiments under way, the one with most time left first."""
        passed_s = self.clock() - self.started
        names = self.under_way()
        yield _line(
            (
                f"{passed_s:3.0f} s · {len(names)} experiments under way"
                if names
                else f"{passed_s:3.0f} s",
                "bold",
            )
        )
        left = {
            name: self.plan.usual_s[name] - passed_s if name in self.plan.usual_s else 0.0
            for name in names
        }
        slowest = sorted(names, key=lambda name: -left[name])
        for name in slowest[:MOST_EXPERIMENTS]:
            state = f"about {left[name]:.0f} s left" if left[name] >= 1 else "under way"
            yield _line((f"      {name:<18} {state}", "dim"))
        if len(names) > MOST_EXPERIMENTS:
            yield _line((f"      and {', '.join(slowest[MOST_EXPERIMENTS:])}", "dim"))


@contextmanager
def progress(
    plan: ProgressPlan,
    under_way: Callable[[], Sequence[str]],
    stream: TextIO,
    *,
    line_every_s: float = LINE_EVERY_S,
) -> Iterator[EntryListener]:
    """Show the progress within the block: a picture on a terminal, lines elsewhere."""
    console = MessageConsole(stream)
    picture = Progress(
        plan=plan, under_way=under_way, clock=time.monotonic, started=time.monotonic()
    )
    if not console.is_terminal or console.is_dumb_terminal:
        with _lines_now_and_then(lambda: progress_line(picture), stream, line_every_s):
            yield picture.entries.append
        return

    def show(entry: Entry) -> None:
        picture.entries.append(entry)
        for line in immediate_lines(entry):
            console.print(line, soft_wrap=True)

    with Live(picture, console=console, transient=True, refresh_per_second=REFRESHES_PER_SECOND):
        yield show


@contextmanager
def step_progress(
    command: str, stream: TextIO, *, line_every_s: float = LINE_EVERY_S
) -> Iterator[Callable[[str], None]]:
    """What notes each step of a command in a line; where there is no terminal, a line says now and
    then which step is under way.
    """
    started, steps = time.monotonic(), [""]

    def note(step: str) -> None:
        steps.append(step)
        print_line(f"{command}: {step}", file=stream)

    def line() -> str:
        return f"{command}: {time.monotonic() - started:.0f} s: {steps[-1]}".removesuffix(": ")

    if stream.isatty():
        yield note
        return
    with _lines_now_and_then(line, stream, line_every_s):
        yield note


@contextmanager
def _lines_now_and_then(line: Callable[[], str], stream: TextIO, every_s: float) -> Iterator[None]:
    ended = threading.Event()

    def write_lines() -> None:
        while not ended.wait(every_s):
            try:
                print_line(line(), file=stream)
            except (OSError, ValueError):  # nobody reads it any more
                return

    writer = threading.Thread(target=write_lines, name="progress lines", daemon=True)
    writer.start()
    try:
        yield
    finally:
        ended.set()
        writer.join()


def progress_line(picture: Progress) -> str:
    """How far a run is, and what it is waiting for: `20 s: 8 experiments under way (access, ...)`.

    Most requirements are judged when all experiments have ended.
    """
    verdicts = Counter(entry.verdict for entry in picture.entries)
    wrong = [
        f", {verdicts[verdict]} {verdict.words}"
        for verdict in (Verdict.FAIL, Verdict.ERROR)
        if verdicts[verdict]
    ]
    names = picture.under_way()
    shown = ", ".join(names[:MOST_EXPERIMENTS])
    more = f" and {len(names) - MOST_EXPERIMENTS} more" if len(names) > MOST_EXPERIMENTS else ""
    waiting = f"{len(names)} experiments under way ({shown}{more}), " if names else ""
    return (
        f"hookproof: {picture.clock() - picture.started:.0f} s: {waiting}{len(picture.entries)} of"
        f" {len(picture.plan.requirements)} requirements judged{''.join(wrong)}"
    )


def immediate_lines(entry: Entry) -> Iterator[Text]:
    """A line for an entry that failed or could not be judged; nothing for others.

    What only follows from another failure is left to the report.
    """
    requirement = entry.requirement
    if entry.verdict is Verdict.FAIL and not entry.follows_from:
        own = entry.own_findings
        first = BrokenRequirement(entry=entry, finding=own[0]).title if own else requirement.text
        yield Text(printable(f"FAIL {requirement.id} {first}"), style=STYLES[Verdict.FAIL])
    elif entry.verdict is Verdict.ERROR:
        yield Text(
            printable(f"ERROR {requirement.id} {' '.join(entry.reasons)}"),
            style=STYLES[Verdict.ERROR],
        )


def _chapter(section: str) -> str:
    return section.partition(".")[0]


def _line(*parts: str | tuple[str, str]) -> Text:
    return Text.assemble(*parts)
