"""Figures for Prometheus: how they are written, and where they are served."""

from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from hookproof.load.latency import BOUNDS, Buckets
from hookproof.receiver.http.address import HIGHEST_PORT, Address

PATH: Final = "/metrics"


class MetricsProblem(Exception):
    """Figures cannot be served; the message says why."""


class FiguresNow(Collector):
    """The figures that a function returns whenever they are asked for."""

    def __init__(self, figures: Callable[[], Iterable[Metric]]) -> None:
        self._figures = figures

    def collect(self) -> Iterable[Metric]:
        return self._figures()


def counter(name: str, about: str, value: float) -> Metric:
    """A count that only grows; `_total` is added to its name."""
    return CounterMetricFamily(name, about, value=value)


def histogram_of(name: str, about: str, buckets: Buckets) -> Metric:
    """A histogram, whose buckets each hold the ones before."""
    bounds = [*map(floatToGoString, BOUNDS), "+Inf"]
    counts = accumulate(buckets.counts)
    return HistogramMetricFamily(
        name,
        about,
        buckets=list(zip(bounds, map(float, counts), strict=True)),
        sum_value=buckets.sum_s,
    )


def serve_metrics(
    at: Address, figures: Callable[[], Iterable[Metric]], *, of_process: bool = True
) -> str:
    """Serve the figures as long as this process lives, in a thread, and return their URL.

    With `of_process` those of the process are added, such as its memory. Raises MetricsProblem.
    """
    registry = CollectorRegistry()
    registry.register(FiguresNow(figures))
    if of_process:
        ProcessCollector(registry=registry)
    try:
        server, _ = start_http_server(at.port, at.host, registry)
    except OSError as error:
        raise MetricsProblem(
            f"--metrics: cannot listen on {at.host}:{at.port}: {error.strerror or error}"
        ) from None
    return Address(host=at.host, port=server.server_port).url("http") + PATH


def next_address(address: str, further: int) -> str:
    """The address with a port higher by `further`, any free one if it is any.

    Raises ValueError.
    """
    at = Address.parse(address)
    port = at.port + further if at.port else 0
    if port > HIGHEST_PORT:
        raise ValueError(f"there is no port {port}: {further} more than that of {address} are used")
    return address.removesuffix(str(at.port)) + str(port)
