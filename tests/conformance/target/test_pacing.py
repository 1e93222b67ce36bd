"""The target is called as slowly as target.yaml says, and not while it asks to be left alone."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.target.circuit_breaker import RunOver
from hookproof.conformance.target.pacing import LimitedForGood, Pacing
from tests.conformance.canned_evidence import exchange


class ScriptedTarget:
    """Answers with these statuses and values of Retry-After, one after the other, then with 200."""

    def __init__(self, *answers: tuple[int, str]) -> None:
        self.asked_at: list[float] = []
        self._answers = list(answers)

    async def answer(self) -> Exchange:
        self.asked_at.append(time.monotonic())
        await asyncio.sleep(0)  # so that calls at once are under way together
        status, wait = self._answers.pop(0) if self._answers else (200, "")
        headers = (("retry-after", wait),) if wait else ()
        return replace(exchange(), status=status, response_headers=headers)


def call(pacing: Pacing, target: ScriptedTarget, times: int = 1) -> Sequence[Exchange]:
    """Call it so often at once."""

    async def calls() -> Sequence[Exchange]:
        in_turn: Callable[[], Awaitable[Exchange]] = lambda: pacing.in_turn(  # noqa: E731
            target.answer, lambda answer: answer
        )
        return await asyncio.gather(*(in_turn() for _ in range(times)))

    return asyncio.run(calls())


def test_requests_that_come_at_once_are_sent_as_far_apart_as_their_rate_says() -> None:
    target = ScriptedTarget()
    call(Pacing(requests_per_s=50), target, times=8)
    assert len(target.asked_at) == 8
    assert min(later - earlier for earlier, later in pairwise(target.asked_at)) >= 0.02


def test_a_request_that_is_put_off_is_sent_again_after_the_pause() -> None:
    pacing, target = Pacing(), ScriptedTarget((429, "0.2"), (429, ""))
    answers = call(pacing, target)
    assert [answer.status for answer in answers] == [200]
    first, second, third = target.asked_at
    assert second - first >= 0.2
    assert third - second >= 1.0, "a pause of its own where it names none"
    assert pacing.put_off == 2
    assert pacing.waited_s == pytest.approx(1.2, abs=0.01)
    assert pacing.words == "the target answered 429 2 times; waited 1.2 s"


def test_nothing_else_is_sent_during_the_pause_which_counts_once() -> None:
    pacing, target = Pacing(), ScriptedTarget((429, "0.3"), (429, "0.3"))
    answers = call(pacing, target, times=2)
    answers = [*answers, *call(pacing, target)]
    assert {answer.status for answer in answers} == {200}
    assert min(target.asked_at[2:]) - target.asked_at[0] >= 0.3
    assert 0.3 <= pacing.waited_s < 0.6


@pytest.mark.parametrize("status", [200, 403, 500, 503])
def test_any_other_answer_counts_at_once(status: int) -> None:
    pacing, target = Pacing(), ScriptedTarget((status, "1000"))
    assert [answer.status for answer in call(pacing, target)] == [status]
    assert (pacing.put_off, pacing.words) == (0, "")


PIECES = {"pages": b'{"uid": "e1"}, ' * 70_000, "noise": Random(1).randbytes(1 << 20)}


@pytest.mark.parametrize("gives_up", [True, False])
@pytest.mark.parametrize("kind", PIECES)
def test_a_target_whose_answers_would_fill_the_memory_is_given_up(
    kind: str, gives_up: bool
) -> None:
    pacing, reasons = Pacing(most_long=9 << 20, most_noise=3 << 20), list[str]()
    if gives_up:
        pacing.give_up = reasons.append
    for _ in range(8 if kind == "pages" else 2):
        pacing.keep(1 << 20, PIECES[kind])
    assert pacing.words == ""

    def keep_two() -> None:
        for _ in range(2):
            pacing.keep(1 << 20, PIECES[kind])

    with pytest.raises(RunOver if gives_up else LimitedForGood) as raised:
        keep_two()
    reasons.append(str(raised.value))
    room = 9 if kind == "pages" else 3
    words = f"answers are too long: those of more than 64 KiB have {room} MiB together"
    assert words in reasons[0]
    assert words in pacing.words
    target = ScriptedTarget()
    with pytest.raises(RunOver if gives_up else LimitedForGood):
        call(pacing, target)
    assert target.asked_at == [], "it is not called again"


def test_answers_that_are_not_long_may_have_any_number() -> None:
    pacing = Pacing(most_long=1 << 20)
    for _ in range(40):
        pacing.keep(65536, PIECES["noise"][:65536])
    call(pacing, ScriptedTarget())


def test_a_target_that_puts_off_for_good_is_given_up_with_advice() -> None:
    pacing, reasons = Pacing(longest_pauses_s=5), list[str]()
    with pytest.raises(LimitedForGood, match=r"put one request off for 3600 s; budgets\.requests"):
        call(pacing, ScriptedTarget((429, "3600")))
    pacing.give_up = reasons.append
    with pytest.raises(RunOver):
        call(pacing, ScriptedTarget((429, "0"), (429, "5")))
    assert "429" in reasons[0]
    assert "requests_per_s" in reasons[0]
