"""The curl command sends the same bytes again, and no content escapes from its quotes."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookproof.receiver.dashboard.curl_command import (
    LONGEST_ARGUMENT,
    ReceiverAddresses,
    curl_command,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.receiver.dashboard.delivery_fixtures import make_delivery
from tests.receiver.receiver_process import DEADLINE_S, ReceiverProcess, receiver

needs_curl = pytest.mark.skipif(
    not (shutil.which("curl") and shutil.which("bash")), reason="needs curl and bash"
)

HOSTILE = [
    b"",
    b'{"a": 1}',
    b"it's",
    b"' ; touch hacked #",
    b"$(touch hacked) `touch hacked` ${HOME} !!",
    b"\\' \\\\ \\x41 \\n",
    b"@/etc/passwd",
    b"line\r\nline\n\ttab\x1b[31m",
    bytes(range(1, 256)),
    "Zo\u00eb \u202e".encode(),
    b"\x0041",
    b"x" * (LONGEST_ARGUMENT + 1),
]


@pytest.fixture(scope="module")
def running() -> Iterator[ReceiverProcess]:
    with receiver() as process:
        yield process


def last(running: ReceiverProcess, token: str, count: int) -> ReceivedDelivery:
    return running.call(lambda client: client.deliveries(token, count, DEADLINE_S))[-1]


def send_again(running: ReceiverProcess, token: str, folder: Path) -> ReceivedDelivery:
    """Send the token's first delivery again by its command; return the second one."""
    assert running.ca is not None
    addresses = ReceiverAddresses(public=running.url, control=running.control, ca=Path(running.ca))
    command = curl_command(last(running, token, 1), addresses)
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []
    return last(running, token, 2)


@needs_curl
@pytest.mark.parametrize("body", HOSTILE, ids=lambda body: repr(body[:16]))
def test_curl_sends_the_same_body(running: ReceiverProcess, body: bytes, tmp_path: Path) -> None:
    token = running.new_token()
    running.post(f"/{token}", body)
    assert send_again(running, token, tmp_path).body == body


@needs_curl
def test_curl_sends_the_same_method_path_and_headers(
    running: ReceiverProcess, tmp_path: Path
) -> None:
    token = running.new_token()
    path = f"/{token}/../a/./b?q=[1-3]&x={{a,b}}%20'$HOME"
    headers = (
        b'X-Quote: it\'s "$(touch hacked)"\r\nX-Latin: caf\xe9\r\nX-Empty:\r\n'
        b"x-twice: 1\r\nX-Twice: 2\r\n"
    )
    running.exchange(
        b"PATCH %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%sContent-Length: 2\r\n\r\n{}"
        % (path.encode(), headers)
    )
    first, again = last(running, token, 1), send_again(running, token, tmp_path)
    assert (again.method, again.path, again.body) == (first.method, first.path, first.body)
    own = {"host", "content-length", "connection"}
    sent, received = (
        [(name, value) for name, value in received_delivery.headers if name.lower() not in own]
        for received_delivery in (first, again)
    )
    assert received == sent


@pytest.mark.parametrize("content", [b"'", b"\n", b"\x1b", b"\xff", b"$", b"`", b"\\"])
def test_nothing_but_printable_ascii_stands_in_a_command(content: bytes) -> None:
    text = content.decode("latin-1")
    source = make_delivery(path=f"/a{text}", headers=(("X", text),), body=content)
    command = curl_command(
        source,
        ReceiverAddresses(public="http://127.0.0.1:1", control="http://127.0.0.1:2", ca=None),
    )
    assert all(" " <= character <= "~" for line in command.split(" \\\n  ") for character in line)
