"""With --otel requests are traced, and deliveries that carry on the trace of their broadcast."""

import json
from pathlib import Path

import pytest

from hookproof.load.broadcast_mark import data_with_mark
from hookproof.load.locust_worker.tracing import (
    OtelProblem,
    RequestSpan,
    set_up_otel,
    trace_deliveries,
    tracer,
)
from hookproof.load.sidecar.arrivals import Arrivals, DeliveryTrace, Endpoint, NewRun
from hookproof.load.sidecar.signatures import EndpointSignatures
from hookproof.process.exit_codes import ExitCode
from hookproof.receiver.clock import Instant
from hookproof.spec.dialect.reader import load_dialect
from tests.load.embedded import figures, loading, wait_for_end

BEGAN = 1_700_000_000.0
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize("traced", [True, False])
def test_the_receiver_keeps_the_traces_of_a_traced_run(*, traced: bool) -> None:
    arrivals = Arrivals(attempts=1)
    signatures = EndpointSignatures(
        load_dialect("reference"), advanced=False, secrets=["s"], url=""
    )
    arrivals.endpoints["t"] = Endpoint(token="t", signatures=signatures, limited=False)
    new = NewRun(
        run="r", broadcasts=9, started_at=BEGAN, stretch_s=1, late_after_s=1, traced=traced
    )
    arrivals.begin(new)
    for number, headers in enumerate([((b"Traceparent", PARENT.encode()),), ()]):
        body = data_with_mark("r", number, BEGAN, "")
        arrivals.arrived("t", headers, body, Instant(BEGAN + 0.5, 9.5), succeeded=True)
    kept = [DeliveryTrace(PARENT, BEGAN + 0.5, 0.5, "unverifiable")] if traced else []
    assert arrivals.take_traces() == kept
    assert arrivals.take_traces() == []


def test_the_span_of_a_delivery_is_in_the_trace_that_the_request_began() -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    export = pytest.importorskip("opentelemetry.sdk.trace.export")
    assert tracer() is None, "nobody has set it up"
    spans, provider = memory.InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(spans))
    begins_spans = provider.get_tracer("test")
    request = RequestSpan(begins_spans, "createBroadcastEvent", "POST")
    traceparent = request.headers["traceparent"]
    request.end("answered 500")
    trace_deliveries(
        begins_spans,
        [
            DeliveryTrace(traceparent, BEGAN + 0.5, 0.5, None),
            DeliveryTrace(traceparent, BEGAN + 2, None, "altered"),
            DeliveryTrace("what a target made of it", BEGAN, 0.5, None),
        ],
    )
    sent, came, altered, stray = spans.get_finished_spans()
    assert (sent.name, sent.status.description) == ("createBroadcastEvent", "answered 500")
    assert [came.parent.span_id, altered.parent.span_id] == [sent.context.span_id] * 2
    assert came.context.trace_id == sent.context.trace_id != stray.context.trace_id
    assert (came.end_time - came.start_time, came.status.description) == (500_000_000, None)
    assert (altered.end_time - altered.start_time, altered.status.description) == (0, "altered")


def test_no_exporter_is_used_that_nobody_has_named() -> None:
    with pytest.raises(OtelProblem, match="set OTEL_TRACES_EXPORTER to otlp or console"):
        set_up_otel("a run", {"OTEL_METRICS_EXPORTER": "otlp"})


def test_a_run_traces_each_of_its_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("opentelemetry.sdk.trace")
    monkeypatch.delenv("OTEL_TRACES_EXPORTER", raising=False)
    short = ("--rate", "10", "--duration", "1", "--otel")
    with loading(*short, out=tmp_path / "none") as run:
        code, _, said = wait_for_end(run)
    assert (code, said.count("\n")) == (ExitCode.USAGE, 1), said
    assert "no exporter is named" in said
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console")
    with loading(*short, out=tmp_path / "out") as run:
        code, shown, said = wait_for_end(run)
    assert code in {0, ExitCode.INCOMPLETE}, said
    names = [
        json.loads("{" + text.rstrip().removesuffix(",") + "}")["name"]
        for line in shown.splitlines()
        if (text := line.strip()).startswith('"name": ') and '"' in text[8:]
    ]
    assert names == ["createBroadcastEvent"] * int(figures(tmp_path / "out")["accepted"])
