"""Several workers make one run: its ledger balances, bounds hold for all, a loss is reported."""

import json
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.load.embedded import (
    ENDS_WITHIN_S,
    HOOKPROOF,
    figures,
    hookproof_load,
    line_with,
    loading,
    refusal,
    report,
    serving,
    wait_for_end,
)


def workers_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process(process.pid).children()
        if "hookproof.load.distributed.worker_process" in child.cmdline()
    ]


def accounted_for(counted: dict[str, Any]) -> int:
    """The deliveries that the ledger accounts for, one way or another."""
    return int(sum(counted[name] for name in ("delivered", "lost", "explained", "unaccounted")))


def test_the_ledger_of_four_workers_balances(tmp_path: Path) -> None:
    outcome = hookproof_load(
        tmp_path, "smoke", "--rate", "40", "--duration", "1", "--processes", "4"
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    counted, summary = figures(tmp_path), report(tmp_path)
    assert (counted["sent"], counted["accepted"], counted["lost"]) == (40, 40, 0)
    assert counted["expected"] == counted["delivered"] == 40 * 4
    assert (summary["workers"], [endpoint["worker"] for endpoint in summary["endpoints"]]) == (
        4,
        [0, 1, 2, 3],
    )
    assert [endpoint["arrived"] for endpoint in summary["endpoints"]] == [40] * 4
    rows = [line.split(",") for line in (tmp_path / "locust_stats.csv").read_text().splitlines()]
    assert {row[0]: row[2] for row in rows[1:]} == {"DELIVERY": "160", "POST": "40", "": "200"}


SHARED_OUT = """
name: shared-out
summary: Three of four endpoints are limited, and the first of them fails for most of the time.
rate: 20
duration_s: 4
users: 8
drain_s: 120
late_after_s: 120
endpoints: {count: 4, limited: 3, rate_limit: 50, rate_limit_duration_s: 2, http_timeout_s: 30}
trouble: [{endpoints: 1, from_s: 0, to_s: 3, reply: {status: 503}}]
fail_if: [lost > 0, overshoot > 0]
"""


def test_limits_and_troubles_are_divided_between_workers(tmp_path: Path) -> None:
    (tmp_path / "shared-out.yaml").write_text(SHARED_OUT)
    outcome = hookproof_load(tmp_path, str(tmp_path / "shared-out.yaml"), "--workers", "2")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert figures(tmp_path)["expected"] == 4 * 80
    endpoints = report(tmp_path)["endpoints"]
    limits = [
        (endpoint["worker"], endpoint["limit"] and endpoint["limit"]["most"])
        for endpoint in endpoints
    ]
    assert limits == [(0, 50), (1, 50), (0, 50), (1, None)]
    assert endpoints[0]["arrived"] > 80, "the endpoint that failed was not tried again"
    assert [endpoint["arrived"] for endpoint in endpoints[1:]] == [80] * 3


def test_a_worker_killed_during_the_run_is_reported_and_fails_the_run(
    tmp_path: Path,
) -> None:
    with loading(
        "smoke", "--rate", "30", "--duration", "30", "--processes", "3", out=tmp_path
    ) as command:
        line_with(command, r"accepted [1-9]")
        killed = workers_of(command)[1]
        killed.send_signal(signal.SIGKILL)
        code, shown, errors = wait_for_end(command)
    assert code == 1, shown + errors
    assert re.search(r"worker \d \(.+\) is lost", shown)
    summary, counted = report(tmp_path), figures(tmp_path)
    assert summary["verdict"] == "fail"
    assert any(
        "was lost after" in complaint and "not accounted for" in complaint
        for complaint in summary["complaints"]
    )
    assert counted["expected"] == counted["accepted"] * 3 == accounted_for(counted)
    assert counted["unaccounted"] > 0
    assert counted["lost"] == 0, "what the other workers sent to their receivers did arrive"
    assert 0 < counted["accepted"] < 900
    with_a_receiver = [
        endpoint
        for endpoint in summary["endpoints"]
        if endpoint["unaccounted"] < endpoint["expected"]
    ]
    assert len(with_a_receiver) == 2


def test_all_trials_of_a_search_use_the_same_workers(tmp_path: Path) -> None:
    (tmp_path / "knee.yaml").write_text(
        "name: knee\nsummary: s\nrate: 20\nduration_s: 1\nusers: 8\ndrain_s: 60\n"
        "fail_if: ['sent > 20']\n"
        "search: {most: 40, within: 0.6}\n"
    )
    outcome = hookproof_load(tmp_path, str(tmp_path / "knee.yaml"), "--processes", "2")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    summary = report(tmp_path)
    assert [trial["rate"] for trial in summary["trials"]] == [20, 40, 30, 20, 30]
    assert summary["figures"]["delivered"] == 2 * 20


@contextmanager
def master_with(
    target: Sequence[str], *arguments: str, out: Path
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a master that waits for two workers by default; yields it and its port."""
    options = ("--master", "--master-bind", "127.0.0.1:0", "--expect-workers", "2")
    with loading(*options, *arguments, *target, out=out) as master:
        yield master, line_with(master, r"waiting for \d workers at 127\.0\.0\.1:(\d+)")[1]


def worker_options(port: str, folder: Path) -> tuple[str, ...]:
    return ("--worker", "--master-port", port, "--api-key", "k", "--ca-dir", str(folder / "ca"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningLoad:
    """A run that has begun to send: its master, the port of that, and its workers."""

    master: subprocess.Popen[str]
    port: str
    workers: list[subprocess.Popen[str]]


@contextmanager
def two_workers_running(folder: Path) -> Iterator[RunningLoad]:
    """Run a server, a master and two workers that know of each other by the port alone."""
    with ExitStack() as stack:
        target = stack.enter_context(serving(folder))
        master, port = stack.enter_context(
            master_with(target, "smoke", "--duration", "600", out=folder)
        )
        workers = [stack.enter_context(loading(*worker_options(port, folder))) for _ in range(2)]
        line_with(master, r"accepted [1-9]")
        yield RunningLoad(master=master, port=port, workers=workers)


def test_workers_from_elsewhere_share_one_run_and_a_worker_too_many_is_dismissed(
    tmp_path: Path,
) -> None:
    with two_workers_running(tmp_path) as run:
        with loading(*worker_options(run.port, tmp_path)) as third:
            code, _, errors = wait_for_end(third)
        assert code == 64
        assert "has all 2" in errors
        line_with(run.master, r"accepted [1-9]")
        run.master.send_signal(signal.SIGINT)
        code, shown, errors = wait_for_end(run.master)
        assert "INCOMPLETE  interrupted before the end" in shown, shown + errors
        assert [wait_for_end(worker)[0] for worker in run.workers] == [0, 0]
    counted = figures(tmp_path)
    assert counted["delivered"] == counted["accepted"] * 2 == counted["sent"] * 2 > 0
    assert "lost" not in " ".join(report(tmp_path)["complaints"])


def test_a_worker_without_a_dialect_has_that_of_its_master(tmp_path: Path) -> None:
    with serving(tmp_path, "--dialect", "contrary") as target:
        few = ("smoke", "--rate", "10", "--duration", "1", "--expect-workers", "1")
        of_master = (*few, "--dialect", "contrary", *target)
        with (
            master_with(target, *of_master, out=tmp_path) as (master, port),
            loading(*worker_options(port, tmp_path)) as worker,
        ):
            code, shown, errors = wait_for_end(master)
            assert wait_for_end(worker)[0] == 0
    assert code == 0, shown + errors
    counted = figures(tmp_path)
    assert counted["delivered"] == counted["expected"] == 10
    assert counted["unverifiable"] == 0


def test_a_master_that_dies_ends_its_workers_with_one_line(tmp_path: Path) -> None:
    with two_workers_running(tmp_path) as run:
        for process in psutil.Process(run.master.pid).children(recursive=True):
            process.send_signal(signal.SIGKILL)
        code, _, errors = wait_for_end(run.master)
        assert code == 70
        assert "master" in errors
        for worker in run.workers:
            code, _, errors = wait_for_end(worker)
            assert code == 4
            assert "the master has been silent" in errors
            assert len(errors.strip().splitlines()) == 1, errors


def test_a_worker_that_leaves_is_reported_like_one_that_was_lost(tmp_path: Path) -> None:
    with two_workers_running(tmp_path) as run:
        leaving = run.workers[0]
        leaving.send_signal(signal.SIGINT)
        code, _, errors = wait_for_end(leaving)
        assert code == 130
        assert "leaves the run" in errors
        line_with(run.master, r"worker \d \(.+\) is lost")
        run.master.send_signal(signal.SIGINT)
        code, shown, errors = wait_for_end(run.master)
    assert code == 3, shown + errors
    assert "was lost after" in shown


def test_a_worker_does_not_load_a_machine_that_it_was_not_allowed_to(tmp_path: Path) -> None:
    far = (
        "--url",
        "http://load.invalid",
        "--api-key",
        "k",
        "--project",
        "p",
        "--i-may-load",
        "load.invalid",
    )
    subprocess.run([*HOOKPROOF, "ca", str(tmp_path / "ca")], check=True, capture_output=True)
    with ExitStack() as stack:
        master, port = stack.enter_context(
            master_with(far, "smoke", "--expect-workers", "1", out=tmp_path)
        )
        worker = stack.enter_context(loading(*worker_options(port, tmp_path)))
        code, _, errors = wait_for_end(master)
        assert code == 64
        assert "may not load load.invalid" in errors
        assert wait_for_end(worker)[0] == 0


TARGET = ("--url", "http://127.0.0.1:1", "--api-key", "k", "--project", "p")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--master",), "--expect-workers"),
        (("--master", "--expect-workers", "2"), "needs a target"),
        (("--master", "--expect-workers", "2", "--processes", "2"), "--processes"),
        (("--expect-workers", "2"), "is for a --master"),
        (("--master", "--expect-workers", "2", "--master-bind", "here", *TARGET), "HOST:PORT"),
        (("smoke", "--worker", "--ca-dir", "ca", "--api-key", "k"), "no profile"),
        (("--worker", "--api-key", "k"), "--ca-dir"),
        (("--worker", "--ca-dir", "ca"), "--api-key"),
        (("--worker", "--processes", "2", "--ca-dir", "ca", "--api-key", "k"), "--processes"),
        (("smoke", "--processes", "9"), "--users"),
        (("smoke", "--processes", "0"), "0"),
        (("smoke", "--web", "--web-bind", "here"), "HOST:PORT"),
    ],
)
def test_options_that_contradict_each_other_are_refused_with_exit_64_and_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    expected: str,
) -> None:
    assert expected in refusal(monkeypatch, capsys, *arguments, "--out", str(tmp_path))


def test_a_web_page_at_an_address_in_use_stops_the_run_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        options = ("--web", "--web-bind", address, "--out", str(tmp_path))
        assert address in refusal(monkeypatch, capsys, "smoke", *options)


def test_a_master_whose_workers_do_not_come_ends_in_one_line(tmp_path: Path) -> None:
    master = (
        "--master",
        "--expect-workers",
        "2",
        "--wait-for-workers",
        "1",
        "--master-bind",
        "127.0.0.1:0",
    )
    outcome = hookproof_load(tmp_path, *master, *TARGET)
    assert outcome.returncode == 64, outcome.stdout + outcome.stderr
    assert "0 of 2" in outcome.stderr
    assert len(outcome.stderr.strip().splitlines()) == 1


def fetch(url: str, method: str = "GET", **headers: str) -> tuple[int, bytes]:
    """The status and the body of a response."""
    request = urllib.request.Request(
        url, method=method, headers=headers, data=b"" if method == "POST" else None
    )
    try:
        with urllib.request.urlopen(request, timeout=ENDS_WITHIN_S) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read()


def kinds_shown(url: str) -> set[str]:
    """Poll the page until it shows deliveries; all request types that it shows then."""
    deadline, kinds = time.monotonic() + ENDS_WITHIN_S, set[str]()
    while "DELIVERY" not in kinds:
        assert time.monotonic() < deadline, f"the page shows {kinds}"
        stats = json.loads(fetch(f"{url}/stats/requests")[1])["stats"]
        kinds = {str(row["method"]) for row in stats}
    return kinds


def test_the_web_page_shows_deliveries_beside_requests_and_can_only_end_the_run(
    tmp_path: Path,
) -> None:
    web = ("--web", "--web-bind", "127.0.0.1:0")
    with loading("smoke", "--rate", "20", "--duration", "600", *web, out=tmp_path) as command:
        url = line_with(command, r"web page at (http://127\.0\.0\.1:\d+)")[1]
        line_with(command, r"arrived [1-9]")
        assert "POST" in kinds_shown(url)
        assert b"Locust" in fetch(url)[1]
        assert fetch(f"{url}/swarm", "POST")[0] == 403
        assert fetch(f"{url}/stop", "POST", **{"Sec-Fetch-Site": "cross-site"})[0] == 403
        assert command.poll() is None
        assert fetch(f"{url}/stop", "POST")[0] == 200
        code, shown, errors = wait_for_end(command)
    assert code == 3, shown + errors
    assert "interrupted before the end" in shown
    assert figures(tmp_path)["delivered"] == figures(tmp_path)["accepted"]


def test_a_masters_page_shows_all_deliveries_and_ctrl_c_stops_all_workers_and_still_reports(
    tmp_path: Path,
) -> None:
    web = ("--web", "--web-bind", "127.0.0.1:0", "--processes", "2")
    with loading("smoke", "--duration", "600", *web, out=tmp_path) as command:
        url = line_with(command, r"web page at (http://127\.0\.0\.1:\d+)")[1]
        line_with(command, r"arrived [1-9]")
        assert "POST" in kinds_shown(url)
        assert fetch(f"{url}/swarm", "POST")[0] == 403
        command.send_signal(signal.SIGINT)
        code, shown, errors = wait_for_end(command)
    assert code == 3, shown + errors
    assert "INCOMPLETE  interrupted before the end" in shown
    counted = figures(tmp_path)
    assert 0 < counted["sent"] < 30_000
    assert counted["delivered"] == counted["accepted"] * 2 == counted["sent"] * 2
