"""Why there is no answer is said in words, whatever client raised what."""

import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from hookproof.load.plan import no_answer_reason
from hookproof.receiver.http.authority import Authority


@pytest.fixture(name="closed")
def _closed() -> Iterator[int]:
    with socket.socket() as bound:  # and not listening
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def test_the_words_are_those_of_the_error_behind_it(closed: int) -> None:
    with pytest.raises(requests.ConnectionError) as raised:
        requests.get(f"http://127.0.0.1:{closed}", timeout=10)
    assert no_answer_reason(raised.value, 10) == "connection refused"


def test_a_certificate_that_is_not_trusted_is_no_operation_that_is_not_permitted(
    tmp_path: Path,
) -> None:
    tls = Authority(tmp_path).server_context("127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            connection, _ = server.accept()
            with connection, pytest.raises(OSError):  # noqa: PT011 the client goes away
                tls.wrap_socket(connection, server_side=True)

        thread = threading.Thread(target=accept)
        thread.start()
        with pytest.raises(requests.ConnectionError) as raised:
            requests.get(f"https://127.0.0.1:{server.getsockname()[1]}", timeout=10)
        thread.join()
    assert "certificate" in no_answer_reason(raised.value, 10)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionResetError(104, "Connection reset by peer"), "connection reset by peer"),
        (TimeoutError("timed out"), "nothing within 10 s"),
        (socket.gaierror(-2, "Name or service not known"), "name or service not known"),
        (ssl.SSLError(1, "[SSL] wrong version number"), "wrong version number"),
        (ConnectionError("its answer is longer than 5 bytes"), "its answer is longer than 5 bytes"),
        (ValueError(), "ValueError"),
    ],
)
def test_numbers_are_not_shown(error: Exception, words: str) -> None:
    reason = no_answer_reason(error, 10)
    assert words in reason
    assert "Errno" not in reason
