"""Load runs against an API behind TLS that wants further headers and a client certificate."""

import ssl
from pathlib import Path

import pytest
import yaml

from hookproof.receiver.http.authority import Authority
from tests.load.embedded import hookproof_load, report, serving
from tests.relays import tls_front

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
