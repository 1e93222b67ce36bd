"""Whether evidence that was gathered beside other experiments is enough, or needs to be gathered
again without them.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from enum import Enum
from http import HTTPStatus
from typing import Final

from hookproof.conformance.grading.assumptions import standing, violated_in
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import (
    Evidence,
    NotExaminedError,
    NotObserved,
    Observation,
)
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.observations.answer import refused
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.spec.dialect.answer import Undecided

# Refusals that may be due to what others do at the same time.
_OF_THE_MOMENT: Final = frozenset({HTTPStatus.CONFLICT, HTTPStatus.LOCKED, HTTPStatus.TOO_EARLY})


class Doubt(Enum):
    """Why evidence that was gathered beside other experiments is not enough."""

    UNSEEN = "something could have been seen, and was not"
    ACCUSING = "something speaks against the target"


def doubt_about(
    gathered: Iterable[Evidence], checks: Sequence[Check], context: CheckContext
) -> Doubt | None:
    """Whether anything speaks against the target, or could have been seen and was not.

    A time that holds only because this machine was late is doubtful too: alone it is less so.
    Oracles are left out: what others send does not change the answer to a single request. What was
    given up before the first request would be given up again, and so would what ended with a
    refusal that says nothing of load or of others.
    """
    doubts: set[Doubt | None] = set()
    for evidence in gathered:
        if isinstance(evidence, NotObserved):
            last = evidence.exchanges[-1] if evidence.exchanges else None
            if last is not None and (not refused(last) or last.status in _OF_THE_MOMENT):
                doubts.add(Doubt.UNSEEN)
        else:
            doubts |= {
                _doubt_of(check, _as_if_punctual(evidence), context)
                for check in checks
                if not check.is_oracle
            }
    return next((doubt for doubt in (Doubt.ACCUSING, Doubt.UNSEEN) if doubt in doubts), None)


def accuses_of(
    requirements: Container[str],
    gathered: Iterable[Evidence],
    checks: Sequence[Check],
    context: CheckContext,
) -> bool:
    """Whether anything shows that one of these requirements is violated."""
    return any(
        requirement in requirements
        for evidence in gathered
        if isinstance(evidence, Observation)
        for check in checks
        if not check.is_oracle
        for requirement in _violated(check, evidence, context)
    )


def _as_if_punctual(observation: Observation) -> Observation:
    if isinstance(observation, DeliveryObservation):
        return replace(observation, late_s=0.0)
    return observation


def _doubt_of(check: Check, observation: Observation, context: CheckContext) -> Doubt | None:
    try:
        violated = _violated(check, observation, context, excused=(Undecided,))
    except NotExaminedError:
        return Doubt.UNSEEN
    return Doubt.ACCUSING if violated else None


def _violated(
    check: Check,
    observation: Observation,
    context: CheckContext,
    excused: tuple[type[Exception], ...] = (NotExaminedError, Undecided),
) -> frozenset[str]:
    """The requirements that a check sees violated, whatever is assumed, without those that were
    tried several times in place: gathering that again would find a race once more, or not.
    """
    judgements: list[Judgement] = []
    try:
        judgements.extend(check.judgements(observation, context))
    except excused:
        pass
    except (NotExaminedError, Undecided):
        raise
    except Exception:  # noqa: BLE001  it breaks again in the grader, which says so; gathering goes on
        return frozenset()
    judgements = standing(check, observation, judgements, context).judgements
    return violated_in(each for each in judgements if each.tries == 1)
