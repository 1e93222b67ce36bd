"""When deliveries arrived after their broadcasts, and in which order.

A delivery belongs to the broadcast of its observation whose data is its body. Where several have
the same data, or none has, nothing is said of it.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hookproof.conformance.model.evidence import NOT_JSON, Exchange
from hookproof.conformance.results.behaviour.stored_cases import StoredCase
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
