"""Judges what came back for the deliveries of one requirement; does no input or output."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from hookproof.receiver.consumer.finding import Requirement, Verdict
from hookproof.receiver.sending.attempt import Attempt
from hookproof.receiver.sending.exchange import Answer

# Too many requests, and out of service for now: they say nothing about the delivery.
NOT_NOW: Final = frozenset({429, 503})
LOWEST_FAILURE: Final = 500


class Trial(NamedTuple):
    """The deliveries of a requirement with their answers, and the right delivery after them.

    `effects` is the number of effects that the deliveries had; None if no number tells.
    """

    sent: Sequence[tuple[Attempt, Answer]]
    control: Answer
    effects: float | None


def judge(requirement: Requirement, trial: Trial) -> tuple[Verdict, str]:
    """The verdict, and its proof in a line."""
    whole = [(attempt, answer) for attempt, answer in trial.sent if attempt.sent != "aborted"]
    told = ", then ".join(answer.words for _, answer in trial.sent)
    if not is_taken(trial.control):
        return _by_control(told, trial.control)
    if any(answer.status in NOT_NOW for _, answer in whole):
        return Verdict.NOT_EXERCISED, f"{told}: it is out of service, or limits the rate"
    wrong = [
        answer
        for _, answer in whole
        if answer.status is None or not requirement.is_right(answer.status)
    ]
    if wrong and requirement.is_refusal and all(map(is_taken, wrong)):
        return _taken(told, trial.effects)
    if wrong:
        return Verdict.FAIL, f"{told}; {requirement.wanted} is right"
    return _by_effects(requirement, told, whole, trial.effects)


def _by_effects(
    requirement: Requirement,
    told: str,
    whole: Sequence[tuple[Attempt, Answer]],
    effects: float | None,
) -> tuple[Verdict, str]:
    """The verdict on deliveries whose answers are right."""
    if effects is None:
        return Verdict.PASS, told
    told += f"; effects: {effects:g}"
    events = {attempt.event for attempt, answer in whole if is_taken(answer)}
    if requirement.effect == "as_taken" and effects != len(events):
        return Verdict.FAIL, f"{told}, and {len(events)} is right"
    return Verdict.PASS, told


def is_taken(answer: Answer) -> bool:
    """Whether a sender takes the delivery for delivered."""
    return answer.status is not None and answer.status // 100 == 2  # noqa: PLR2004 - 2xx


def _taken(told: str, effects: float | None) -> tuple[Verdict, str]:
    """What is known of a wrong delivery that was answered as a right one: some consumers answer so
    and drop it.
    """
    if effects is None:
        return Verdict.NOT_EXERCISED, (
            f"{told}, as if it were right; whether anything came of it is not known: give --effect "
            "or --effect-command"
        )
    if effects:
        return Verdict.FAIL, f"{told}, and it had an effect"
    return Verdict.PASS, f"{told}, and it had no effect"


def _by_control(told: str, control: Answer) -> tuple[Verdict, str]:
    """What is known if the right delivery afterwards was not taken. One that is refused may be so
    because the consumer locks out whoever sent something wrong.
    """
    after = f"{told}; the right delivery after it: {control.words}"
    failed = control.status is None or control.status >= LOWEST_FAILURE
    if failed and control.status not in NOT_NOW:
        return Verdict.FAIL, after
    return Verdict.NOT_EXERCISED, after
