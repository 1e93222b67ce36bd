"""How far a run is, on a terminal of 80 columns and where there is no terminal."""

import io
import re
import threading

from rich.console import Console

from hookproof.conformance.reports.progress import Progress, ProgressPlan, progress, step_progress
from tests.conformance.canned_run import failed, passed, requirement

SECTIONS = {"1": "What the service does", "4": "Endpoints", "4.1": "Create an endpoint"}
PLAN = ProgressPlan(
    requirements=[requirement(name) for name in ("1-1", "4.1-1", "4.1-2", "4.4-1")],
    sections=SECTIONS,
)


def test_nothing_of_the_progress_is_cut_off_at_80_columns() -> None:
    requirements = [requirement(f"4.1-{number}") for number in range(99)]
    plan = ProgressPlan(requirements=requirements, sections=SECTIONS)
    entries = [passed(f"4.1-{number}") for number in range(50)] + [failed("4.1-50")]
    view = Progress(
        plan=plan,
        under_way=lambda: [f"an_experiment_{number}" for number in range(12)],
        clock=lambda: 4.0,
        started=0.0,
        entries=entries,
    )
    stream = io.StringIO()
    Console(file=stream, width=80).print(view)
    words = " ".join(stream.getvalue().split())
    assert "50 pass 1 fail 48 to come" in words
    assert "and an_experiment_6, an_experiment_7" in words
    assert "an_experiment_11" in words


def test_titles_of_sections_are_whole() -> None:
    title = "A title of a section that is longer than any other"
    plan = ProgressPlan(requirements=[requirement("4.1-1")], sections={"4": title})
    view = Progress(plan=plan, under_way=tuple, clock=lambda: 4.0, started=0.0)
    stream = io.StringIO()
    Console(file=stream, width=80).print(view)
    assert title in stream.getvalue()


class LinesOfStream(io.StringIO):
    """A stream that tells when some lines were written."""

    def __init__(self, wanted: int) -> None:
        super().__init__()
        self.enough = threading.Event()
        self._wanted = wanted

    def write(self, text: str) -> int:
        count = super().write(text)
        if self.getvalue().count("\n") >= self._wanted:
            self.enough.set()
        return count

    def has_further(self, lines: int) -> bool:
        """Wait until so many more lines were written."""
        self._wanted = self.getvalue().count("\n") + lines
        self.enough.clear()  # what sets it once more are the lines that follow
        return self.enough.wait(30)


def test_a_line_says_now_and_then_how_far_a_run_is_where_there_is_no_terminal() -> None:
    stream = LinesOfStream(1)
    names = tuple("abcdefgh")
    with progress(PLAN, lambda: names, stream, line_every_s=0.01) as note:
        note(passed("1-1"))
        note(failed("4.1-2"))
        assert stream.has_further(2)  # the first of them may have begun before
    written = stream.getvalue()
    assert re.fullmatch(
        r"hookproof: \d+ s: 8 experiments under way \(a, b, c, d, e, f and 2 more\),"
        " 2 of 4 requirements judged, 1 fail",
        written.splitlines()[-1],
    )
    assert not [thread for thread in threading.enumerate() if thread.name == "progress lines"]


def test_a_reader_of_the_progress_that_has_left_disturbs_nobody() -> None:
    stream = io.StringIO()
    stream.close()
    with progress(PLAN, tuple, stream, line_every_s=0.001) as note:
        note(passed("1-1"))
        for thread in threading.enumerate():
            if thread.name == "progress lines":
                thread.join(30)


def test_a_line_says_now_and_then_which_step_is_under_way_where_there_is_no_terminal() -> None:
    stream = LinesOfStream(4)
    with step_progress("hookproof learn", stream, line_every_s=0.01) as note:
        note("asking the API")
        assert stream.enough.wait(30)
    first, *others = stream.getvalue().splitlines()
    assert first == "hookproof learn: asking the API"
    assert {re.sub(r"\d+", "N", line) for line in others} == {
        "hookproof learn: N s: asking the API"
    }


def test_a_terminal_shows_each_step_alone() -> None:
    stream = io.StringIO()
    stream.isatty = lambda: True  # type: ignore[method-assign]
    without_terminal = LinesOfStream(20)
    with (
        step_progress("hookproof learn", stream, line_every_s=0.001) as note,
        step_progress("hookproof learn", without_terminal, line_every_s=0.001) as note_beside,
    ):
        note("asking the API")
        note_beside("asking the API")
        assert without_terminal.enough.wait(30)
    assert stream.getvalue() == "hookproof learn: asking the API\n"
