"""Load runs against targets that are reached, or reach the receiver, in another way than usual."""

import base64
from pathlib import Path

import pytest

from hookproof.receiver.http.authority import Authority
from hookproof.target.connection import PROXIED, UNVERIFIED
from tests.conformance.reference_server import reference_server, write_target_file
from tests.conformance.run.test_far_targets import issue_certificate, unused_port
from tests.load.embedded import figures, hookproof_load, report
from tests.relays import http_proxy, tls_front
from tests.source_tree import ROOT

TWENTY = ("smoke", "--rate", "20", "--duration", "1")
ROLLS = ("roll-under-load", "--rate", "10", "--duration", "3")
OWN = ("own.pem", "own.key")


@pytest.mark.parametrize("processes", ["1", "2"])
def test_receivers_show_a_certificate_of_ones_own(tmp_path: Path, processes: str) -> None:
    with reference_server(tmp_path, ROOT, "p1") as server:
        issue_certificate(tmp_path, *OWN)
        receiver = dict(zip(("tls_cert", "tls_key"), OWN, strict=True))
        target = write_target_file(tmp_path, server["api"], "p1", receiver=receiver)
        words = ("--processes", processes, "--target", str(target))
        outcome = hookproof_load(tmp_path, *TWENTY, *words)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert figures(tmp_path)["delivered"] == figures(tmp_path)["expected"] > 0


def test_a_certificate_that_cannot_be_used_ends_the_run_in_one_line(tmp_path: Path) -> None:
    for name in OWN:
        (tmp_path / name).write_text("none")
    receiver = dict(zip(("tls_cert", "tls_key"), OWN, strict=True))
    target = write_target_file(tmp_path, "http://127.0.0.1:1", "p1", receiver=receiver)
    outcome = hookproof_load(tmp_path, *TWENTY, "--target", str(target))
    assert outcome.returncode == 64
    [line] = outcome.stderr.splitlines()
    assert "own.key cannot be used for TLS" in line
    assert "without a password" in line


def test_a_receiver_behind_a_proxy_that_ends_tls_counts_deliveries(tmp_path: Path) -> None:
    with reference_server(tmp_path, ROOT, "p1") as server, unused_port() as port:
        tls = Authority(tmp_path / "ca").server_context("127.0.0.1")
        with tls_front(f"http://127.0.0.1:{port}", tls) as front:
            target = write_target_file(tmp_path, server["api"], "p1", receiver={})
            options = (
                *("--receiver-bind", f"127.0.0.1:{port}"),
                *("--receiver-url", front.url, "--receiver-http"),
            )
            outcome = hookproof_load(tmp_path, *TWENTY, "--target", str(target), *options)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert figures(tmp_path)["delivered"] == 20
    assert front.requests


def test_an_api_behind_a_proxy_is_loaded_and_the_report_says_so(tmp_path: Path) -> None:
    with reference_server(tmp_path, ROOT, "p1") as server, http_proxy() as proxy:
        connection = {"proxy": proxy.url}
        target = write_target_file(tmp_path, server["api"], "p1", connection=connection)
        outcome = hookproof_load(tmp_path, *ROLLS, "--target", str(target))
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    paths = {head.split()[1].removeprefix(server["api"]) for head in proxy.heads}
    assert any(path.endswith("/broadcast") for path in paths), paths
    assert any(path.endswith("/expire_secret") for path in paths), paths
    assert report(tmp_path)["warnings"] == [PROXIED]
    assert PROXIED in outcome.stdout
    assert PROXIED in (tmp_path / "report.html").read_text()
    assert "NOT VERIFIED" not in outcome.stdout


def test_an_https_api_is_loaded_through_tunnels_and_without_verification_the_verdict_says_so(
    tmp_path: Path,
) -> None:
    tls = Authority(tmp_path / "api-ca").server_context("127.0.0.1")
    with (
        reference_server(tmp_path, ROOT, "p1") as server,
        tls_front(server["api"], tls) as front,
        http_proxy() as proxy,
    ):
        secret = proxy.url.replace("//", "//me:p%40ss@")
        connection = {"proxy": secret, "verify": False}
        target = write_target_file(tmp_path, front.url, "p1", connection=connection)
        outcome = hookproof_load(tmp_path / "out", *ROLLS, "--target", str(target))
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert {head.split()[0] for head in proxy.heads} == {"CONNECT"}
    credentials = base64.b64encode(b"me:p@ss")
    assert all(credentials in request for request in proxy.requests)
    verdict = outcome.stdout.splitlines()[-2]
    assert verdict == "PASS  no threshold was crossed · CERTIFICATE NOT VERIFIED"
    assert report(tmp_path / "out")["warnings"] == [UNVERIFIED, PROXIED]
    assert "PASS · CERTIFICATE NOT VERIFIED</p>" in (tmp_path / "out/report.html").read_text()
    assert "p%40ss" not in outcome.stdout + (tmp_path / "out/report.json").read_text()
