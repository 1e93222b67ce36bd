"""A sender that does not trust the CA leaves a handshake that began and was not completed."""

import socket
import ssl
from urllib.parse import urlsplit

import pytest

from tests.polling import poll_until
from tests.receiver.receiver_process import receiver


def test_handshakes_are_counted_from_their_beginning() -> None:
    with receiver("--bind", "127.0.0.1:0") as running:
        assert running.call(lambda client: client.tls_handshakes()).first_s_ago is None
        parts = urlsplit(running.url)
        with (
            socket.create_connection((parts.hostname, parts.port), timeout=30) as plain,
            pytest.raises(ssl.SSLCertVerificationError),
        ):
            ssl.create_default_context().wrap_socket(plain, server_hostname=parts.hostname)
        refused = running.call(lambda client: client.tls_handshakes())
        assert (refused.begun, refused.completed) == (1, 0)
        assert refused.first_s_ago is not None
        assert refused.unused_s_ago is not None
        assert b" 200 " in running.post(f"/{running.new_token()}")
        trusted = running.call(lambda client: client.tls_handshakes())
        assert (trusted.begun, trusted.completed) == (2, 1)


def test_a_connection_that_ends_without_a_request_is_noted_and_no_other() -> None:
    with receiver("--bind", "127.0.0.1:0") as running:
        assert b" 200 " in running.post(f"/{running.new_token()}")
        assert running.call(lambda client: client.tls_handshakes()).unused_s_ago is None
        parts = urlsplit(running.url)
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        with (
            socket.create_connection((parts.hostname, parts.port), timeout=30) as plain,
            trusting.wrap_socket(plain, server_hostname=parts.hostname),
        ):
            pass
        poll_until(
            lambda: running.call(lambda client: client.tls_handshakes()).unused_s_ago is not None,
            "a connection without a request is noted",
        )
