"""Traces by OpenTelemetry: of requests, and of deliveries in the trace of their broadcast.

Nothing of OpenTelemetry is imported without `--otel`, of Locust or of `hookproof load`.
"""

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from hookproof.load.sidecar.arrivals import DeliveryTrace

EXPORTERS: Final = ("OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER")
# Where one of these says where to, there is an exporter to it.
ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
TRACES: Final = EXPORTERS[0]


class OtelProblem(Exception):
    """There can be no traces; the message says why, and what to do."""


def set_up_otel(name: str, environment: Mapping[str, str] = os.environ) -> None:
    """Set up what Locust's `--otel` does; traces are of this name. Raises OtelProblem.

    Locust would send to an exporter on this machine if none is named; here that is an error.
    """
    if not any(environment.get(variable) for variable in (TRACES, *ENDPOINTS)):
        raise OtelProblem(
            f"--otel: no exporter is named; set {TRACES} to otlp or console, or {ENDPOINTS[1]} to"
            " the address of a collector"
        )
    os.environ.setdefault(TRACES, "otlp")
    for variable in EXPORTERS:
        os.environ.setdefault(variable, "none")
    try:
        from locust.opentelemetry import setup_opentelemetry
    except ImportError:
        raise OtelProblem("--otel: this version of locust has no such option: update it") from None
    if not setup_opentelemetry(name, None):
        raise OtelProblem("--otel: OpenTelemetry is not installed: pip install 'locust[otel]'")


def tracer() -> Any:
    """What begins spans; None if nobody has set up traces in this process."""
    sdk = sys.modules.get("opentelemetry.sdk.trace")
    if sdk is None:
        return None
    from opentelemetry import trace

    provider = trace.get_tracer_provider()
    is_set_up = isinstance(provider, sdk.TracerProvider)
    return provider.get_tracer("hookproof") if is_set_up else None


def untraced() -> AbstractContextManager[Any]:
    """A block whose requests are no part of a trace: those to our own processes."""
    utils = sys.modules.get("opentelemetry.instrumentation.utils")
    return nullcontext() if utils is None else utils.suppress_instrumentation()


class RequestSpan:
    """The span of one request; `headers` are those that tell the target of its trace."""

    def __init__(self, begins_spans: Any, operation_id: str, method: str) -> None:
        from opentelemetry import propagate, trace

        self._span = begins_spans.start_span(
            operation_id,
            kind=trace.SpanKind.CLIENT,
            attributes={"http.request.method": method},
        )
        self.headers: dict[str, str] = {}
        propagate.inject(self.headers, trace.set_span_in_context(self._span))

    def end(self, failure: str | None) -> None:
        _end(self._span, failure, None)


def trace_deliveries(begins_spans: Any, deliveries: Iterable[DeliveryTrace]) -> None:
    """A span for each delivery, in the trace that it carries on."""
    from opentelemetry import propagate, trace

    for delivery in deliveries:
        span = begins_spans.start_span(
            "DELIVERY",
            context=propagate.extract({"traceparent": delivery.traceparent}),
            kind=trace.SpanKind.CONSUMER,
            start_time=_nanoseconds(delivery.arrived_at - (delivery.latency_s or 0.0)),
        )
        _end(span, delivery.failure, _nanoseconds(delivery.arrived_at))


def _end(span: Any, failure: str | None, at: int | None) -> None:
    from opentelemetry import trace

    if failure is not None:
        span.set_status(trace.Status(trace.StatusCode.ERROR, failure))
    span.end(at)


def _nanoseconds(seconds: float) -> int:
    return int(seconds * 1e9)
