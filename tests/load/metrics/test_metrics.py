"""What is served for Prometheus agrees with the ledger, and the dashboard's queries find it."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
import requests
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from hookproof.load.latency import Buckets
from hookproof.load.ledger.run_metrics import RunMetrics
from hookproof.load.ledger.run_progress import RunProgress
from hookproof.load.metrics import FiguresNow, next_address
from hookproof.load.sidecar.arrivals import Arrivals
from hookproof.load.sidecar.receiver_metrics import receiver_figures
from hookproof.process.exit_codes import ExitCode
from tests.free_ports import free_port
from tests.load.embedded import figures, line_with, loading, refusal, serving, wait_for_end
from tests.load.locust_plugin.locust_run import (
    ended,
    locust,
    locustfile,
    service,
)
from tests.polling import poll_until
from tests.source_tree import ROOT

DASHBOARD: Final = ROOT / "hookproof" / "load" / "examples" / "grafana-dashboard.json"
DELIVERIES: Final = "hookproof_load_deliveries_"
SERVED_AT: Final = r"metrics {}at (http://127\.0\.0\.1:\d+)/metrics"
NAME: Final = re.compile(r"\b(?:hookproof|process)_\w+")


def queries() -> dict[str, list[str]]:
    """The queries of the dashboard by the title of their panel."""
    return {
        panel["title"]: [target["expr"] for target in panel["targets"]]
        for panel in json.loads(DASHBOARD.read_text())["panels"]
    }


def samples(text: str) -> dict[str, float]:
    """The values of what is served, by name and labels."""
    return {
        sample.name + "".join(f"{{{value}}}" for value in sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def shown(metrics: RunMetrics) -> dict[str, float]:
    registry = CollectorRegistry()
    registry.register(FiguresNow(metrics.figures))
    return samples(generate_latest(registry).decode())


def test_figures_of_runs_add_up_and_those_of_a_run_that_ended_are_its_ledger() -> None:
    metrics, latency = RunMetrics(), Buckets()
    latency.note(0.004, times=3)
    latency.note(90.0)
    run = RunProgress(
        accepted=4, refused=1, delivered=6, settled=5, wrong={"over the limit": 2}, latency=latency
    )
    metrics.begin(2)
    metrics.note(run)
    before = shown(metrics)
    assert before["hookproof_load_broadcasts_total{accepted}"] == 4
    assert before[f"{DELIVERIES}expected_total"] == 8
    assert before[f"{DELIVERIES}pending"] == 3
    assert before[f"{DELIVERIES}over_limit_total"] == 2
    buckets = "hookproof_load_delivery_latency_seconds_bucket"
    assert [before[f"{buckets}{{{at}}}"] for at in ("0.0025", "0.005", "60.0", "+Inf")] == [
        *(0, 3, 3, 4)
    ]
    metrics.end({"lost": 2, "explained": 1, "pending": 0})
    metrics.begin(3)
    metrics.note(run)
    metrics.end({"lost": 1, "explained": None, "pending": 5})
    after = shown(metrics)
    names = ("expected_total", "delivered_total", "lost_total", "explained_total", "pending")
    assert [after[DELIVERIES + name] for name in names] == [20, 12, 3, 1, 5]
    assert after["hookproof_load_delivery_latency_seconds_count"] == 8


def test_whoever_asks_regularly_is_awaited_at_the_end_until_they_have_seen_it() -> None:
    metrics, now = RunMetrics(), time.monotonic()
    metrics.begin(1)
    shown(metrics)
    metrics.end({})
    assert not metrics.is_awaited(now), "asked once only"
    shown(metrics)
    metrics.begin(1)
    metrics.end({})
    assert metrics.is_awaited(now)
    assert not metrics.is_awaited(now + 3600), "gone"
    shown(metrics)
    assert not metrics.is_awaited(now)


def test_a_receiver_of_each_worker_gets_the_next_port() -> None:
    assert next_address("127.0.0.1:9000", 2) == "127.0.0.1:9002"
    assert next_address("[::1]:0", 2) == "[::1]:0"
    with pytest.raises(ValueError, match="there is no port 65536"):
        next_address("127.0.0.1:65535", 1)


def test_the_dashboard_asks_for_what_is_served() -> None:
    registry = CollectorRegistry()
    registry.register(FiguresNow(RunMetrics().figures))
    registry.register(FiguresNow(lambda: receiver_figures(Arrivals(attempts=1), Buckets())))
    served = {name.partition("{")[0] for name in samples(generate_latest(registry).decode())}
    asked = {name for some in queries().values() for query in some for name in NAME.findall(query)}
    assert asked - served == {"process_cpu_seconds_total"}


def test_an_address_that_cannot_be_used_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "'9000' is not an address" in refusal(monkeypatch, capsys, "--metrics", "9000")
    with_no_next = refusal(monkeypatch, capsys, "--metrics", "127.0.0.1:65535")
    assert "there is no port 65536" in with_no_next


@contextmanager
def prometheus(folder: Path, *targets: str) -> Iterator[str]:
    """A Prometheus that asks these addresses five times a second; the URL of its API."""
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("there is no prometheus (Debian has a package of that name)")
    jobs = [{"job_name": "hookproof", "static_configs": [{"targets": targets}]}]
    config = folder / "prometheus.yml"
    config.write_text(
        json.dumps({"global": {"scrape_interval": "200ms"}, "scrape_configs": jobs})  # also YAML
    )
    address = f"127.0.0.1:{free_port()}"
    process = subprocess.Popen(
        [
            program,
            f"--config.file={config}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address={address}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"http://{address}/api/v1"
    finally:
        process.kill()
        process.wait()


def answered(api: str, query: str, began: float) -> list[float]:
    """The numbers with which Prometheus answers a query of the dashboard, since a time."""
    query = query.replace("$__rate_interval", "2s").replace("$__range", "600s")
    # One step more, as the last figures may have come since the last whole one.
    wanted = {"query": query, "start": began, "end": time.time() + 1, "step": 1}
    answer = requests.get(f"{api}/query_range", params=wanted, timeout=60).json()
    assert answer["status"] == "success", answer
    values = [float(text) for row in answer["data"]["result"] for _, text in row["values"]]
    return [value for value in values if value == value]  # noqa: PLR0124 - not NaN


def is_up(api: str, targets: int) -> bool:
    try:
        answer = requests.get(f"{api}/query", params={"query": "sum(up)"}, timeout=60).json()
    except requests.RequestException:
        return False
    result = answer["data"]["result"]
    return bool(result) and float(result[0]["value"][1]) == targets


def test_a_real_prometheus_answers_the_queries_of_the_dashboard(tmp_path: Path) -> None:
    began = time.time()
    lossy = serving(tmp_path, "--fault", "every_seventh_lost")
    with lossy as target:
        options = (
            "--rate",
            "25",
            "--duration",
            "6",
            "--drain-at-most",
            "60",
            "--metrics",
            "127.0.0.1:0",
        )
        with loading(*options, *target, out=tmp_path / "out") as run:
            at = [line_with(run, SERVED_AT.format(which))[1] for which in ("", "of the receiver ")]
            with prometheus(tmp_path, *(url.removeprefix("http://") for url in at)) as api:
                poll_until(lambda: is_up(api, 2), "Prometheus asks both")
                # On a busy machine its verdict is that it was the limit itself.
                assert wait_for_end(run)[0] in {ExitCode.FAILED, ExitCode.INCOMPLETE}
                values = {
                    title: [answered(api, query, began) for query in some]
                    for title, some in queries().items()
                }
    assert [title for title, answers in values.items() if not all(answers)] == []
    expected, delivered, explained, lost, *wrong = map(max, values["Ledger"])
    ledger = figures(tmp_path / "out")
    names = ("expected", "delivered", "explained", "lost")
    assert [expected, delivered, explained, lost] == [ledger[name] for name in names]
    assert lost > 0
    assert wrong == [0] * len(wrong)
    assert max(values["Deliveries"][1]) > 0
    assert 0 < max(values["Delivery latency"][2]) <= 60


def test_locust_serves_the_same_figures(tmp_path: Path) -> None:
    # The receiver takes the next one.
    port = free_port(in_a_row=2)
    with service(tmp_path, "--fault", "every_seventh_lost") as variables:
        at = {"HOOKPROOF_METRICS": f"127.0.0.1:{port}"}
        process = locust(tmp_path, locustfile(tmp_path), variables | at, "--headless")
        seen = {}

        def ledger_is_known() -> bool:
            assert process.poll() is None, process.communicate()[0]
            try:
                text = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=60).text
            except requests.ConnectionError:
                return False
            seen.update(samples(text))
            return seen[f"{DELIVERIES}lost_total"] > 0

        with ended(process):
            poll_until(ledger_is_known, "the end of the test")
    assert process.returncode == 1
    ledger = json.loads((tmp_path / "ledger.json").read_text())
    names = ("expected", "delivered", "lost")
    assert [seen[f"{DELIVERIES}{name}_total"] for name in names] == [ledger[name] for name in names]
    assert seen["hookproof_load_broadcasts_total{accepted}"] == ledger["expected"]
    assert seen["hookproof_load_lateness_seconds_count"] > 0
    assert seen["hookproof_load_broadcast_latency_seconds_count"] == ledger["expected"]
