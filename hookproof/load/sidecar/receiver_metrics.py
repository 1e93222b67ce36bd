"""The figures of the receiver of a run for Prometheus."""

from collections.abc import Iterator
from typing import Final

from prometheus_client.core import CounterMetricFamily, Metric

from hookproof.load.latency import Buckets
from hookproof.load.metrics import counter, histogram_of
from hookproof.load.sidecar.arrivals import Arrivals

# What may be wrong with a delivery, as `Arrivals` counts it.
WRONG: Final = (
    "duplicated",
    "duplicated_by_receiver",
    "altered",
    "unverifiable",
    "over_limit",
    "out_of_order",
    "late",
    "unexpected",
)


def receiver_figures(arrivals: Arrivals, lateness: Buckets) -> Iterator[Metric]:
    """What has arrived in the run under way, or in the last one, and how late this process was."""
    counts = dict(arrivals.counts)
    for name, about, value in (
        ("arrived", "All that arrived, every attempt and copy.", counts.get("arrived", 0)),
        ("delivered", "Answered with success for the first time.", arrivals.delivered),
        ("settled", "Delivered, or failed in all attempts.", arrivals.settled),
    ):
        yield counter(f"hookproof_receiver_deliveries_{name}", f"Deliveries: {about}", value)
    wrong = CounterMetricFamily(
        "hookproof_receiver_deliveries_wrong",
        "Deliveries by what is wrong with them.",
        labels=("problem",),
    )
    for problem in WRONG:
        wrong.add_metric((problem,), counts.get(problem, 0))
    yield wrong
    about = "From when a broadcast was due to the arrival of its delivery, by one clock."
    yield histogram_of("hookproof_receiver_delivery_latency_seconds", about, arrivals.buckets)
    about = "By how much timers of the receiver were late, and so what it noticed."
    yield histogram_of("hookproof_receiver_lateness_seconds", about, lateness)
