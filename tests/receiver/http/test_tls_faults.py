"""Listeners whose TLS is wrong on purpose, and how handshakes are counted."""

import socket
import ssl
from urllib.parse import urlsplit

import pytest

from tests.polling import poll_until
from tests.receiver.receiver_process import DEADLINE_S, empty_post, receiver, run

FAULTS = {
    "expired": "certificate has expired",
    "not_yet_valid": "not yet valid",
    "wrong_host": "mismatch",
    "unknown_authority": "unable to get local issuer certificate",
    "self_signed": "self-signed certificate",
    "no_tls": "(?i)wrong version number|record layer failure|packet length",
}
# There are two listeners of each kind.
LISTENERS = [f"{name}{suffix}" for suffix in ("", "_2") for name in FAULTS]


def test_each_tls_fault_is_refused_for_its_own_reason() -> None:
    with receiver("--tls-faults") as process:
        urls = process.call(lambda client: client.tls_faults())
        assert list(urls) == LISTENERS
        for name in LISTENERS:
            reason = FAULTS[name.removesuffix("_2")]
            host, _, port = urls[name].removeprefix("https://").partition(":")
            context = ssl.create_default_context(cafile=process.ca)
            with (
                socket.create_connection((host, int(port)), timeout=DEADLINE_S) as plain,
                pytest.raises(ssl.SSLError, match=reason),
                context.wrap_socket(plain, server_hostname=host),
            ):
                pass


def test_whoever_begins_a_handshake_with_faulty_tls_is_counted() -> None:
    with receiver("--tls-faults") as process:
        host, _, port = (
            process.call(lambda client: client.tls_faults())["expired"]
            .removeprefix("https://")
            .partition(":")
        )
        context = ssl.create_default_context(cafile=process.ca)
        with (
            socket.create_connection((host, int(port)), timeout=DEADLINE_S) as plain,
            pytest.raises(ssl.SSLError),
            context.wrap_socket(plain, server_hostname=host),
        ):
            pass
        begun = process.call(lambda client: client.tls_fault_handshakes())
        assert begun == {**dict.fromkeys(LISTENERS, 0), "expired": 1}


def test_whoever_connects_where_no_tls_is_spoken_is_counted_and_read() -> None:
    with receiver("--tls-faults") as process:
        token = process.new_token()
        url = process.call(lambda client: client.tls_faults())["no_tls"]
        host, _, port = url.removeprefix("https://").partition(":")
        with socket.create_connection((host, int(port)), timeout=DEADLINE_S) as plain:
            plain.sendall(empty_post(token))
            assert plain.recv(100).startswith(b"HTTP/1.1 200 ")
        begun = process.call(lambda client: client.tls_fault_handshakes())
        assert begun == {**dict.fromkeys(LISTENERS, 0), "no_tls": 1}
        (delivery,) = process.call(lambda client: client.deliveries(token))
        assert delivery.tls is None


def test_listeners_with_faulty_tls_are_at_the_host_of_the_public_url() -> None:
    with receiver("--tls-faults", "--public-url", "https://hooks.example.org:8443") as process:
        urls = process.call(lambda client: client.tls_faults()).values()
        assert all(url.startswith("https://hooks.example.org:") for url in urls)


def test_a_sender_that_is_not_careful_is_revealed_by_a_tls_fault() -> None:
    with receiver("--tls-faults") as process:
        token = process.new_token()
        url = process.call(lambda client: client.tls_faults())["expired"]
        host, _, port = url.removeprefix("https://").partition(":")
        careless = ssl.create_default_context()
        careless.check_hostname, careless.verify_mode = False, ssl.CERT_NONE
        with (
            socket.create_connection((host, int(port)), timeout=DEADLINE_S) as plain,
            careless.wrap_socket(plain, server_hostname=host) as secured,
        ):
            secured.sendall(empty_post(token))
            assert secured.recv(100).startswith(b"HTTP/1.1 200 ")
        (delivery,) = process.call(lambda client: client.deliveries(token))
        assert delivery.tls is not None


def test_without_the_flag_there_are_no_listeners_with_faults() -> None:
    with receiver() as process:
        assert process.call(lambda client: client.tls_faults()) == {}
    refused = run("receive", "--http", "--tls-faults")
    assert (refused.returncode, refused.stderr.count("\n")) == (64, 1)


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
