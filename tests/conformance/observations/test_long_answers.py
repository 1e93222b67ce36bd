"""What is kept of long answers: little of very long ones, which take ten times their room."""

import tracemalloc

from hookproof.conformance.model.evidence import VERY_LONG, Exchange
from hookproof.conformance.observations.answer import resources
from tests.conformance.canned_evidence import exchange

ANSWERS = 8


def test_hardly_any_very_long_answer_stays_parsed() -> None:
    answers = [very_long_answer(number) for number in range(ANSWERS)]
    tracemalloc.start()
    try:
        resources(answers[0])
        one, _ = tracemalloc.get_traced_memory()
        for answer in answers:
            resources(answer)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert one > VERY_LONG
    assert kept < 3 * one


def very_long_answer(number: int) -> Exchange:
    links = [{"uid": f"{number}-{index}", "name": "x" * 20} for index in range(30_000)]
    answer = exchange("list", "listPortalLinks", status=200, data={"content": links})
    assert len(answer.response_body) > VERY_LONG
    return answer
