"""`hookproof load` as its user runs it: real processes, real sockets, a short run."""

import csv
import json
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from spec.dialect_file import shipped_dialects
from tests.load.embedded import HOOKPROOF, PATIENT, figures, hookproof_load, report, serving


@pytest.mark.parametrize("dialect", shipped_dialects())
def test_every_broadcast_of_a_short_run_is_delivered_once(tmp_path: Path, dialect: str) -> None:
    outcome = hookproof_load(tmp_path, "smoke", "--rate", "20", "--duration", "1", "--dialect", dialect)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    counted = figures(tmp_path)
    assert (counted["sent"], counted["accepted"], counted["delivered"]) == (20, 20, 20)
    assert (counted["unverifiable"], counted["altered"]) == (0, 0)
    assert counted["delivery_p50"] > 0
    assert "DELIVERY" in outcome.stdout
    assert outcome.stdout.splitlines()[-2].startswith("PASS")


@pytest.mark.parametrize("dialect", shipped_dialects())
def test_the_mix_carries_out_all_eight_operations(tmp_path: Path, dialect: str) -> None:
    outcome = hookproof_load(tmp_path, "api-mix", "--rate", "100", "--duration", "3", "--dialect", dialect)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert report(tmp_path)["left_out"] == {}
    for operation_id in ("createEndpoint", "getEndpoint", "expireEndpointSecret", "listPortalLinks", "getPortalLink"):
        assert operation_id in outcome.stdout
    for operation_id in ("updatePortalLink", "listSources", "createBroadcastEvent"):
        assert operation_id in outcome.stdout


@pytest.mark.parametrize("dialect", shipped_dialects())
def test_deliveries_verify_while_secrets_are_rolled(tmp_path: Path, dialect: str) -> None:
    outcome = hookproof_load(tmp_path, "roll-under-load", "--duration", "5", "--dialect", dialect)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert figures(tmp_path)["delivered"] == 4 * 250


def test_what_failing_receivers_miss_comes_later(tmp_path: Path) -> None:
    outcome = hookproof_load(tmp_path, "chaos", "--duration", "6")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    counted = figures(tmp_path)
    assert counted["expected"] == counted["delivered"] + counted["explained"] == 6 * 120
    arrived = sum(one["arrived"] for one in report(tmp_path)["endpoints"])
    assert arrived > counted["delivered"], "no attempt was made twice"


def test_the_search_names_a_knee_and_its_trials(tmp_path: Path) -> None:
    profile = tmp_path / "knee.yaml"
    profile.write_text(
        "name: knee\nsummary: s\nrate: 10\nduration_s: 1\nusers: 8\ndrain_s: 5\nfail_if: ['sent > 50']\n"
        "search: {most: 1000, within: 0.2}\n"
    )
    outcome = hookproof_load(tmp_path, str(profile))
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    found = report(tmp_path)
    assert [trial["rate"] for trial in found["trials"]] == [10, 20, 40, 80, 60, 50]
    assert found["figures"]["knee"] == 50
    assert found["rate"] == 50


def test_the_series_holds_every_delivery_and_the_page_the_verdict(tmp_path: Path) -> None:
    outcome = hookproof_load(tmp_path, "smoke", "--rate", "20", "--duration", "2")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    rows = list(csv.DictReader((tmp_path / "series.csv").read_text().splitlines()))
    assert sum(int(row["delivered"]) for row in rows) == sum(int(row["accepted"]) for row in rows) == 40
    assert rows[-1]["backlog"] == "0"
    assert "PASS" in (tmp_path / "report.html").read_text()


def test_a_crossed_threshold_of_the_command_line_fails_the_run(tmp_path: Path) -> None:
    limits = ("--fail-if", "delivery_p50 < 1h", "--fail-if", "delivery_rps < 100000")
    outcome = hookproof_load(tmp_path, "smoke", "--rate", "20", "--duration", "1", *limits[2:])
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert "FAIL  delivery_rps is" in outcome.stdout
    assert report(tmp_path)["verdict"] == "fail"


def test_a_target_file_with_a_key_of_the_environment_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOADED_KEY", "k")
    with serving(tmp_path) as options:
        url = options[1]
        (tmp_path / "target.yaml").write_text(
            f"base_url: {url}\nprojects: [{{id: p, api_key: '${{LOADED_KEY}}'}}]\nreceiver: {{ca: ca/ca.pem}}\n"
        )
        file = ("--target", str(tmp_path / "target.yaml"))
        outcome = hookproof_load(tmp_path, "--rate", "20", "--duration", "1", *file)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert figures(tmp_path)["delivered"] == 20


def test_a_target_that_is_not_there_ends_with_exit_4_and_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        outcome = hookproof_load(tmp_path, "--url", url, "--api-key", "k", "--project", "p")
    assert outcome.returncode == 4
    assert len(outcome.stderr.strip().splitlines()) == 1


def test_a_target_that_refuses_endpoints_ends_with_exit_64_and_says_what_it_answered(tmp_path: Path) -> None:
    with serving(tmp_path) as target:
        wrong = tuple("wrong" if word == "k" else word for word in target)
        outcome = hookproof_load(tmp_path, *wrong)
    assert outcome.returncode == 64
    assert "401" in outcome.stderr
    assert len(outcome.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--url", "http://127.0.0.1:1"), "--api-key"),
        (("no-such-profile",), "smoke"),
        (("smoke", "--fail-if", "lots > 0"), "did you mean lost"),
        (("smoke", "--rate", "1e9"), "100000"),
        (("smoke", "--rate", "100000", "--duration", "86400"), "20,000,000 slots"),
        (("fanout", "--rate", "1000", "--duration", "3600"), "200,000,000 deliveries"),
        (("smoke", "--dialect", "klingon"), "klingon"),
        (("smoke", "--url", "http://127.0.0.1:1", "--receiver-bind", "here"), "127.0.0.1:0"),
        (("compare", "a"), "two runs"),
        (("compare", "nowhere", "neither"), "no report"),
        (("smoke", "spike"), "one profile"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_exit_64_and_one_line(
    tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    extra = ("--api-key", "k", "--project", "p") if "--receiver-bind" in arguments else ()
    outcome = hookproof_load(tmp_path, *arguments, *extra)
    assert outcome.returncode == 64, outcome.stdout + outcome.stderr
    assert told in outcome.stderr


def test_reports_that_cannot_be_written_stop_the_run_before_it_begins(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    outcome = hookproof_load(tmp_path / "file" / "out", "smoke")
    assert outcome.returncode == 64
    assert "--out" in outcome.stderr
    assert outcome.stdout == ""


@pytest.mark.parametrize("allowed", [(), ("--i-may-load", "other.invalid")])
def test_a_target_on_another_machine_is_not_loaded_unless_it_is_named(tmp_path: Path, allowed: tuple[str, ...]) -> None:
    target = ("--url", "http://load.invalid", "--api-key", "k", "--project", "p")
    outcome = hookproof_load(tmp_path, *target, *allowed)
    assert outcome.returncode == 64
    assert "--i-may-load load.invalid" in outcome.stderr


def test_a_target_on_another_machine_that_is_named_is_tried(tmp_path: Path) -> None:
    target = ("--url", "http://load.invalid", "--api-key", "k", "--project", "p", "--i-may-load", "load.invalid")
    assert hookproof_load(tmp_path, *target).returncode == 4


def test_an_interrupted_run_still_drains_and_reports_and_fails(tmp_path: Path) -> None:
    command = [*HOOKPROOF, "load", "smoke", "--duration", "60", *PATIENT, "--out", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    deadline = time.monotonic() + 60
    while "backlog" not in process.stdout.readline():
        assert time.monotonic() < deadline, "no progress was shown"
    process.send_signal(signal.SIGINT)
    shown, errors = process.communicate(timeout=60)
    assert process.returncode == 1, errors
    assert "FAIL  interrupted before the end" in shown
    counted = figures(tmp_path)
    assert 0 < counted["sent"] < 3000
    assert counted["delivered"] == counted["accepted"] == counted["sent"]


def test_two_runs_are_compared_figure_by_figure(tmp_path: Path) -> None:
    before, after = tmp_path / "a", tmp_path / "b"
    for folder, lost in ((before, 0), (after, 3)):
        folder.mkdir()
        told = {"profile": "smoke", "verdict": "pass", "figures": {"lost": lost, "delivery_p50": 0.01 * (1 + lost)}}
        (folder / "report.json").write_text(json.dumps(told))
    outcome = subprocess.run(
        [*HOOKPROOF, "load", "compare", str(before), str(after)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    rows = {line.split()[0]: line.split() for line in outcome.stdout.splitlines()[1:]}
    assert rows["lost"] == ["lost", "0", "3", "new", "worse"]
    assert rows["delivery_p50"][-2:] == ["+300.0%", "worse"]
