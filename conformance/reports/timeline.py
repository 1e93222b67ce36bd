"""When what happened: the exchanges and deliveries of a proof on one clock."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.ledger import Finding
from hookproof.receiver.inbox.delivery import ReceivedDelivery

SHORTEST_S = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """An exchange or a delivery; `at_s` is in seconds after the first of them, `lasted_s` how long
    it took.

    `start` and `width` place it on the whole stretch, as percentages.
    """

    at_s: float
    lasted_s: float
    is_delivery: bool
    what: str
    outcome: str
    start: float = 0.0
    width: float = 0.0

    @property
    def words(self) -> str:
        """The moment in one line."""
        sign = "<-" if self.is_delivery else "->"
        return f"+{self.at_s:.3f} s {sign} {self.what}: {self.outcome}"


def timeline(finding: Finding) -> tuple[Moment, ...]:
    """The exchanges and deliveries of a finding in the order of their times."""
    return placed([*map(_of_exchange, finding.exchanges), *_of_deliveries(finding.deliveries)])


def placed(found: Sequence[Moment]) -> tuple[Moment, ...]:
    """Moments in order, counted from the first, each with its place on the whole stretch."""
    if not found:
        return ()
    first = min(one.at_s for one in found)
    whole = max(SHORTEST_S, *(one.at_s - first + one.lasted_s for one in found))
    return tuple(
        Moment(
            at_s=max(0.0, one.at_s - first),
            lasted_s=one.lasted_s,
            is_delivery=one.is_delivery,
            what=one.what,
            outcome=one.outcome,
            start=round(100 * (one.at_s - first) / whole, 2),
            width=round(100 * one.lasted_s / whole, 2),
        )
        for one in sorted(found, key=lambda one: one.at_s)
    )


def _of_exchange(exchange: Exchange) -> Moment:
    answer = f"no answer: {exchange.problem}" if exchange.status is None else str(exchange.status)
    return Moment(
        at_s=exchange.sent_at,
        lasted_s=exchange.duration_s,
        is_delivery=False,
        what=f"{exchange.operation_id or exchange.method} as {exchange.role}",
        outcome=f"{answer} after {exchange.duration_s * 1000:.0f} ms",
    )


def _of_deliveries(deliveries: Sequence[ReceivedDelivery]) -> Iterator[Moment]:
    for delivery in deliveries:
        ended = delivery.completed_monotonic or delivery.closed_monotonic
        lasted = 0.0 if ended is None else max(0.0, ended - delivery.arrived_monotonic)
        answered = "the sender left" if delivery.status is None else f"answered {delivery.status}"
        yield Moment(
            at_s=delivery.arrived_at,
            lasted_s=lasted,
            is_delivery=True,
            what=f"delivery {delivery.sequence} at /{delivery.token}, {len(delivery.body)} bytes",
            outcome=answered,
        )
