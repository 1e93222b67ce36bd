"""Several workers make one run: its ledger balances, bounds hold over all of them, and a lost one is told of."""

import json
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.load.embedded import HOOKPROOF, PATIENT, figures, hookproof_load, report, serving

ENDS_WITHIN_S = 150


@contextmanager
def loading(*arguments: str, out: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    """A load command that runs; it is killed if it still does at the end."""
    command = [*HOOKPROOF, "load", *arguments, *PATIENT, *(["--out", str(out)] if out is not None else [])]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def line_with(process: subprocess.Popen[str], pattern: str) -> re.Match[str]:
    """The first line of output that has this in it."""
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if found := re.search(pattern, line):
            return found
    assert process.stderr is not None
    raise AssertionError(f"no {pattern!r} in {''.join(seen)}{process.stderr.read()}")


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    shown, errors = process.communicate(timeout=ENDS_WITHIN_S)
    return process.returncode, shown, errors


def workers_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return [one for one in psutil.Process(process.pid).children() if "load.worker" in one.cmdline()]


def balance(counted: dict[str, Any]) -> int:
    return int(sum(counted[name] for name in ("delivered", "lost", "explained", "unaccounted")))


def test_the_ledger_of_four_workers_balances(tmp_path: Path) -> None:
    outcome = hookproof_load(tmp_path, "smoke", "--rate", "40", "--duration", "3", "--processes", "4")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    counted, told = figures(tmp_path), report(tmp_path)
    assert (counted["sent"], counted["accepted"], counted["lost"]) == (120, 120, 0)
    assert counted["expected"] == counted["delivered"] == 120 * 4
    assert (told["workers"], [one["worker"] for one in told["endpoints"]]) == (4, [0, 1, 2, 3])
    assert [one["arrived"] for one in told["endpoints"]] == [120] * 4
    rows = [line.split(",") for line in (tmp_path / "locust_stats.csv").read_text().splitlines()]
    assert {row[0]: row[2] for row in rows[1:]} == {"DELIVERY": "480", "POST": "120", "": "600"}


def test_limits_and_troubles_are_shared_out_over_workers(tmp_path: Path) -> None:
    limited = ("rate-limit", "--rate", "24", "--duration", "2", "--workers", "2", "--fail-if", "expected != 192")
    outcome = hookproof_load(tmp_path, *limited)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    limits = [(one["worker"], one["limit"] and one["limit"]["most"]) for one in report(tmp_path)["endpoints"]]
    assert limits == [(0, 10), (1, 10), (0, 10), (1, None)]
    outcome = hookproof_load(tmp_path, "chaos", "--rate", "10", "--duration", "4", "--workers", "2")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    arrived = [one["arrived"] for one in report(tmp_path)["endpoints"]]
    assert arrived[0] > 40, "the endpoint that failed was not tried again"


def test_a_worker_that_is_killed_in_mid_run_is_told_of_and_fails_the_run(tmp_path: Path) -> None:
    with loading("smoke", "--rate", "40", "--duration", "8", "--processes", "4", out=tmp_path) as command:
        line_with(command, r"accepted [1-9]")
        killed = workers_of(command)[2]
        killed.send_signal(signal.SIGKILL)
        code, shown, errors = ended(command)
    assert code == 1, shown + errors
    assert re.search(r"worker \d \(.+\) is lost", shown)
    told, counted = report(tmp_path), figures(tmp_path)
    assert told["verdict"] == "fail"
    assert any("was lost after" in complaint and "not accounted for" in complaint for complaint in told["complaints"])
    assert counted["expected"] == counted["accepted"] * 4 == balance(counted)
    assert counted["unaccounted"] > 0
    assert counted["lost"] == 0, "what the others sent to the others did arrive"
    assert 0 < counted["accepted"] < 320
    whole = [one for one in told["endpoints"] if one["unaccounted"] < one["expected"]]
    assert len(whole) == 3


def test_ctrl_c_ends_the_sending_of_all_workers_and_still_reports(tmp_path: Path) -> None:
    with loading("smoke", "--duration", "60", "--processes", "2", out=tmp_path) as command:
        line_with(command, r"accepted [1-9]")
        command.send_signal(signal.SIGINT)
        code, shown, errors = ended(command)
    assert code == 1, shown + errors
    assert "FAIL  interrupted before the end" in shown
    counted = figures(tmp_path)
    assert 0 < counted["sent"] < 3000
    assert counted["delivered"] == counted["accepted"] * 2 == counted["sent"] * 2


def test_a_search_goes_on_with_the_same_workers(tmp_path: Path) -> None:
    profile = tmp_path / "knee.yaml"
    profile.write_text(
        "name: knee\nsummary: s\nrate: 10\nduration_s: 1\nusers: 8\ndrain_s: 5\nfail_if: ['sent > 20']\n"
        "search: {most: 40, within: 0.6}\n"
    )
    outcome = hookproof_load(tmp_path, str(profile), "--processes", "2")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    told = report(tmp_path)
    assert [trial["rate"] for trial in told["trials"]] == [10, 20, 40, 30]
    assert told["figures"]["delivered"] == 2 * 20


@contextmanager
def master_with(target: Sequence[str], *arguments: str, out: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A master that waits for two workers, and the port at which it does."""
    led = ("--master", "--master-bind", "127.0.0.1:0", "--expect-workers", "2")
    with loading(*arguments, *led, *target, out=out) as master:
        yield master, line_with(master, r"waiting for 2 workers at 127\.0\.0\.1:(\d+)")[1]


def worker_options(port: str, folder: Path) -> tuple[str, ...]:
    return ("--worker", "--master-port", port, "--api-key", "k", "--ca-dir", str(folder / "ca"))


def test_workers_that_come_from_elsewhere_make_one_run_and_end_with_it(tmp_path: Path) -> None:
    smoke = ("smoke", "--rate", "20", "--duration", "2")
    with ExitStack() as stack:
        target = stack.enter_context(serving(tmp_path))
        master, port = stack.enter_context(master_with(target, *smoke, out=tmp_path))
        workers = [stack.enter_context(loading(*worker_options(port, tmp_path))) for _ in range(2)]
        code, shown, errors = ended(master)
        assert code == 0, shown + errors
        assert [ended(worker)[0] for worker in workers] == [0, 0]
    assert figures(tmp_path)["delivered"] == 2 * 40


def test_a_master_that_dies_ends_its_workers_with_one_line(tmp_path: Path) -> None:
    with ExitStack() as stack:
        target = stack.enter_context(serving(tmp_path))
        master, port = stack.enter_context(master_with(target, "smoke", "--duration", "60", out=tmp_path))
        workers = [stack.enter_context(loading(*worker_options(port, tmp_path))) for _ in range(2)]
        line_with(master, r"accepted [1-9]")
        for process in psutil.Process(master.pid).children(recursive=True):
            process.send_signal(signal.SIGKILL)
        code, _, errors = ended(master)
        assert code == 70
        assert "master" in errors
        for worker in workers:
            code, _, errors = ended(worker)
            assert code == 4
            assert "the master has said nothing" in errors
            assert len(errors.strip().splitlines()) == 1, errors


def test_a_worker_that_leaves_is_told_of_like_one_that_was_lost(tmp_path: Path) -> None:
    with ExitStack() as stack:
        target = stack.enter_context(serving(tmp_path))
        smoke = ("smoke", "--rate", "20", "--duration", "6")
        master, port = stack.enter_context(master_with(target, *smoke, out=tmp_path))
        workers = [stack.enter_context(loading(*worker_options(port, tmp_path))) for _ in range(2)]
        line_with(master, r"accepted [1-9]")
        workers[0].send_signal(signal.SIGINT)
        code, _, errors = ended(workers[0])
        assert (code, "leaves the run" in errors) == (130, True)
        code, shown, errors = ended(master)
    assert code == 1, shown + errors
    assert "was lost after" in shown


def test_a_worker_loads_no_other_machine_than_it_was_told(tmp_path: Path) -> None:
    far = ("--url", "http://load.invalid", "--api-key", "k", "--project", "p", "--i-may-load", "load.invalid")
    subprocess.run([*HOOKPROOF, "ca", str(tmp_path / "ca")], check=True, capture_output=True)
    with ExitStack() as stack:
        master, port = stack.enter_context(master_with(far, "smoke", out=tmp_path))
        workers = [stack.enter_context(loading(*worker_options(port, tmp_path))) for _ in range(2)]
        code, _, errors = ended(master)
        assert code == 64
        assert "may not load load.invalid" in errors
        assert [ended(worker)[0] for worker in workers] == [0, 0]


def test_one_worker_too_many_is_sent_away_and_the_others_go_on(tmp_path: Path) -> None:
    with ExitStack() as stack:
        target = stack.enter_context(serving(tmp_path))
        master, port = stack.enter_context(master_with(target, "smoke", "--duration", "120", out=tmp_path))
        workers = [stack.enter_context(loading(*worker_options(port, tmp_path))) for _ in range(2)]
        line_with(master, r"accepted [1-9]")
        code, _, errors = ended(stack.enter_context(loading(*worker_options(port, tmp_path))))
        assert code == 64
        assert "has all 2" in errors
        line_with(master, r"accepted [1-9]")
        master.send_signal(signal.SIGINT)
        code, shown, errors = ended(master)
        assert "FAIL  interrupted before the end" in shown, shown + errors
        assert [ended(worker)[0] for worker in workers] == [0, 0]
    counted = figures(tmp_path)
    assert counted["delivered"] == counted["accepted"] * 2 == counted["sent"] * 2
    assert "lost" not in " ".join(report(tmp_path)["complaints"])


TARGET = ("--url", "http://127.0.0.1:1", "--api-key", "k", "--project", "p")


@pytest.mark.parametrize(
    ("arguments", "told"),
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
        (
            ("--master", "--expect-workers", "2", "--wait-for-workers", "1", "--master-bind", "127.0.0.1:0"),
            "0 of 2",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused_with_exit_64_and_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], told: str
) -> None:
    monkeypatch.delenv("HOOKPROOF_API_KEY", raising=False)
    if "--wait-for-workers" in arguments:
        arguments = (*arguments, *TARGET)
    outcome = hookproof_load(tmp_path, *arguments)
    assert outcome.returncode == 64, outcome.stdout + outcome.stderr
    assert told in outcome.stderr
    assert len(outcome.stderr.strip().splitlines()) == 1


def asked(url: str, method: str = "GET", **headers: str) -> tuple[int, bytes]:
    request = urllib.request.Request(url, method=method, headers=headers, data=b"" if method == "POST" else None)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read()


@pytest.mark.parametrize("workers", [1, 2])
def test_the_web_page_shows_deliveries_beside_requests_and_steers_nothing_but_the_end(
    tmp_path: Path, workers: int
) -> None:
    web = ("--web", "--web-bind", "127.0.0.1:0", "--processes", str(workers))
    with loading("smoke", "--rate", "20", "--duration", "60", *web, out=tmp_path) as command:
        url = line_with(command, r"web page at (http://127\.0\.0\.1:\d+)")[1]
        line_with(command, r"arrived [1-9]")
        deadline, kinds = time.monotonic() + 60, set[str]()
        while "DELIVERY" not in kinds:
            assert time.monotonic() < deadline, f"the page shows {kinds}"
            kinds = {str(one["method"]) for one in json.loads(asked(f"{url}/stats/requests")[1])["stats"]}
        assert "POST" in kinds
        assert b"Locust" in asked(url)[1]
        assert asked(f"{url}/swarm", "POST")[0] == 403
        assert asked(f"{url}/stop", "POST", **{"Sec-Fetch-Site": "cross-site"})[0] == 403
        assert command.poll() is None
        assert asked(f"{url}/stop", "POST")[0] == 200
        code, shown, errors = ended(command)
    assert code == 1, shown + errors
    assert "interrupted before the end" in shown
    assert figures(tmp_path)["delivered"] == figures(tmp_path)["accepted"] * workers


def test_a_web_page_at_an_address_that_is_taken_stops_the_run_in_one_line(tmp_path: Path) -> None:
    with serving(tmp_path) as target:
        taken = target[1].removeprefix("http://")
        outcome = hookproof_load(tmp_path, "smoke", "--duration", "1", "--web", "--web-bind", taken)
    assert outcome.returncode == 64, outcome.stdout + outcome.stderr
    assert taken in outcome.stderr
    assert len(outcome.stderr.strip().splitlines()) == 1
