"""What arrives at the receiver's sockets is kept as it was sent."""

import contextlib
import gzip
import hashlib
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookproof.receiver.client.control_api import ReceiverFailed
from hookproof.receiver.http.request import MOST_BODY_BYTES
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.receiver.receiver_process import ReceiverProcess, empty_post, read_to_end, receiver


@pytest.fixture(scope="module", params=["--control=127.0.0.1:0", "--http"], ids=["https", "http"])
def running(request: pytest.FixtureRequest) -> Iterator[ReceiverProcess]:
    with receiver(request.param) as process:
        yield process
        assert process.log.empty(), process.log.get()


@pytest.fixture(scope="module")
def secured() -> Iterator[ReceiverProcess]:
    with receiver() as process:
        yield process


def only_delivery(process: ReceiverProcess, token: str) -> ReceivedDelivery:
    (delivery,) = process.call(lambda client: client.deliveries(token))
    return delivery


@pytest.mark.parametrize(
    "body",
    [
        b"",
        bytes(range(256)),
        b'{ "b":1,\r\n "a" : 1e3 }\n',
        "caf\u00e9".encode("utf-16"),
        b"\x00" * 2**20,
    ],
    ids=["empty", "every byte", "spaces", "utf-16", "1 MiB"],
)
def test_a_body_is_kept_byte_by_byte(running: ReceiverProcess, body: bytes) -> None:
    token = running.new_token()
    assert running.post(f"/{token}", body).startswith(b"HTTP/1.1 200 OK\r\n")
    assert only_delivery(running, token).body == body


def test_a_compressed_body_is_not_decompressed(running: ReceiverProcess) -> None:
    token, body = running.new_token(), gzip.compress(b"{}")
    running.post(f"/{token}", body, headers=b"Content-Encoding: gzip\r\n")
    assert only_delivery(running, token).body == body


def test_the_chunks_of_a_body_are_joined(running: ReceiverProcess) -> None:
    token = running.new_token()
    head = (
        f"POST /{token} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    running.exchange(head.encode() + b"1\r\n{\r\n3;x=y\r\n\xff\r\n\r\n1\r\n}\r\n0\r\n\r\n")
    assert only_delivery(running, token).body == b"{\xff\r\n}"


def test_headers_keep_their_order_case_and_repetitions(running: ReceiverProcess) -> None:
    token = running.new_token()
    sent = [
        ("hOsT", "x"),
        ("X-b", "2"),
        ("x-A", "1"),
        ("X-B", "\xe9 \xff"),
        ("x-a", ""),
        ("connection", "close"),
    ]
    head = "".join(f"{name}: {value}\r\n" for name, value in sent)
    running.exchange(f"POST /{token} HTTP/1.1\r\n{head}\r\n".encode("latin-1"))
    delivery = only_delivery(running, token)
    assert delivery.headers == tuple(sent)
    assert delivery.header("X-B") == "2"
    assert delivery.all_headers("x-b") == ("2", "\xe9 \xff")
    assert delivery.header("x-c") is None


def test_a_long_header_is_kept(running: ReceiverProcess) -> None:
    token = running.new_token()
    running.post(f"/{token}", headers=b"X-Long: " + b"v" * 60_000 + b"\r\n")
    assert only_delivery(running, token).header("x-long") == "v" * 60_000


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "PURGE"])
def test_a_request_of_any_method_is_a_delivery(running: ReceiverProcess, method: str) -> None:
    token = running.new_token()
    running.exchange(f"{method} /{token} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    assert only_delivery(running, token).method == method


@pytest.mark.parametrize("rest", ["", "/", "/a/../b//c", "/%2F%zz%00", "?q=a%20b&q=+#f"])
def test_a_path_is_kept_as_sent(running: ReceiverProcess, rest: str) -> None:
    token = running.new_token()
    running.post(f"/{token}{rest}")
    assert only_delivery(running, token).path == f"/{token}{rest}"


def test_a_delivery_to_a_token_that_nobody_issued_is_kept_too(running: ReceiverProcess) -> None:
    assert running.post("/never%20issued").startswith(b"HTTP/1.1 200 ")
    assert only_delivery(running, "never%20issued").path == "/never%20issued"


def test_one_connection_carries_several_deliveries_in_order(running: ReceiverProcess) -> None:
    token = running.new_token()
    request = f"POST /{token}/%d HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n%d%d"
    with running.connection() as connection:
        own_port = connection.getsockname()[1]
        connection.sendall("".join(request % (i, i, i) for i in range(1, 6)).encode())
        deliveries = running.call(lambda client: client.deliveries(token, 5))
    assert [d.sequence for d in deliveries] == [1, 2, 3, 4, 5]
    assert [d.body for d in deliveries] == [b"11", b"22", b"33", b"44", b"55"]
    assert {d.peer_port for d in deliveries} == {own_port}
    times = [d.arrived_monotonic for d in deliveries]
    assert times == sorted(times)


def test_each_request_of_a_connection_has_its_own_time_of_arrival(running: ReceiverProcess) -> None:
    token = running.new_token()
    request = empty_post(token)
    bounds = []
    with running.connection() as connection:
        for _ in range(2):
            bounds.append(time.monotonic())
            connection.sendall(request)
            assert connection.recv(2**16).startswith(b"HTTP/1.1 200 ")
    bounds.append(time.monotonic())
    first, second = running.call(lambda client: client.deliveries(token, 2))
    assert bounds[0] < first.arrived_monotonic < bounds[1] < second.arrived_monotonic < bounds[2]


def test_arrival_comes_before_completion(running: ReceiverProcess) -> None:
    token = running.new_token()
    running.post(f"/{token}", b"{}")
    delivery = only_delivery(running, token)
    assert delivery.status == 200
    assert delivery.completed_monotonic is not None
    assert delivery.arrived_monotonic < delivery.completed_monotonic


def test_a_sender_that_asks_first_gets_100_continue(running: ReceiverProcess) -> None:
    token = running.new_token()
    head = (
        f"POST /{token} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    )
    with running.connection() as connection:
        connection.sendall(head.encode())
        assert connection.recv(2**16) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"{}")
        assert read_to_end(connection).startswith(b"HTTP/1.1 200 OK\r\n")
    assert only_delivery(running, token).body == b"{}"


def test_another_version_of_http_is_answered_505_and_the_connection_closed(
    running: ReceiverProcess,
) -> None:
    token = running.new_token()
    with running.connection() as connection:
        connection.sendall(f"POST /{token} HTTP/2.0\r\nContent-Length: 2\r\n\r\n{{}}".encode())
        answer = read_to_end(connection)
    assert answer.startswith(b"HTTP/1.1 505 HTTP Version Not Supported\r\n")
    assert b"Connection: close" in answer
    assert not running.call(lambda client: client.deliveries(token, 0))


def test_a_body_beyond_the_bound_is_refused_and_counted_as_dropped(
    running: ReceiverProcess,
) -> None:
    token = running.new_token()
    assert running.post(f"/{token}", b"x" * (MOST_BODY_BYTES + 1)).startswith(b"HTTP/1.1 413 ")
    with pytest.raises(ReceiverFailed, match="dropped 1"):
        running.call(lambda client: client.deliveries(token, 1))
    assert running.post(f"/{token}", b"y").startswith(b"HTTP/1.1 200 ")
    (delivery,) = running.call(lambda client: client.deliveries(token, 1, after=1))
    assert (delivery.sequence, delivery.body) == (2, b"y")


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nBad Header: secret-value\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    ],
    ids=["line", "header", "path", "framing", "length"],
)
def test_what_is_not_http_is_refused_and_reported_in_one_line(
    secured: ReceiverProcess, sent: bytes
) -> None:
    assert b" 400 Bad Request\r\n" in secured.exchange(sent)
    line = secured.next_log_line()
    assert "is not valid HTTP" in line
    assert "secret-value" not in line
    assert secured.log.empty()


def test_a_sender_that_leaves_before_its_body_ends_has_delivered_nothing(
    secured: ReceiverProcess,
) -> None:
    token = secured.new_token()
    with secured.connection() as connection:
        connection.sendall(
            f"POST /{token} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1234".encode()
        )
    assert (
        secured.next_log_line()
        == f"hookproof receive: a request to '{token}' ended before its body did"
    )
    assert secured.call(lambda client: client.deliveries(token, 0)) == ()


def test_what_is_not_tls_is_cut_silently(secured: ReceiverProcess) -> None:
    host, _, port = secured.url.removeprefix("https://").partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as plain:
        plain.sendall(b"POST / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"HTTP" not in read_to_end(plain)
    assert secured.post("/x").startswith(b"HTTP/1.1 200 ")
    assert secured.log.empty(), secured.log.get()


def test_a_client_certificate_of_the_authority_is_recorded(
    secured: ReceiverProcess, tmp_path: Path
) -> None:
    token = secured.new_token()
    issued = secured.call(lambda client: client.client_certificate("the service"))
    file = tmp_path / "client.pem"
    file.write_text(issued.client_cert + issued.client_key)
    request = f"POST /{token} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()

    secured.exchange(request, certificate=file)
    secured.exchange(request)

    with_certificate, without = secured.call(lambda client: client.deliveries(token, 2))
    der = ssl.PEM_cert_to_DER_cert(issued.client_cert)
    assert with_certificate.client_certificate == hashlib.sha256(der).hexdigest()
    assert without.client_certificate is None


def test_a_client_certificate_of_another_authority_is_refused(
    secured: ReceiverProcess, tmp_path: Path
) -> None:
    token = secured.new_token()
    with receiver() as other:
        issued = other.call(lambda client: client.client_certificate("a stranger"))
    file = tmp_path / "client.pem"
    file.write_text(issued.client_cert + issued.client_key)
    with contextlib.suppress(ssl.SSLError):  # the refusal may come as an alert or as a mere end
        assert (
            secured.exchange(
                f"POST /{token} HTTP/1.1\r\nHost: x\r\n\r\n".encode(), certificate=file
            )
            == b""
        )
    assert secured.call(lambda client: client.deliveries(token, 0)) == ()


def test_what_was_agreed_on_in_the_handshake_is_recorded(secured: ReceiverProcess) -> None:
    token = secured.new_token()
    request = f"POST /{token} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    with secured.connection(name="localhost") as connection:
        assert isinstance(connection, ssl.SSLSocket)
        connection.sendall(request)
        read_to_end(connection)
        agreed = (connection.version(), connection.cipher()[0], "localhost")  # type: ignore[index]
    facts = only_delivery(secured, token).tls
    assert facts is not None
    assert (facts.version, facts.cipher, facts.server_name) == agreed


def test_without_tls_nothing_was_agreed_on() -> None:
    with receiver("--http") as process:
        token = process.new_token()
        process.post(f"/{token}")
        assert only_delivery(process, token).tls is None


def test_a_sender_that_does_not_trust_the_authority_cannot_connect(
    secured: ReceiverProcess,
) -> None:
    host, _, port = secured.url.removeprefix("https://").partition(":")
    with (
        socket.create_connection((host, int(port)), timeout=30) as plain,
        pytest.raises(ssl.SSLCertVerificationError),
        ssl.create_default_context().wrap_socket(plain, server_hostname=host),
    ):
        pass
