"""Whole runs against targets that are not on this machine, or seem not to be."""

import json
import re
import shutil
import socket
import ssl
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from trustme import CA

from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.results.stored_evidence import read_evidence
from hookproof.receiver.http.authority import Authority
from hookproof.target.connection import UNVERIFIED
from tests.conformance.command import check, reported_requirements, run_command
from tests.conformance.reference_server import (
    RECEIVER_SETTINGS,
    reference_server,
    write_target_file,
)
from tests.polling import poll_until
from tests.receiver.receiver_process import receiver
from tests.relays import long_way, tls_front
from tests.source_tree import ROOT

GATEWAY = "open-sesame-4711"
DELIVERIES = (
    *("--profile", "standard"),
    *(word for name in ("6-5", "2.3-17", "2.3-18", "6-21") for word in ("--only", name)),
)
BEHIND_NGINX = (
    *("--profile", "quick"),
    *(word for name in ("6-10", "8-7", "8-8") for word in ("--only", name)),
)
FAR = (*("--profile", "quick"), *("--only", "6-11", "--only", "8-8"))
ONLY = ("--profile", "quick", "--only", "4.1-1", "--only", "4.7-1")


@contextmanager
def unused_port() -> Iterator[int]:
    """A port at which a command can listen, and which nobody else is given, within the block."""
    with socket.socket() as reservation:
        reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reservation.bind(("127.0.0.1", 0))
        yield reservation.getsockname()[1]


def test_an_api_is_judged_without_verification_and_the_verdict_says_so(tmp_path: Path) -> None:
    tls = Authority(tmp_path / "api-ca").server_context("127.0.0.1")
    with reference_server(tmp_path, ROOT, "p1") as server, tls_front(server["api"], tls) as front:
        settings = {"headers": {"X-Gateway": GATEWAY}}
        write_target_file(tmp_path, front.url, "p1", **settings)
        refused = check(tmp_path, "--target", "target.yaml", *ONLY)
        write_target_file(tmp_path, front.url, "p1", connection={"verify": False}, **settings)
        done = check(tmp_path, "--target", "target.yaml", *ONLY)
    assert refused.code == 4, refused.out
    assert "connection.ca" in refused.err
    assert done.code == 0, done.out
    assert "CERTIFICATE NOT VERIFIED" in done.out
    assert UNVERIFIED in " ".join(done.out.split())
    folder = tmp_path / "hookproof-report"
    report = json.loads((folder / "report.json").read_text())
    assert report["warnings"] == [UNVERIFIED]
    assert {each["verdict"] for each in reported_requirements(tmp_path).values()} == {"pass"}
    evidence = (folder / "run.jsonl").read_text()
    assert "$HOOKPROOF_HEADER_X_GATEWAY" in evidence
    for written in folder.iterdir():
        assert GATEWAY not in written.read_text(), written.name


@contextmanager
def far_away(folder: Path, **settings: Any) -> Iterator[None]:
    """Write a target file for a server whose API and whose deliveries have a long way."""
    with (
        reference_server(folder, ROOT, "p1") as server,
        unused_port() as port,
        long_way(server["api"], one_way_s=0.3) as api,
        # A delivery takes three such ways, with its handshake: more than STAMP_S allows.
        long_way(f"https://127.0.0.1:{port}", one_way_s=0.9) as deliveries,
    ):
        receiver = {
            **RECEIVER_SETTINGS,
            "bind": f"127.0.0.1:{port}",
            "public_url": deliveries.url,
        }
        write_target_file(folder, api.url, "p1", receiver=receiver, **settings)
        yield


def test_a_target_that_is_far_away_conforms_as_a_near_one_does(tmp_path: Path) -> None:
    with far_away(tmp_path):
        done = check(tmp_path, "--target", "target.yaml", *FAR)
    assert done.code == 0, done.out
    assert re.search(r" · round trip 6\d\d ms", done.out)
    report = json.loads((tmp_path / "hookproof-report" / "report.json").read_text())
    assert 0.6 <= report["round_trip_s"] < 1.0
    (evidence,) = read_evidence(tmp_path / "hookproof-report" / "run.jsonl")
    known = {
        observation.round_trip_s
        for observation in evidence.observations
        if isinstance(observation, DeliveryObservation)
    }
    assert known == {report["round_trip_s"]}


def test_a_doctor_waits_for_a_delivery_as_much_longer_as_it_is_under_way(tmp_path: Path) -> None:
    with far_away(tmp_path, budgets={"delivery_s": 0.5}):
        examined = run_command(tmp_path, "doctor", "--target", "target.yaml")
    assert examined.code == 0, examined.out
    assert "ok    a delivery arrives" in examined.out


def test_a_receiver_behind_a_proxy_that_ends_tls_judges_deliveries(tmp_path: Path) -> None:
    with reference_server(tmp_path, ROOT, "p1") as server, unused_port() as port:
        tls = Authority(tmp_path / "ca").server_context("127.0.0.1")
        behind = f"http://127.0.0.1:{port}"
        with tls_front(behind, tls, adding=("X-Forwarded-For: 192.0.2.1",)) as front:
            receiver = {"bind": f"127.0.0.1:{port}", "public_url": front.url, "http": True}
            write_target_file(tmp_path, server["api"], "p1", receiver=receiver)
            examined = run_command(tmp_path, "doctor", "--target", "target.yaml")
            done = check(tmp_path, "--target", "target.yaml", *DELIVERIES)
    assert examined.code == 0, examined.out
    assert done.code == 3, done.out
    judged = reported_requirements(tmp_path)
    verdicts = {name: requirement["verdict"] for name, requirement in judged.items()}
    assert verdicts == {
        "6-5": "pass",
        "2.3-17": "not_exercised",
        "2.3-18": "not_exercised",
        "6-21": "not_exercised",
    }
    assert "TLS ends before the receiver" in " ".join(judged["2.3-17"]["reasons"])
    assert "behind a proxy" in " ".join(judged["6-21"]["reasons"])


def documented_nginx() -> str:
    """The configuration in docs/far-targets.md."""
    blocks = (ROOT / "docs" / "far-targets.md").read_text().split("```")[1::2]
    (found,) = [block for block in blocks if block.strip().startswith("server {")]
    return found


@contextmanager
def nginx(folder: Path, port: int, changes: dict[str, str]) -> Iterator[None]:
    """The documented nginx with these changes, from when it listens until the block ends."""
    server = documented_nginx()
    for documented, own in changes.items():
        assert documented in server
        server = server.replace(documented, own)
    places = "\n".join(
        f"{kind}_temp_path {folder}/{kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\n"
        f"error_log {folder}/nginx.log;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{places}\n{server}}}\n"
    )
    process = subprocess.Popen(
        ["nginx", "-e", folder / "nginx.log", "-p", folder, "-c", folder / "nginx.conf"],
        stderr=subprocess.DEVNULL,
    )
    try:
        poll_until(lambda: process.poll() is not None or listens(port), "nginx listens")
        assert process.poll() is None, (folder / "nginx.log").read_text()
        yield
    finally:
        process.terminate()
        process.wait(timeout=60)


def listens(port: int) -> bool:
    with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
def test_a_receiver_behind_nginx_as_documented_judges_deliveries(tmp_path: Path) -> None:
    with (
        reference_server(tmp_path, ROOT, "p1") as server,
        unused_port() as behind,
        unused_port() as public,
    ):
        issue_certificate(tmp_path, "nginx.pem", "nginx.key")
        own = {
            "listen 443 ssl": f"listen 127.0.0.1:{public} ssl",
            "/etc/ssl/hooks.example.org.pem": str(tmp_path / "nginx.pem"),
            "/etc/ssl/hooks.example.org.key": str(tmp_path / "nginx.key"),
            "http://127.0.0.1:8080": f"http://127.0.0.1:{behind}",
        }
        options = (
            *("--receiver-bind", f"127.0.0.1:{behind}"),
            *("--receiver-url", f"https://127.0.0.1:{public}", "--receiver-http"),
        )
        write_target_file(tmp_path, server["api"], "p1", receiver={"forwarded": True})
        with nginx(tmp_path, public, own):
            done = check(tmp_path, "--target", "target.yaml", *options, *BEHIND_NGINX)
    assert done.code == 0, done.out
    verdicts = {name: each["verdict"] for name, each in reported_requirements(tmp_path).items()}
    assert verdicts == dict.fromkeys(("6-10", "8-7", "8-8"), "pass")


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
def test_behind_nginx_as_documented_the_client_and_its_url_are_shown(tmp_path: Path) -> None:
    Authority(tmp_path / "ca", ("127.0.0.1",))
    with unused_port() as behind, unused_port() as public:
        issue_certificate(tmp_path, "nginx.pem", "nginx.key")
        own = {
            "listen 443 ssl": f"listen 127.0.0.1:{public} ssl",
            "/etc/ssl/hooks.example.org.pem": str(tmp_path / "nginx.pem"),
            "/etc/ssl/hooks.example.org.key": str(tmp_path / "nginx.key"),
            "http://127.0.0.1:8080": f"http://127.0.0.1:{behind}",
        }
        options = ("--http", "--bind", f"127.0.0.1:{behind}", "--forwarded")
        with receiver(*options) as receiving, nginx(tmp_path, public, own):
            request = urllib.request.Request(
                f"https://127.0.0.1:{public}/orders?n=1",
                data=b"{}",
                headers={"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Host": "other.invalid"},
            )
            trusting = ssl.create_default_context(cafile=tmp_path / "ca" / "ca.pem")
            with urllib.request.urlopen(request, context=trusting) as answer:
                assert answer.status == 200
            _, body = receiving.call_over_http("GET", "/live/delivery?token=orders&sequence=1")
    shown = json.loads(body)
    assert shown["client_address"] == "127.0.0.1"
    assert shown["url"] == f"https://127.0.0.1:{public}/orders?n=1"


def issue_certificate(folder: Path, *names: str) -> None:
    """Write a certificate of the CA in the folder, and its key, to files of these names."""
    ca = CA.from_pem(*((folder / "ca" / name).read_bytes() for name in ("ca.pem", "ca.key")))
    issued = ca.issue_cert("127.0.0.1")
    certificate, key = names
    (folder / certificate).write_bytes(issued.cert_chain_pems[0].bytes())
    (folder / key).write_bytes(issued.private_key_pem.bytes())


def test_a_receiver_shows_a_certificate_of_ones_own(tmp_path: Path) -> None:
    files = ("own.pem", "own.key")
    with reference_server(tmp_path, ROOT, "p1") as server:
        issue_certificate(tmp_path, *files)
        certificate = dict(zip(("tls_cert", "tls_key"), files, strict=True))
        write_target_file(tmp_path, server["api"], "p1", receiver=certificate)
        done = check(tmp_path, "--target", "target.yaml", *DELIVERIES)
    verdicts = {name: each["verdict"] for name, each in reported_requirements(tmp_path).items()}
    assert (verdicts["6-5"], verdicts["2.3-18"]) == ("pass", "pass"), done.out
    assert verdicts["6-21"] == "not_exercised"
