"""The behaviour of the target of one run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hookproof.conformance.results.behaviour.answers import (
    AnswerCounter,
    AnsweredRequest,
    OperationBehaviour,
    RequestPlace,
)
from hookproof.conformance.results.behaviour.deliveries import first_arrivals, in_order
from hookproof.conformance.results.behaviour.shapes import FieldShape
from hookproof.conformance.results.behaviour.stored_cases import StoredCase, stored_cases


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryBehaviour:
    """How deliveries arrived.

    `took_s` are the times from a broadcast to its first arrival at each address, sorted. `ordered`
    and `disordered` count broadcasts that arrived at one address before, or after, the next one.
    """

    arrived: int
    took_s: tuple[float, ...]
    ordered: int
    disordered: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """What a target did, and the answer in each place of the run."""

    operations: Mapping[str, OperationBehaviour]
    shapes: Mapping[str, Mapping[str, FieldShape]]
    deliveries: DeliveryBehaviour
    places: Mapping[RequestPlace, AnsweredRequest]


def read_behaviour(path: Path) -> Behaviour:
    """The behaviour that a run file shows; raises NotARun if its evidence is damaged."""
    return behaviour_of(stored_cases(path))


def behaviour_of(cases: Iterable[StoredCase]) -> Behaviour:
    """The behaviour that observations show; raises NotARun where they are damaged."""
    answers, took = AnswerCounter(), list[float]()
    arrived, order = 0, list[bool]()
    for case in cases:
        answers.add(case)
        arrived += len(case.deliveries)
        for arrivals in first_arrivals(case).values():
            took += [arrival.took_s for arrival in arrivals]
            order += in_order(arrivals)
    return Behaviour(
        operations=answers.operations(),
        shapes=answers.shapes(),
        deliveries=DeliveryBehaviour(
            arrived=arrived,
            took_s=tuple(sorted(took)),
            ordered=order.count(True),
            disordered=order.count(False),
        ),
        places=answers.places,
    )
