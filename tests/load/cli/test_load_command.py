"""`hookproof load` as its user runs it: real processes, real sockets, a short run."""

import csv
import json
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import yaml

from hookproof.load.plan import failure_reason
from hookproof.load.profile.load_profile import load_profile
from hookproof.load.profile.schedule import OperationMix
from hookproof.receiver.http.authority import Authority
from tests.conformance.reference_server import reference_server, write_target_file
from tests.full_disk import with_files_of
from tests.load.embedded import (
    ENDS_WITHIN_S,
    HOOKPROOF,
    PATIENT,
    figures,
    hookproof_load,
    line_with,
    loading,
    refusal,
    report,
    serving,
    wait_for_end,
)
from tests.relays import tls_front
from tests.source_tree import ROOT

ROWS = ("lost", "unverifiable", "altered", "unexpected", "refused", "errors", "unaccounted")
EVERYTHING = """
name: everything
summary: All operations, to two endpoints whose secrets are rolled meanwhile.
rate: 100
duration_s: 2
users: 16
drain_s: 60
endpoints: {count: 2, advanced_signatures: true}
roll: {every_s: 0.5, expiration_s: 3600}
mix: {createBroadcastEvent: 20, getEndpoint: 2, listPortalLinks: 2, getPortalLink: 2,
  listSources: 2, createEndpoint: 2, updatePortalLink: 2, expireEndpointSecret: 1}
fail_if: [lost > 0, unverifiable > 0, altered > 0, unexpected > 0, refused > 0, errors > 0]
"""
SEARCH = """
name: knee
summary: As if the target could do 50 a second.
rate: 20
duration_s: 1
users: 8
drain_s: 60
search: {most: 1000, within: 0.3}
fail_if: [sent > 50]
"""


@pytest.mark.parametrize(
    ("profile", "rate", "broadcasts", "endpoints"),
    [
        ("smoke", 20, 20, 1),
        ("ingest", 100, 100, 1),
        ("fanout", 2, 2, 100),
        ("spike", 10, 25, 1),
        ("soak", 20, 20, 4),
    ],
)
def test_every_broadcast_of_a_profile_arrives_once_at_each_endpoint_and_every_report_says_so(
    tmp_path: Path, profile: str, rate: int, broadcasts: int, endpoints: int
) -> None:
    before = datetime.now(UTC)
    outcome = hookproof_load(tmp_path, profile, "--rate", str(rate), "--duration", "1")
    summary, counted = report(tmp_path), figures(tmp_path)
    assert before < datetime.fromisoformat(summary["started_at"]) < datetime.now(UTC)
    # How late the generator sends depends on the machine; only the profile `ingest` limits it.
    wrong = [
        complaint for complaint in summary["complaints"] if not complaint.startswith("lateness_p99")
    ]
    assert wrong == [], outcome.stdout + outcome.stderr
    assert outcome.returncode == (1 if summary["complaints"] else 0)
    assert outcome.stdout.splitlines()[-2].startswith(summary["verdict"].upper())
    assert (counted["sent"], counted["accepted"]) == (broadcasts, broadcasts)
    assert counted["expected"] == counted["delivered"] == broadcasts * endpoints
    assert {name: counted[name] for name in ROWS} == dict.fromkeys(ROWS, 0)
    assert counted["delivery_p50"] > 0
    rows = list(csv.DictReader((tmp_path / "series.csv").read_text().splitlines()))
    assert sum(int(row["accepted"]) for row in rows) == broadcasts
    assert sum(int(row["delivered"]) for row in rows) == broadcasts * endpoints
    assert rows[-1]["backlog"] == "0"
    assert f">{summary['verdict'].upper()}<" in (tmp_path / "report.html").read_text()
    assert "DELIVERY" in outcome.stdout
    assert (
        f"DELIVERY,broadcast to arrival,{broadcasts * endpoints},"
        in (tmp_path / "locust_stats.csv").read_text()
    )


def test_the_mix_of_a_service_in_use_sends_all_eight_operations(tmp_path: Path) -> None:
    outcome = hookproof_load(tmp_path, "api-mix", "--rate", "100", "--duration", "1")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert report(tmp_path)["left_out"] == {}
    assert figures(tmp_path)["delivered"] == 30
    rows = [line.split(",") for line in (tmp_path / "locust_stats.csv").read_text().splitlines()]
    mix = OperationMix(load_profile("api-mix").mix)
    chosen = [mix.take() for _ in range(100)]
    assert {row[1]: int(row[2]) for row in rows if row[0] in {"GET", "POST", "PUT"}} == {
        operation_id: chosen.count(operation_id) for operation_id in chosen
    }


def test_deliveries_verify_while_secrets_are_rolled(tmp_path: Path) -> None:
    outcome = hookproof_load(tmp_path, "roll-under-load", "--duration", "3")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert figures(tmp_path)["delivered"] == 4 * 150


@pytest.mark.parametrize("dialect", ["contrary", "standard-webhooks"])
def test_a_server_of_another_dialect_is_loaded_with_all_operations(
    tmp_path: Path, dialect: str
) -> None:
    (tmp_path / "everything.yaml").write_text(EVERYTHING)
    outcome = hookproof_load(tmp_path, str(tmp_path / "everything.yaml"), "--dialect", dialect)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert report(tmp_path)["left_out"] == {}
    counted, table = figures(tmp_path), (tmp_path / "locust_stats.csv").read_text()
    assert counted["delivered"] == 2 * counted["accepted"] > 0
    for operation_id in load_profile(str(tmp_path / "everything.yaml")).mix:
        assert operation_id in table


def test_what_failing_receivers_refuse_is_delivered_later(tmp_path: Path) -> None:
    outcome = hookproof_load(tmp_path, "chaos", "--duration", "6")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    counted = figures(tmp_path)
    assert counted["expected"] == counted["delivered"] + counted["explained"] == 6 * 120
    arrived = sum(endpoint["arrived"] for endpoint in report(tmp_path)["endpoints"])
    assert arrived > counted["delivered"], "no attempt was made twice"


def test_the_search_names_a_knee_and_its_trials(tmp_path: Path) -> None:
    (tmp_path / "knee.yaml").write_text(SEARCH)
    outcome = hookproof_load(tmp_path, str(tmp_path / "knee.yaml"))
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    summary = report(tmp_path)
    assert [trial["rate"] for trial in summary["trials"]] == [20, 40, 80, 60, 50, 50, 60]
    assert summary["figures"]["knee"] == 50
    assert summary["rate"] == 50


def test_json_is_the_report_alone_and_all_else_is_on_standard_error(tmp_path: Path) -> None:
    outcome = hookproof_load(tmp_path, "--rate", "10", "--duration", "1", "--json")
    assert outcome.returncode == 0, outcome.stderr
    assert json.loads(outcome.stdout) == report(tmp_path)
    assert "createBroadcastEvent" in outcome.stderr, "Locust's own table"
    assert "PASS" in outcome.stderr


def test_a_target_file_is_loaded_and_a_crossed_threshold_of_the_command_line_fails_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOADED_KEY", "k")
    with serving(tmp_path) as options:
        url = options[1]
        (tmp_path / "target.yaml").write_text(
            f"base_url: {url}\nprojects: [{{id: p, api_key: '${{LOADED_KEY}}'}}]\nreceiver:"
            f" {{ca: ca/ca.pem, ca_key: ca/ca.key}}\n"
        )
        limits = ("--fail-if", "delivery_p50 > 1s", "--fail-if", "delivery_rps < 100000")
        file = ("--target", str(tmp_path / "target.yaml"))
        outcome = hookproof_load(tmp_path, "--rate", "20", "--duration", "1", *limits, *file)
    # A machine without time left may be the reason: then there is no verdict.
    assert outcome.returncode in {1, 3}, outcome.stdout + outcome.stderr
    assert figures(tmp_path)["delivered"] == 20
    assert report(tmp_path)["verdict"] == {1: "fail", 3: "incomplete"}[outcome.returncode]
    crossed = {
        threshold["text"]: threshold["crossed"] for threshold in report(tmp_path)["thresholds"]
    }
    assert crossed["delivery_rps < 100000"]
    assert "delivery_rps is" in outcome.stdout.splitlines()[-2]


def test_a_dialect_inside_the_target_file_is_used_by_all_processes_of_the_run(
    tmp_path: Path,
) -> None:
    with serving(tmp_path, "--dialect", "contrary") as options:
        (tmp_path / "target.yaml").write_text(
            f"base_url: {options[1]}\nprojects: [{{id: p, api_key: k}}]\n"
            "dialect: {extends: contrary, name: inline, summary: Here.}\n"
            "receiver: {ca: ca/ca.pem, ca_key: ca/ca.key}\n"
        )
        file = ("--target", str(tmp_path / "target.yaml"))
        outcome = hookproof_load(tmp_path, "--rate", "20", "--duration", "1", *file)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert report(tmp_path)["dialect"] == "inline"
    assert figures(tmp_path)["delivered"] == figures(tmp_path)["accepted"] > 0


@contextmanager
def server_that_answers(status: int, body: str) -> Iterator[str]:
    """The URL of a server that answers all requests alike."""

    class SameAnswer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Keep the output of the test clean."""

    with HTTPServer(("127.0.0.1", 0), SameAnswer) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def test_a_target_that_is_not_there_ends_with_exit_4_and_one_line(tmp_path: Path) -> None:
    with socket.socket() as bound:  # and not listening
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        outcome = hookproof_load(tmp_path, "--url", url, "--api-key", "k", "--project", "p")
    assert outcome.returncode == 4
    assert outcome.stderr.strip() == (
        f"hookproof: the server does not answer: {url}: connection refused"
    )


@pytest.mark.parametrize(
    ("status", "body", "exit_code", "words"),
    [
        (500, "oops", 1, "was answered 500: oops"),
        (503, "", 1, "was answered 503: with an empty body"),
        (403, "no", 64, "was answered 403: no"),
    ],
)
def test_a_target_that_fails_before_the_run_is_told_apart_from_one_that_refuses(
    tmp_path: Path, status: int, body: str, exit_code: int, words: str
) -> None:
    with server_that_answers(status, body) as url:
        outcome = hookproof_load(tmp_path, "--url", url, "--api-key", "k", "--project", "p")
    assert outcome.returncode == exit_code
    assert words in outcome.stderr
    assert len(outcome.stderr.strip().splitlines()) == 1


def test_reasons_of_failed_requests_are_words() -> None:
    refused = ConnectionRefusedError(111, "Connection refused")
    assert failure_reason(500, (201,), None, 10) == "answered 500"
    assert (
        failure_reason(200, (201, 202), None, 10)
        == "answered 200, where the dialect expects 201 or 202"
    )
    assert (
        failure_reason(0, (201,), refused, 10) == "the server does not answer: connection refused"
    )


def test_a_target_that_refuses_endpoints_ends_with_exit_64_and_says_what_it_answered(
    tmp_path: Path,
) -> None:
    with serving(tmp_path) as target:
        wrong = tuple("wrong" if word == "k" else word for word in target)
        outcome = hookproof_load(tmp_path, *wrong)
    assert outcome.returncode == 64
    assert "401" in outcome.stderr
    assert len(outcome.stderr.strip().splitlines()) == 1


LOCAL = ("--url", "http://127.0.0.1:1", "--project", "p")
FAR = ("--url", "http://load.invalid", "--api-key", "k", "--project", "p")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (LOCAL, "--api-key"),
        (("no-such-profile",), "smoke"),
        (("smoke", "--fail-if", "lots > 0"), "did you mean lost"),
        (("smoke", "--fail-if", "lost"), "write one like 'delivery_p99 > 2s'"),
        (("smoke", "--fail-if", "delivery_p99 > 2"), "is given in s, ms"),
        (("smoke", "--rate", "1e9"), "100000"),
        (("smoke", "--rate", "100000", "--duration", "86400"), "20,000,000 slots"),
        (("fanout", "--rate", "1000", "--duration", "3600"), "200,000,000 deliveries"),
        (("smoke", "--dialect", "klingon"), "klingon"),
        (("smoke", *LOCAL, "--api-key", "k", "--receiver-bind", "here"), "127.0.0.1:0"),
        (("smoke", "spike"), "one profile"),
        (("http://127.0.0.1:1", "--url", "http://127.0.0.1:2"), "one URL"),
        (("rate-limit", "--endpoints", "1"), "limited is more than count"),
        (("chaos", "--endpoints", "1"), "needs more endpoints"),
        (("smoke", "--payload", "/dev/null"), "/dev/null cannot be sent: it is not a regular file"),
        (FAR, "--i-may-load load.invalid"),
        ((*FAR, "--i-may-load", "other.invalid"), "--i-may-load load.invalid"),
    ],
)
def test_options_that_make_no_sense_are_refused_with_exit_64_and_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    expected: str,
) -> None:
    assert expected in refusal(monkeypatch, capsys, *arguments, "--out", str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("[1]", "Expected `object`, got `array`"),
        ("{", "Input data was truncated"),
        ('{"check": 1}', "are the mark's own"),
    ],
)
def test_a_payload_that_cannot_be_sent_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    content: str,
    why: str,
) -> None:
    file = tmp_path / "order.json"
    file.write_text(content)
    said = refusal(monkeypatch, capsys, "--payload", str(file), "--out", str(tmp_path / "out"))
    assert said.startswith(f"hookproof: --payload: {file} cannot be sent: ")
    assert why in said


def test_a_url_beside_the_profile_a_payload_and_a_number_of_endpoints(tmp_path: Path) -> None:
    payload = tmp_path / "order.json"
    payload.write_text(r'{"order": {"total": 12.50, "note": "\u00fc \ud83d\ude00"}}')
    with serving(tmp_path) as (_, url, *others):
        short = ("smoke", "--rate", "10", "--duration", "1", "--endpoints", "3")
        outcome = hookproof_load(tmp_path, url, *short, "--payload", str(payload), *others)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert report(tmp_path)["target"] == url
    counted = figures(tmp_path)
    assert counted["delivered"] == counted["expected"] == 3 * counted["accepted"] > 0
    assert (counted["altered"], counted["unverifiable"]) == (0, 0)


def test_a_worker_cannot_use_a_dialect_inside_the_target_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Authority(tmp_path / "ca")
    (tmp_path / "target.yaml").write_text(
        "projects: [{id: p, api_key: k}]\nreceiver: {ca: ca/ca.pem, ca_key: ca/ca.key}\n"
        "dialect: {extends: reference, name: inline, summary: Here.}\n"
    )
    file = str(tmp_path / "target.yaml")
    assert "give --dialect" in refusal(monkeypatch, capsys, "--worker", "--target", file)


def test_reports_that_cannot_be_written_stop_the_run_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    out = str(tmp_path / "file" / "out")
    assert "--out" in refusal(monkeypatch, capsys, "smoke", "--out", out)


def test_a_target_on_another_machine_that_may_be_loaded_is_called(tmp_path: Path) -> None:
    assert hookproof_load(tmp_path, *FAR, "--i-may-load", "load.invalid").returncode == 4


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_still_drains_and_reports_that_it_is_incomplete(
    tmp_path: Path, number: signal.Signals
) -> None:
    with loading("smoke", "--duration", "600", out=tmp_path) as command:
        line_with(command, r"accepted [1-9].*backlog")
        command.send_signal(number)
        code, shown, errors = wait_for_end(command)
    assert code == 3, errors
    assert "INCOMPLETE  interrupted before the end" in shown
    counted = figures(tmp_path)
    assert 0 < counted["sent"] < 30_000
    assert counted["delivered"] == counted["accepted"] == counted["sent"]


ROLLS = ("roll-under-load", "--rate", "10", "--duration", "3")
HEADERS = {"X-Gateway": "open-sesame-4711"}


@pytest.mark.parametrize("processes", ["1", "2"])
def test_every_request_of_a_load_run_is_sent_as_the_target_file_says(
    tmp_path: Path, processes: str
) -> None:
    api_ca = Authority(tmp_path / "api-ca")
    tls = api_ca.server_context("127.0.0.1")
    tls.verify_mode = ssl.CERT_REQUIRED
    files = ("client.pem", "client.key")
    for name, text in zip(files, api_ca.client_certificate("the client"), strict=True):
        (tmp_path / name).write_text(text)
    with serving(tmp_path) as options:
        url = options[1]
        with tls_front(url, tls) as front:
            target = {
                "base_url": front.url,
                "projects": [{"id": "p", "api_key": "k"}],
                "headers": HEADERS,
                "connection": dict(zip(("client_cert", "client_key"), files, strict=True))
                | {"ca": "api-ca/ca.pem"},
            }
            path = tmp_path / "target.yaml"
            path.write_text(yaml.safe_dump(target))
            outcome = hookproof_load(
                tmp_path / "out",
                *ROLLS,
                *("--processes", processes, "--target", str(path), "--ca-dir", options[-1]),
            )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert report(tmp_path / "out")["figures"]["errors"] == 0
    assert front.requests
    assert all(b"x-gateway: open-sesame-4711" in head.lower() for head in front.requests)
    assert "open-sesame" not in (tmp_path / "out" / "report.json").read_text()


# No report is so short, and nothing else of a run is longer.
SPACE = 3000


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("smoke", "--rate", "1000"), "expected 1,000 · delivered 1,000 ·"),
        (("smoke", "--rate", "1000", "--processes", "2"), "expected 2,000 · delivered 2,000 ·"),
        (("fanout", "--rate", "10"), "expected 1,000 · delivered 1,000 ·"),
    ],
    ids=["one process", "workers", "many endpoints"],
)
def test_the_whole_result_is_shown_where_no_report_can_be_written(
    tmp_path: Path, words: tuple[str, ...], shown: str
) -> None:
    with reference_server(tmp_path, ROOT, "p1", stderr=subprocess.DEVNULL) as ready:
        target = write_target_file(tmp_path, ready["api"], "p1")
        command = [*HOOKPROOF, "load", *words, "--duration", "1", *PATIENT, "--target", str(target)]
        ended = subprocess.run(
            [*with_files_of(SPACE), *command, "--out", "out"],
            capture_output=True,
            cwd=tmp_path,
            text=True,
            timeout=ENDS_WITHIN_S,
            check=False,
        )
    assert ended.returncode == 64, ended.stdout + ended.stderr
    [line] = ended.stderr.splitlines()
    assert line == "hookproof: out/report.json cannot be written: File too large"
    assert shown in ended.stdout, ended.stdout
    assert ended.stdout.splitlines()[-1].startswith("PASS"), ended.stdout
    assert "report.json" not in [path.name for path in (tmp_path / "out").iterdir()]
