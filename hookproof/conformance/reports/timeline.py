"""The exchanges and deliveries of a proof on one time line, and the experiments of a run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.ledger import Finding
from hookproof.conformance.results.run_file import Run
from hookproof.receiver.inbox.delivery import ReceivedDelivery

# So that a single event without a duration is not divided by zero.
SHORTEST_S = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEvent:
    """An exchange, a delivery or an experiment; `at_s` is in seconds after the first one,
    `lasted_s` is its duration.

    `start` and `width` are its place on the whole time line, as percentages.
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
        sign = "<-" if self.is_delivery else "->"
        return f"+{self.at_s:.3f} s {sign} {self.what}: {self.outcome}"


def timeline(finding: Finding) -> tuple[TimelineEvent, ...]:
    """The exchanges and deliveries of a finding in the order of their times."""
    return place_events(
        [*map(_of_exchange, finding.exchanges), *_of_deliveries(finding.deliveries)]
    )


def experiments_timeline(run: Run) -> tuple[TimelineEvent, ...]:
    """The experiments of the first repetition in the order in which they began; empty for a file of
    an earlier version.
    """
    return place_events(
        [
            TimelineEvent(
                at_s=experiment.began_s,
                lasted_s=experiment.duration_s,
                is_delivery=False,
                what=experiment.name,
                outcome=experiment.reason or f"{experiment.duration_s:.1f} s",
            )
            for experiment in run.experiments
            if experiment.repetition == 1 and experiment.began_s is not None
        ]
    )


def place_events(events: Sequence[TimelineEvent]) -> tuple[TimelineEvent, ...]:
    """The events in order, counted from the first, each with its place on the time line."""
    if not events:
        return ()
    first = min(event.at_s for event in events)
    whole = max(SHORTEST_S, *(event.at_s - first + event.lasted_s for event in events))
    return tuple(
        TimelineEvent(
            at_s=max(0.0, event.at_s - first),
            lasted_s=event.lasted_s,
            is_delivery=event.is_delivery,
            what=event.what,
            outcome=event.outcome,
            start=round(100 * (event.at_s - first) / whole, 2),
            width=round(100 * event.lasted_s / whole, 2),
        )
        for event in sorted(events, key=lambda event: event.at_s)
    )


def _of_exchange(exchange: Exchange) -> TimelineEvent:
    answer = f"no answer: {exchange.problem}" if exchange.status is None else str(exchange.status)
    return TimelineEvent(
        at_s=exchange.sent_at,
        lasted_s=exchange.duration_s,
        is_delivery=False,
        what=f"{exchange.operation_id or exchange.method} as {exchange.role}",
        outcome=f"{answer} after {exchange.duration_s * 1000:.0f} ms",
    )


def _of_deliveries(deliveries: Sequence[ReceivedDelivery]) -> Iterator[TimelineEvent]:
    for delivery in deliveries:
        yield TimelineEvent(
            at_s=delivery.arrived_at,
            lasted_s=delivery.lasted_s,
            is_delivery=True,
            what=f"delivery {delivery.sequence} at /{delivery.token}, {len(delivery.body)} bytes",
            outcome=_outcome(delivery),
        )


def _outcome(delivery: ReceivedDelivery) -> str:
    if delivery.status is not None:
        return f"answered {delivery.status}"
    return "not answered" if delivery.closed_monotonic is None else "the sender left"
