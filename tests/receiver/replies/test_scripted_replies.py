"""Scripted replies are sent exactly as the script says; impossible ones are refused in one line."""

import json
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.receiver.http.reply_bytes import body_pieces, first_half_of_body, transmission_of
from hookproof.receiver.replies.script import Cut, Interim, Reply, Script
from tests.receiver.receiver_process import ReceiverProcess, empty_post, read_to_end, receiver, run


@pytest.fixture(scope="module", params=["--http", "--control=127.0.0.1:0"], ids=["http", "https"])
def running(request: pytest.FixtureRequest) -> Iterator[ReceiverProcess]:
    with receiver(request.param) as process:
        yield process
        assert process.log.empty(), process.log.get()


def set_script(process: ReceiverProcess, *replies: Reply) -> str:
    token = process.new_token()
    process.call(lambda client: client.script(token, replies))
    return token


def post_with_reply(process: ReceiverProcess, reply: Reply) -> tuple[list[bytes], bytes]:
    """The lines of the answer's head, and what follows it."""
    head, _, body = process.post(f"/{set_script(process, reply)}").partition(b"\r\n\r\n")
    return head.split(b"\r\n"), body


def join_chunks(body: bytes) -> bytes:
    plain = b""
    while True:
        size, _, rest = body.partition(b"\r\n")
        length = int(size, 16)
        if not length:
            assert rest == b"\r\n"
            return plain
        plain, body = plain + rest[:length], rest[length + 2 :]


def test_a_huge_body_comes_whole_with_its_length(running: ReceiverProcess) -> None:
    lines, body = post_with_reply(running, Reply(body="abc", body_bytes=5_000_000))
    assert b"Content-Length: 5000000" in lines
    assert len(body) == 5_000_000
    assert body.startswith(b"abcabc")
    assert body.endswith(b"ab")


@pytest.mark.parametrize(("encoding", "bits"), [("gzip", 31), ("deflate", 15)])
def test_a_bomb_is_small_on_the_wire_and_huge_behind_it(
    running: ReceiverProcess, encoding: str, bits: int
) -> None:
    lines, body = post_with_reply(running, Reply(body_bytes=20_000_000, compressed=encoding))  # type: ignore[arg-type]
    assert b"Content-Encoding: " + encoding.encode() in lines
    assert b"Transfer-Encoding: chunked" in lines
    assert len(body) < 200_000
    assert zlib.decompress(join_chunks(body), wbits=bits) == b" " * 20_000_000


def test_a_compressed_body_has_the_length_of_what_is_sent(running: ReceiverProcess) -> None:
    lines, body = post_with_reply(running, Reply(body="{}" * 100, compressed="gzip"))
    assert b"Content-Length: %d" % len(body) in lines
    assert zlib.decompress(body, wbits=31) == b"{}" * 100


def test_a_body_can_end_with_the_connection_alone(running: ReceiverProcess) -> None:
    lines, body = post_with_reply(running, Reply(body="to the end", framing="close"))
    assert body == b"to the end"
    assert b"Connection: close" in lines
    assert not any(line.startswith((b"Content-Length", b"Transfer-Encoding")) for line in lines)


def test_a_body_can_be_chunked_though_its_length_is_known(running: ReceiverProcess) -> None:
    lines, body = post_with_reply(running, Reply(body="x" * 20, framing="chunked"))
    assert b"Transfer-Encoding: chunked" in lines
    assert join_chunks(body) == b"x" * 20


def test_odd_headers_go_out_byte_by_byte(running: ReceiverProcess) -> None:
    headers = (("X-Caf", "caf\xe9"), ("X-Folded", ("one", "two", "\tthree")), ("x-empty", ""))
    lines, _ = post_with_reply(
        running, Reply(headers=headers, headers_in="latin-1", filler_headers=300)
    )
    at = lines.index(b"X-Folded: one")
    assert lines[at - 1 : at + 4] == [
        b"X-Caf: caf\xe9",
        b"X-Folded: one",
        b" two",
        b" \tthree",
        b"x-empty: ",
    ]
    assert sum(line.startswith(b"X-Filler-") for line in lines) == 300


def test_retry_after_is_reported_in_seconds_or_as_a_date(running: ReceiverProcess) -> None:
    lines, _ = post_with_reply(running, Reply(status=429, retry_after_s=7))
    assert lines[0] == b"HTTP/1.1 429 Too Many Requests"
    assert b"Retry-After: 7" in lines
    lines, _ = post_with_reply(running, Reply(status=503, retry_after_s=60, retry_after_as="date"))
    (retry_after,) = [line for line in lines if line.startswith(b"Retry-After: ")]
    assert retry_after.endswith(b" GMT")


def test_a_redirect_says_where_to_go(running: ReceiverProcess) -> None:
    lines, _ = post_with_reply(
        running, Reply(status=307, headers=(("Location", "https://elsewhere.invalid/x"),))
    )
    assert lines[0].startswith(b"HTTP/1.1 307 ")
    assert b"Location: https://elsewhere.invalid/x" in lines


def test_interim_answers_come_before_the_final_one(running: ReceiverProcess) -> None:
    answer = running.post(f"/{set_script(running, Reply(status=201, interim=Interim(times=3)))}")
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + b"HTTP/1.1 201 Created\r\n")


def test_endless_interim_answers_go_on_until_the_sender_leaves(running: ReceiverProcess) -> None:
    token = set_script(running, Reply(interim=Interim(status=103, endless=True, every_s=0.001)))
    received = b""
    with running.connection() as connection:
        connection.sendall(empty_post(token))
        while received.count(b"HTTP/1.1 103 ") < 20:
            received += connection.recv(2**16)
    assert b" 200 " not in received


CUTS = [
    ("before_answer", b"", b""),
    ("after_headers", b"Content-Length: 1000", b""),
    ("mid_body", b"Content-Length: 1000", b"x" * 500),
]


@pytest.mark.parametrize(("at", "line", "body"), CUTS)
def test_an_answer_that_is_closed_early_ends_where_the_script_says(
    running: ReceiverProcess, at: str, line: bytes, body: bytes
) -> None:
    token = set_script(running, Reply(body="x" * 1000, cut=Cut(at=at)))  # type: ignore[arg-type]
    head, _, rest = running.post(f"/{token}").partition(b"\r\n\r\n")
    assert line in head
    assert rest == body
    (delivery,) = running.call(lambda client: client.deliveries(token))
    assert (delivery.status, delivery.completed_monotonic) == (None, None)


def test_a_cut_before_reading_leaves_the_body_unread(running: ReceiverProcess) -> None:
    token = set_script(running, Reply(cut=Cut(at="before_reading")), Reply(status=201))
    with running.connection() as connection:
        connection.sendall(
            f"POST /{token} HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n".encode()
        )
        assert read_to_end(connection) == b""
    assert running.post(f"/{token}", b"{}").startswith(b"HTTP/1.1 201 ")
    first, second = running.call(lambda client: client.deliveries(token, 2))
    assert (first.body, first.status, second.body, second.status) == (b"", None, b"{}", 201)


def test_a_reset_is_seen_as_one_by_the_sender() -> None:
    with receiver("--http") as process:
        for at in ("before_reading", "before_answer"):
            token = set_script(process, Reply(cut=Cut(at=at, by="reset")))  # type: ignore[arg-type]
            with process.connection() as connection:
                connection.sendall(empty_post(token))
                with pytest.raises(ConnectionResetError):
                    connection.recv(2**16)


def test_a_half_close_ends_one_direction_and_waits_in_the_other(running: ReceiverProcess) -> None:
    token = set_script(running, Reply(body="xx", cut=Cut(at="after_headers", by="half_close")))
    with running.connection() as connection:
        connection.sendall(empty_post(token))
        assert read_to_end(connection).endswith(b"\r\n\r\n")
        (delivery,) = running.call(lambda client: client.deliveries(token))
        # With TLS, the sender's library answers the truncation with an alert, and leaves.
        if running.ca is None:
            assert delivery.closed_monotonic is None


def test_a_connection_stays_after_a_plain_reply(running: ReceiverProcess) -> None:
    token = set_script(running, Reply(status=500, body="no"), Reply(status=204))
    with running.connection() as connection:
        for expected in (b"500 Internal Server Error", b"204 No Content"):
            connection.sendall(empty_post(token))
            assert connection.recv(2**16).startswith(b"HTTP/1.1 " + expected)


@given(
    st.text(max_size=50),
    st.integers(2, 300_000),
    st.sampled_from([None, "gzip", "deflate"]),
    st.sampled_from([None, "chunked", "close"]),
)
def test_half_a_body_is_a_true_beginning_of_it(
    body: str, size: int, compressed: str | None, framing: str | None
) -> None:
    reply = Reply(body=body, body_bytes=size, compressed=compressed, framing=framing)  # type: ignore[arg-type]
    transmission = transmission_of(reply, keep_alive=True, http_1_0=False, now=0.0)
    whole, half = (
        b"".join(body_pieces(reply, transmission)),
        b"".join(first_half_of_body(reply, transmission)),
    )
    assert whole.startswith(half)
    assert len(half) < len(whole)


REFUSED = [
    ({"framing": "length", "compressed": "gzip", "body_bytes": 5}, "not known in advance"),
    ({"drip_s": 1, "body_bytes": 5}, "drip_s sends the body indefinitely"),
    ({"drip_s": 1, "cut": {"at": "mid_body"}}, "drip_s sends the body indefinitely"),
    ({"status": 204, "body": "x"}, "an answer 204 has no body"),
    ({"body": "x", "cut": {"at": "mid_body"}}, "at least 2 bytes"),
    ({"cut": {"at": "somewhere"}}, "Invalid enum value 'somewhere'"),
    ({"cut": {"at": "mid_body", "by": "fire"}}, "Invalid enum value 'fire'"),
    ({"interim": {"status": 101}}, "ends HTTP on the connection"),
    ({"interim": {"endless": True}}, "need every_s"),
    ({"body_bytes": 2**60}, "<= 1099511627776"),
    ({"body_bytes": -1}, ">= 0"),
    ({"compressed": "rar"}, "Invalid enum value 'rar'"),
    ({"headers": [["X", ["only one"]]]}, "length >= 2"),
    ({"headers": [["X", ["a", "b\r\nc: d"]]]}, "matching regex"),
    ({"filler_headers": 10**9}, "<= 100000"),
    ({"retry_after_s": "soon"}, "retry_after_s"),
    ({"times": 10**99}, "times"),
    ({"delay_s": "nan"}, "delay_s"),
]


@pytest.mark.parametrize(("written", "message"), REFUSED)
def test_a_reply_that_cannot_be_carried_out_is_refused_in_one_line(
    written: dict[str, object], message: str
) -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.json.decode(json.dumps(written), type=Reply)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(Reply.__struct_fields__), json_values, max_size=4))
def test_any_values_make_a_reply_that_can_be_carried_out_or_are_refused(
    written: dict[str, object],
) -> None:
    try:
        reply = msgspec.convert(written, Reply)
    except msgspec.ValidationError:
        return
    if not reply.drip_s and (reply.body_bytes or 0) < 10**6:
        b"".join(
            body_pieces(reply, transmission_of(reply, keep_alive=True, http_1_0=False, now=0.0))
        )


SCRIPT = """
tokens:
  orders:
    replies:
      - {status: 503, times: 2, retry_after_s: 1}
      - {status: 200, body: thanks}
    secrets: {secrets: [a-secret], dialect: reference, scheme: advanced}
  login:
    token_server: {clients: [{client_id: shop, client_secret: hush}]}
"""


def test_a_script_file_configures_tokens_from_the_start(tmp_path: Path) -> None:
    file = tmp_path / "script.yaml"
    file.write_text(SCRIPT)
    with receiver("--http", "--script", str(file)) as process:
        assert [process.post("/orders")[9:12] for _ in range(4)] == [b"503", b"503", b"200", b"200"]
        summary = process.call(lambda client: client.summary("orders"))
        assert (summary["arrived"], summary["verified"], summary["unverified"]) == (
            4,
            0,
            {"missing header": 4},
        )
        form = b"grant_type=client_credentials&client_id=shop&client_secret=hush"
        kind = b"Content-Type: application/x-www-form-urlencoded\r\n"
        assert b'"access_token"' in process.post("/login", form, headers=kind)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "tokens: {a: {replies: [{status: 42}]}}",
            ":1: tokens.a.replies[0].status: expected a whole number of at least 200",
        ),
        (
            "tokens:\n  a:\n    replies:\n      - status: 200\n        stauts: 1",
            ":5: tokens.a.replies[0].stauts: unknown key; did you mean status?",
        ),
        ("tokens: {a: {replies: []}}", "expected a list that is not empty; found an empty list"),
        ("tokens: {a b: {}}", "expected a token, made of letters"),
        ("token: {}", "token: unknown key; did you mean tokens?"),
        ("tokens: [1]", ":1: tokens: expected a mapping; found a list"),
        ("", ":1: expected one key, tokens, with the name of each token below it"),
        ("tokens: {a: {secrets: {secrets: [x], dialect: refrence}}}", "did you mean reference?"),
        (
            "tokens: {a: {secrets: {secrets: [x], dialect: standard-webhooks}}}",
            "secret 0 does not begin with",
        ),
        ("tokens: {a: {replies: [{}], token_server: {}}}", "not both"),
        (
            "tokens: {a: {token_server: {clients: [{client_id: x}]}}}",
            "needs a client_secret or a public_key",
        ),
        ("tokens: &x {a: *x}", "is not accepted"),
    ],
)
def test_a_script_file_that_is_wrong_is_refused_with_a_line_for_each_problem(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "script.yaml"
    file.write_text(text)
    completed = run("receive", "--script", str(file))
    assert completed.returncode == 64
    assert message in completed.stderr
    assert all(f"{file}:" in line for line in completed.stderr.splitlines())


def test_all_problems_of_a_script_file_are_reported_at_once(tmp_path: Path) -> None:
    file = tmp_path / "script.yaml"
    file.write_text(
        "tokens:\n  a:\n    replies:\n      - {status: 42}\n      - {delay_s: soon, hnag: true}\n"
        "  b c: {}\n"
    )
    reported = run("receive", "--script", str(file)).stderr.removeprefix("hookproof: ")
    places = [line.removeprefix(f"{file}:").split(": ")[:2] for line in reported.splitlines()]
    assert places == [
        ["4", "tokens.a.replies[0].status"],
        ["5", "tokens.a.replies[1].delay_s"],
        ["5", "tokens.a.replies[1].hnag"],
        ["6", "tokens.b c"],
    ]


def test_a_script_file_that_is_not_there_is_reported_in_one_line(tmp_path: Path) -> None:
    completed = run("receive", "--script", str(tmp_path / "none.yaml"))
    assert (completed.returncode, completed.stderr.count("\n")) == (64, 1)


def test_a_script_for_some_requests_is_not_used_up_by_others() -> None:
    with receiver("--http") as running:
        token = running.new_token()
        replies = [Reply(status=503), Reply(status=201)]
        running.call(lambda client: client.script(token, replies, only_for="mine"))
        bodies = (b"yours", b'{"is": "mine"}', b"yours", b"mine too")
        answers = [running.post(f"/{token}", body) for body in bodies]
        assert [answer.split(b" ", 2)[1] for answer in answers] == [b"200", b"503", b"200", b"201"]
        marked = running.post(f"/{token}", headers=b"X-Marker: mine\r\n")
        assert marked.startswith(b"HTTP/1.1 201 ")


def test_a_script_for_some_requests_has_to_read_them() -> None:
    unread = Reply(cut=Cut(at="before_reading"))
    with pytest.raises(ValueError, match="only_for looks into requests"):
        Script(replies=(unread,), only_for="mine")
    with pytest.raises(ValueError, match="a visit has no body"):
        Script(replies=(unread,), visits=True)
