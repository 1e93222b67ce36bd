"""The behaviour of the target of one run: how it answered, and when deliveries arrived.

A delivery belongs to the broadcast of its observation whose data is its body. Where several have
the same data, or none has, nothing is said of it.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from hookproof.conformance.model.evidence import NOT_JSON, Exchange
from hookproof.conformance.results.behaviour.answers import (
    AnswerCounter,
    AnsweredRequest,
    OperationBehaviour,
    RequestPlace,
)
from hookproof.conformance.results.behaviour.shapes import FieldShape
from hookproof.conformance.results.behaviour.stored_cases import StoredCase, stored_cases
from hookproof.receiver.inbox.delivery import ReceivedDelivery

BROADCAST = "createBroadcastEvent"


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstArrival:
    """The first delivery of a broadcast to one address of the receiver."""

    broadcast: Exchange
    delivery: ReceivedDelivery

    @property
    def took_s(self) -> float:
        """From the moment at which the broadcast was sent."""
        return self.delivery.arrived_at - self.broadcast.sent_at


def first_arrivals(case: StoredCase) -> dict[str, list[FirstArrival]]:
    """The first arrivals at each address of the receiver, in the order of their broadcasts."""
    broadcasts = _broadcasts(case.exchanges)
    found: defaultdict[str, dict[str, FirstArrival]] = defaultdict(dict)
    for delivery in sorted(case.deliveries, key=lambda each: each.arrived_monotonic):
        data = _data(_parsed(delivery.body))
        if data in broadcasts and data not in found[delivery.token]:
            arrival = FirstArrival(broadcast=broadcasts[data], delivery=delivery)
            found[delivery.token][data] = arrival
    return {
        token: sorted(arrivals.values(), key=lambda each: each.broadcast.sent_at)
        for token, arrivals in found.items()
    }


def in_order(arrivals: Iterable[FirstArrival]) -> Iterator[bool]:
    """For each broadcast and the next one, which was sent after its answer, whether they arrived
    in this order.
    """
    for first, second in pairwise(arrivals):
        answered_at = first.broadcast.sent_at + first.broadcast.duration_s
        if answered_at <= second.broadcast.sent_at:
            yield first.delivery.arrived_monotonic < second.delivery.arrived_monotonic


def _broadcasts(exchanges: Iterable[Exchange]) -> Mapping[str, Exchange]:
    """The accepted broadcasts by their data, without those that others could be taken for."""
    sent = [
        (_data(body["data"]), exchange)
        for exchange in exchanges
        if exchange.operation_id == BROADCAST
        and exchange.succeeded
        and isinstance(body := _parsed(exchange.request_body or b""), dict)
        and "data" in body
    ]
    times = Counter(data for data, _ in sent)
    return {data: exchange for data, exchange in sent if times[data] == 1}


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return NOT_JSON


def _data(value: Any) -> str:
    """A text that equal data have alone, empty for none."""
    if value is NOT_JSON:
        return ""
    return json.dumps(value, sort_keys=True)


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
