"""curl commands that repeat the exchanges of a finding."""

import subprocess
from dataclasses import replace
from shutil import which

import pytest

from hookproof.conformance.results.curl_command import curl
from tests.conformance.canned_evidence import exchange
from tests.conformance.scripted_target import response, stand_in

LENGTH = 3_000_000
OVERLONG = exchange("unfinished", request_headers=(("Content-Length", str(LENGTH)),))
HALF = exchange(
    "unfinished", request_body=b'{"name":', request_headers=(("Content-Length", "100"),)
)


def test_a_body_that_is_not_kept_is_made_of_blanks() -> None:
    (command,) = curl([OVERLONG]).splitlines()
    assert command.startswith(f"head -c {LENGTH} /dev/zero | tr '\\0' ' ' | curl -i")
    assert command.endswith("-H Expect: --data-binary @-")
    assert "Content-Length" not in command


def test_a_body_that_stops_halfway_keeps_the_length_that_was_promised() -> None:
    (command,) = curl([HALF]).splitlines()
    assert command.endswith("-H 'Content-Length: 100' --data-raw '{\"name\":'")


def test_a_request_without_a_body_has_none() -> None:
    assert "head" not in curl([exchange(request_headers=())])


@pytest.mark.skipif(which("curl") is None, reason="curl is not installed")
def test_the_command_announces_what_was_announced() -> None:
    heads: list[bytes] = []

    def refuse(head: bytes) -> bytes:
        heads.append(head)
        return response(413)

    with stand_in(refuse) as url:
        command = ["sh", "-c", curl([replace(OVERLONG, url=url)])]
        subprocess.run(command, check=False, capture_output=True, timeout=60)
    assert b"Content-Length: %d\r\n" % LENGTH in heads[0]


def test_the_headers_of_the_target_file_come_from_the_environment() -> None:
    sent = replace(exchange(), request_headers=(("X-Gateway", "$HOOKPROOF_HEADER_X_GATEWAY"),))
    assert '"X-Gateway: $HOOKPROOF_HEADER_X_GATEWAY"' in curl([sent])
