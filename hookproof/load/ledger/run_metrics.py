"""The figures of runs for Prometheus: those of the run under way, and of all before it."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from hookproof.load.ledger.run_progress import RunProgress
from hookproof.load.metrics import counter, histogram_of

# How long a process that ends waits to be asked once more, at most.
ASKED_WITHIN_S: Final = 60.0
SLOW_S: Final = 10.0
# The names of what is wrong with a delivery, by the words of `FreshDelivery`.
WRONG: Final = {
    "duplicated": "duplicated",
    "altered": "altered",
    "unverifiable": "unverifiable",
    "over the limit": "over_limit",
}


class RunMetrics:
    """Keeps the progress of runs; each broadcast is expected at `deliveries_each` endpoints.

    What is lost is known at the end of a run, when this process may be about to end: so that
    somebody sees it, `is_awaited` says whether one who has asked before is to be waited for.
    """

    def __init__(self) -> None:
        self._before = RunProgress()
        self._now = RunProgress()
        self._each = 0
        self._expected_before = 0
        self._ended: Counter[str] = Counter()
        self._pending: int | None = None
        self._asked_at: list[float] = []
        self._ended_at: float | None = None

    def begin(self, deliveries_each: int) -> None:
        """A run begins."""
        self._expected_before += self._now.accepted * self._each
        self._before, self._now = self._before.plus(self._now), RunProgress()
        self._each, self._pending, self._ended_at = deliveries_each, None, None

    def note(self, progress: RunProgress) -> None:
        self._now = progress

    def end(self, ledger: Mapping[str, float | None]) -> None:
        """A run has ended, with these figures: `lost`, `explained` and `pending` deliveries."""
        self._pending = int(ledger.get("pending") or 0)
        self._ended.update({name: int(ledger.get(name) or 0) for name in ("lost", "explained")})
        self._ended_at = time.monotonic()

    def is_awaited(self, now: float) -> bool:
        """Whether somebody asks regularly, and is about to ask for the first time since the end."""
        if self._ended_at is None or len(self._asked_at) < len(("twice", "at least")):
            return False
        before, last = self._asked_at
        # Whoever asks often may be slow now and then.
        usual_s = min(ASKED_WITHIN_S, max(SLOW_S, 2 * (last - before)))
        return last < self._ended_at and now < self._ended_at + usual_s

    def figures(self) -> Iterator[Metric]:
        """What is known now, with everything of earlier runs."""
        self._asked_at = [*self._asked_at[-1:], time.monotonic()]
        current, whole = self._now, self._before.plus(self._now)
        broadcasts = CounterMetricFamily(
            "hookproof_load_broadcasts",
            "Broadcasts by what became of them.",
            labels=("result",),
        )
        for result in ("accepted", "refused", "limited"):
            broadcasts.add_metric((result,), getattr(whole, result))
        yield broadcasts
        expected = current.accepted * self._each
        pending = max(0, expected - current.settled) if self._pending is None else self._pending
        yield GaugeMetricFamily(
            "hookproof_load_deliveries_pending",
            "Deliveries of the current run that are expected and have not arrived.",
            value=pending,
        )
        lost, explained = self._ended["lost"], self._ended["explained"]
        for name, about, count in (
            ("expected", "Due to accepted broadcasts.", self._expected_before + expected),
            ("delivered", "Arrived.", whole.delivered),
            ("lost", "Never came; known when a run has ended.", lost),
            ("explained", "Missing because of the run itself; known at its end.", explained),
            *(
                (name, f"What arrived {words}.", whole.wrong.get(words, 0))
                for words, name in WRONG.items()
            ),
        ):
            yield counter(f"hookproof_load_deliveries_{name}", f"Deliveries: {about}", count)
        for name, about, buckets in (
            (
                "delivery_latency",
                "From when a broadcast was due to the arrival of its delivery.",
                whole.latency,
            ),
            (
                "broadcast_latency",
                "From when a broadcast was due until it was accepted.",
                whole.answering,
            ),
            ("lateness", "By how much the generator itself sent too late.", whole.lateness),
        ):
            yield histogram_of(f"hookproof_load_{name}_seconds", about, buckets)
        about = "Processor time that the generators used."
        yield counter("hookproof_load_cpu_seconds", about, whole.cpu_s)
