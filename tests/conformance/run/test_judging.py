"""The loop that judges a run: where it stops, and what it keeps."""

from collections.abc import Callable, Sequence

from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.run.composition_root import judge_all
from hookproof.spec.catalogue import Requirement
from tests.conformance.canned_run import requirement

REQUIREMENTS = tuple(map(requirement, ("4.1-2", "4.1-3", "4.1-4", "4.1-5")))


class StoppedRun:
    """A run whose evidence has been gathered; the first reason to stop it is kept."""

    def __init__(self, *gathered: Gathered, in_time: int = 1000):
        self.cut: str | None = None
        self.in_time = in_time
        self.asked = 0
        self._gathered = gathered

    def too_late(self) -> str | None:
        self.asked += 1
        return "it is late" if self.asked > self.in_time else None

    def stop(self, reason: str) -> None:
        self.cut = self.cut or reason

    def all_gathered(self) -> Sequence[Gathered]:
        return self._gathered


def judge_as(*verdicts: Verdict) -> Callable[[Requirement], Entry]:
    by_id = {each.id: verdict for each, verdict in zip(REQUIREMENTS, verdicts, strict=True)}
    return lambda each: Entry(requirement=each, verdict=by_id[each.id])


def verdicts_of(entries: Sequence[Entry]) -> list[tuple[Verdict, bool]]:
    return [(entry.verdict, entry.judged) for entry in entries]


def test_a_run_stops_after_max_fail_failures_and_errors() -> None:
    run = StoppedRun()
    judge = judge_as(Verdict.FAIL, Verdict.PASS, Verdict.ERROR, Verdict.PASS)
    ledger = judge_all(REQUIREMENTS, judge, run, max_fail=2)
    assert ledger.cut == "it ended after 2 failures, as --max-fail asks"
    assert verdicts_of(ledger.entries) == [
        (Verdict.FAIL, True),
        (Verdict.PASS, True),
        (Verdict.ERROR, True),
        (Verdict.NOT_EXERCISED, False),
    ]
    assert ledger.entries[-1].reasons == (f"The run was not completed: {ledger.cut}.",)


def test_a_last_requirement_that_reaches_max_fail_does_not_cut_the_run() -> None:
    judge = judge_as(Verdict.PASS, Verdict.PASS, Verdict.FAIL, Verdict.FAIL)
    ledger = judge_all(REQUIREMENTS, judge, StoppedRun(), max_fail=2)
    assert ledger.cut is None
    assert all(entry.judged for entry in ledger.entries)


def test_a_max_fail_of_0_is_no_limit() -> None:
    judge = judge_as(*[Verdict.FAIL] * len(REQUIREMENTS))
    ledger = judge_all(REQUIREMENTS, judge, StoppedRun(), max_fail=0)
    assert ledger.cut is None
    assert verdicts_of(ledger.entries) == [(Verdict.FAIL, True)] * len(REQUIREMENTS)


def test_an_interrupt_keeps_what_was_judged_and_judges_the_rest_by_the_evidence_so_far() -> None:
    run = StoppedRun()
    judged: list[str] = []

    def judge(requirement: Requirement) -> Entry:
        if len(judged) == 2 and run.cut is None:
            raise KeyboardInterrupt
        judged.append(requirement.id)
        return Entry(
            requirement=requirement, verdict=Verdict.NOT_EXERCISED if run.cut else Verdict.PASS
        )

    ledger = judge_all(REQUIREMENTS, judge, run, max_fail=0)
    assert judged == [each.id for each in REQUIREMENTS]
    assert ledger.cut == "it was interrupted"
    assert [entry.verdict for entry in ledger.entries] == [
        Verdict.PASS,
        Verdict.PASS,
        Verdict.NOT_EXERCISED,
        Verdict.NOT_EXERCISED,
    ]


def test_crashed_experiments_are_faults_of_the_run() -> None:
    crashed = Gathered(
        experiment="rate", observations=(), ending=Ending.CRASHED, reason="It broke."
    )
    complete = Gathered(experiment="lists", observations=())
    judge = judge_as(*[Verdict.PASS] * len(REQUIREMENTS))
    ledger = judge_all(REQUIREMENTS, judge, StoppedRun(crashed, complete), max_fail=0)
    assert ledger.faults == ("It broke.",)


def test_what_is_left_when_it_is_too_late_is_not_judged() -> None:
    """Judging is a part of the time budget, and what was judged in time counts."""
    run = StoppedRun(in_time=2)
    judge = judge_as(Verdict.PASS, Verdict.FAIL, Verdict.PASS, Verdict.FAIL)
    ledger = judge_all(REQUIREMENTS, judge, run, max_fail=0)
    assert ledger.cut == "it is late"
    assert verdicts_of(ledger.entries) == [
        (Verdict.PASS, True),
        (Verdict.FAIL, True),
        (Verdict.NOT_EXERCISED, False),
        (Verdict.NOT_EXERCISED, False),
    ]
