"""What came back is judged by what is known, and accuses nobody by what is not."""

from dataclasses import replace
from typing import Final

import pytest

from hookproof.process.exit_codes import ExitCode
from hookproof.receiver.consumer.finding import (
    Finding,
    Requirement,
    Verdict,
    exit_code,
    requirements,
)
from hookproof.receiver.consumer.judgement import Trial, judge
from hookproof.receiver.sending.attempt import Attempt
from hookproof.receiver.sending.exchange import Answer

PASS, FAIL, OPEN = Verdict.PASS, Verdict.FAIL, Verdict.NOT_EXERCISED
TAKEN: Final = Answer(status=200, took_ms=1)
SILENT: Final = Answer(status=None, took_ms=1, problem="did not answer within 10 s")


def answer(status: int | None) -> Answer:
    return SILENT if status is None else replace(TAKEN, status=status)


@pytest.mark.parametrize(
    ("name", "statuses", "control", "effects", "verdict"),
    [
        ("takes-right", [204], 200, None, PASS),
        ("takes-right", [302], 200, None, FAIL),
        ("takes-right", [None], 200, None, FAIL),
        ("takes-right", [200], 200, 1, PASS),
        ("takes-right", [200], 200, 0, FAIL),
        ("takes-right", [200], 200, 2, FAIL),
        ("takes-right", [200], 200, 0.5, FAIL),
        ("refuses-old", [401], 200, None, PASS),
        ("refuses-old", [401], 200, 0, PASS),
        ("refuses-old", [401], 200, 1, FAIL),
        ("refuses-old", [200], 200, None, OPEN),
        ("refuses-old", [200], 200, 0, PASS),
        ("refuses-old", [200], 200, 1, FAIL),
        ("refuses-old", [500], 200, 0, FAIL),
        ("refuses-old", [None], 200, 0, FAIL),
        ("refuses-old", [429], 200, 0, OPEN),
        ("refuses-old", [503], 200, 0, OPEN),
        # What the right delivery afterwards tells.
        ("refuses-old", [401], 500, None, FAIL),
        ("refuses-old", [401], None, None, FAIL),
        ("refuses-old", [401], 403, None, OPEN),
        ("refuses-old", [401], 503, None, OPEN),
        ("takes-duplicate", [200, 200], 200, 2, PASS),
        ("takes-duplicate", [200, 409], 200, 1, FAIL),
        ("one-effect", [200, 409], 200, 1, PASS),
        ("one-effect", [200, 200], 200, 2, FAIL),
        ("one-effect", [200, 200], 200, 0, FAIL),
        ("takes-other-order", [200, 200], 200, 1, PASS),
        ("takes-other-order", [200, 422], 200, 1, FAIL),
        ("takes-rolled", [200, 401], 200, 1, FAIL),
        ("takes-rolled", [200, 200], 200, 2, PASS),
        ("survives-large", [413], 200, 0, PASS),
        ("survives-large", [413], 200, 1, FAIL),
        ("survives-large", [200], 200, 1, PASS),
        ("survives-large", [200], 200, 0, FAIL),
        ("survives-future", [200], 200, 0, PASS),
        ("survives-future", [500], 200, 0, FAIL),
        ("takes-chunked", [411], 200, 0, PASS),
        # Nobody has to answer what was broken off.
        ("takes-what-was-broken-off", [None, 200], 200, 1, PASS),
        ("takes-what-was-broken-off", [200, 200], 200, 1, PASS),
        ("takes-what-was-broken-off", [None, None], 200, 0, FAIL),
        ("takes-what-was-broken-off", [None, 200], 200, 0, FAIL),
    ],
)
def test_a_requirement_is_judged_by_answers_and_effects(
    name: str, statuses: list[int | None], control: int | None, effects: float, verdict: Verdict
) -> None:
    requirement = requirements()[name]
    sent = list(zip(requirement.deliveries, map(answer, statuses), strict=True))
    judged, proof = judge(requirement, Trial(sent, answer(control), effects))
    assert judged is verdict, proof
    assert proof.startswith(sent[0][1].words)
    assert "\n" not in proof


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ([PASS], ExitCode.CONFORMS),
        ([PASS, Verdict.NOT_APPLICABLE], ExitCode.CONFORMS),
        ([PASS, OPEN], ExitCode.INCOMPLETE),
        ([PASS, OPEN, FAIL], ExitCode.DOES_NOT_CONFORM),
        ([Verdict.NOT_APPLICABLE], ExitCode.INCOMPLETE),
        ([], ExitCode.INCOMPLETE),
    ],
)
def test_the_exit_code_is_that_of_the_worst(verdicts: list[Verdict], code: ExitCode) -> None:
    row = requirements()["takes-right"]
    findings = [Finding(id="x", requirement=row, verdict=each, proof="") for each in verdicts]
    assert exit_code(findings) is code


def test_what_does_not_decide_leaves_a_run_complete() -> None:
    row = requirements()["refuses-expired-secret"]
    right = requirements()["takes-right"]
    findings = [
        Finding(id="x", requirement=row, verdict=OPEN, proof=""),
        Finding(id="y", requirement=right, verdict=PASS, proof=""),
    ]
    assert exit_code(findings) is ExitCode.CONFORMS


def test_the_table_is_sound() -> None:
    assert next(iter(requirements())) == "takes-right"
    for name, row in requirements().items():
        assert isinstance(row, Requirement)
        assert row.text.endswith(".")
        assert not row.mend.endswith(".")
        # What is refused differs in something from a right delivery.
        assert (row.deliveries != (Attempt(),)) or name == "takes-right"
        assert len({each.event for each in row.deliveries}) == 1 or not row.together
