"""How far a run is, on a terminal of 80 columns and where there is no terminal."""

import io
import re
import threading

from rich.console import Console

from hookproof.conformance.reports.progress import Progress, ProgressPlan, progress
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


def test_a_line_says_now_and_then_how_far_a_run_is_where_there_is_no_terminal() -> None:
    stream = LinesOfStream(2)
    names = tuple("abcdefgh")
    with progress(PLAN, lambda: names, stream, line_every_s=0.01) as note:
        note(passed("1-1"))
        note(failed("4.1-2"))
        assert stream.enough.wait(30)
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
