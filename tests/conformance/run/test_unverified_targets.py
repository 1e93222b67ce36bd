"""Commands that accept any certificate of the API say that they did."""

from pathlib import Path

from hookproof.receiver.http.authority import Authority
from hookproof.target.connection import UNVERIFIED
from tests.conformance.command import run_command
from tests.conformance.reference_server import reference_server, write_target_file
from tests.relays import tls_front
from tests.source_tree import ROOT


def test_learning_and_the_doctor_say_that_nothing_was_verified(tmp_path: Path) -> None:
    tls = Authority(tmp_path / "api-ca").server_context("127.0.0.1")
    with reference_server(tmp_path, ROOT, "p1") as server, tls_front(server["api"], tls) as front:
        write_target_file(tmp_path, front.url, "p1", connection={"verify": False})
        target = ("--target", "target.yaml")
        learned = run_command(tmp_path, "learn", *target, "--profile", "quick")
        examined = run_command(tmp_path, "doctor", *target)
    assert learned.code == 0, learned.err
    [summary] = [line for line in learned.out.splitlines() if line.startswith("LEARNED")]
    assert summary.endswith(" · CERTIFICATE NOT VERIFIED")
    assert "CERTIFICATE NOT VERIFIED" in (tmp_path / "hookproof" / "learned.html").read_text()
    assert examined.code == 0, examined.out
    assert f"note  the certificate of the API: {UNVERIFIED}" in examined.out
