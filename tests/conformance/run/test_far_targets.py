"""Whole runs against targets that are not on this machine, or seem not to be."""

import json
from pathlib import Path

from hookproof.receiver.http.authority import Authority
from hookproof.target.connection import UNVERIFIED
from tests.conformance.command import check, reported_requirements
from tests.conformance.reference_server import reference_server, write_target_file
from tests.relays import tls_front
from tests.source_tree import ROOT

GATEWAY = "open-sesame-4711"
ONLY = ("--profile", "quick", "--only", "4.1-1", "--only", "4.7-1")


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
