"""`hookproof receive --forward-to`: the raw delivery goes to a server, its answer to the sender."""

import gzip
import json
import socket
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from aiohttp import web

from hookproof.receiver.http.reply_bytes import RelayedAnswer, relayed_answer
from tests.receiver.cli.test_watching_commands import (
    BODY,
    HEADER,
    SECRET,
    post,
    start_receiver,
    wait_for_end,
)
from tests.receiver.receiver_process import DEADLINE_S, read_to_end, run
from tests.receiver.sending.consumer_thread import Recorder, serving
from tests.receiver.signatures.schemes.provider_signers import signed

GITHUB: Final = signed("github")


class Answering(Recorder):
    """Answers with what a library would change: another case, doubled headers, compressed."""

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        await super().__call__(request)
        response = web.Response(status=422, body=gzip.compress(b"no", mtime=0))
        response.headers["Content-Encoding"] = "gzip"
        response.headers.add("X-oDD", "a")
        response.headers.add("X-oDD", "b")
        return response


def test_the_delivery_and_the_answer_are_passed_on_as_they_are(tmp_path: Path) -> None:
    server = Answering()
    lines = tmp_path / "all.jsonl"
    with serving(server) as url:
        arguments = ("--forward-to", f"{url}/hooks?from=x", "--once", "--jsonl", str(lines))
        with start_receiver(*arguments) as (process, port):
            answer = post(port, b"\xff\x00 {}", "X-oDD: 1", "X-oDD: 2", "Cookie: a=b")
            assert wait_for_end(process)[0] == 0
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 422 ")
    assert b"X-oDD: a\r\nX-oDD: b\r\n" in head
    assert gzip.decompress(body) == b"no"
    (got,) = server.requests
    assert (got.body, got.target) == (b"\xff\x00 {}", "/hooks?from=x")
    assert got.header("Host") == url.removeprefix("http://")
    assert [pair for pair in got.headers if pair[0] == "X-oDD"] == [("X-oDD", "1"), ("X-oDD", "2")]
    kept = json.loads(lines.read_text())
    assert (kept["status"], kept["path"]) == (422, "/orders")


@pytest.mark.parametrize(
    ("given", "header", "body"),
    [
        (("--secret", SECRET), HEADER, BODY),
        (
            ("--secret", GITHUB.secret, "--scheme", "auto"),
            "X-Hub-Signature-256: " + dict(GITHUB.headers)["X-Hub-Signature-256"],
            GITHUB.body,
        ),
        (
            ("--secret", GITHUB.secret, "--scheme", "github"),
            "X-Hub-Signature-256: " + dict(GITHUB.headers)["X-Hub-Signature-256"],
            GITHUB.body,
        ),
    ],
)
def test_the_verdict_stands_beside_the_answer(
    given: tuple[str, ...], header: str, body: bytes
) -> None:
    with serving(Recorder(status=401)) as url:
        arguments = ("--forward-to", url, "--expect", "2", "--verify", *given)
        with start_receiver(*arguments) as (process, port):
            post(port, body, header)
            post(port, body + b" ", header)
            code, output, errors = wait_for_end(process)
    assert code == 1
    first, second = output.splitlines()[-2:]
    assert "answered 401, verified" in first, (output, errors)
    assert "answered 401, not verified" in second


def test_a_signed_url_is_the_one_that_the_sender_called() -> None:
    request = signed("square")
    given = ("--secret", request.secret, "--scheme", "square", "--verify", "--once")
    header = (
        "x-square-hmacsha256-signature: " + dict(request.headers)["x-square-hmacsha256-signature"]
    )
    for public, code in (("https://hooks.example", 0), ("https://other.example", 1)):
        with start_receiver(*given, "--public-url", public) as (process, port):
            post(port, request.body, header, path="/in?x=a%3Ab")
            assert wait_for_end(process)[0] == code


def test_a_server_that_cannot_be_reached_is_told_to_the_sender_and_here() -> None:
    with serving(Recorder()) as url:
        pass
    with start_receiver("--forward-to", url, "--once") as (process, port):
        answer = post(port, b"{}")
        code, output, errors = wait_for_end(process)
    assert answer.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert b"cannot be reached" in answer
    assert "a delivery could not be forwarded" in errors
    assert "answered 502" in output
    assert code == 0


def test_a_script_answers_in_place_of_the_server(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("tokens: {orders: {replies: [{status: 503}]}}")
    server = Recorder()
    with serving(server) as url:
        arguments = ("--forward-to", url, "--expect", "2", "--script", str(script))
        with start_receiver(*arguments) as (process, port):
            assert post(port, b"{}").startswith(b"HTTP/1.1 503 ")
            assert post(port, b"{}", path="/others").startswith(b"HTTP/1.1 200 ")
            wait_for_end(process)
    assert len(server.requests) == 1


@pytest.mark.parametrize("url", ["x", "ftp://x", "http://user:secret@x", "http://"])
def test_what_is_no_url_is_refused_in_a_line(url: str) -> None:
    completed = run("receive", "--forward-to", url)
    assert completed.returncode == 64
    assert "is not a URL" in completed.stderr
    assert completed.stderr.count("\n") == 1


TEXT: Final = RelayedAnswer(
    status=200, headers=(("Content-Length", "99"), ("Keep-Alive", "1"), ("A", "\xe9")), body=b"ok"
)


@pytest.mark.parametrize(
    ("answer", "options", "sent"),
    [
        (TEXT, {}, b"HTTP/1.1 200 OK\r\nA: \xe9\r\nContent-Length: 2\r\n\r\nok"),
        (
            TEXT,
            {"keep_alive": False},
            b"HTTP/1.1 200 OK\r\nA: \xe9\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
        ),
        (TEXT, {"head_only": True}, b"HTTP/1.1 200 OK\r\nA: \xe9\r\nContent-Length: 2\r\n\r\n"),
        (replace(TEXT, status=204, headers=()), {}, b"HTTP/1.1 204 No Content\r\n\r\n"),
        (
            replace(TEXT, status=599, headers=()),
            {"http_1_0": True},
            b"HTTP/1.1 599 \r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
        ),
    ],
)
def test_only_what_belongs_to_the_connection_is_made_anew(
    answer: RelayedAnswer, options: dict[str, bool], sent: bytes
) -> None:
    usual = {"keep_alive": True, "http_1_0": False, "head_only": False}
    assert relayed_answer(answer, **usual | options) == sent


def test_a_connection_stays_open_for_the_next_delivery() -> None:
    server = Recorder(status=202)
    request = b"POST /t HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n%d"
    last = request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with (
        serving(server) as url,
        start_receiver("--forward-to", url, "--expect", "2") as (process, port),
        socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S) as sender,
    ):
        sender.sendall(request % 1 + last % 2)
        assert read_to_end(sender).count(b"HTTP/1.1 202 Accepted") == 2
        wait_for_end(process)
    assert [each.body for each in server.requests] == [b"1", b"2"]
