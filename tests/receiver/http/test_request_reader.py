"""Requests are parsed as they were sent, however their bytes are split into reads."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.receiver.clock import Instant
from hookproof.receiver.http.request import (
    MOST_BODY_BYTES,
    MOST_HEAD_BYTES,
    MalformedRequest,
    ReceivedRequest,
    RequestReader,
    RequestRefused,
)

NOW = Instant(1735689600.25, 10.5)
REQUESTS = {
    "length": b"POST /a/b?c#d HTTP/1.1\r\nhOsT: x\r\nX:\r\nContent-Length: 5\r\n\r\nhello",
    "chunked": (
        b"PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"3\r\nhel\r\n2;x\r\nlo\r\n0\r\nEnd: t\r\n\r\n"
    ),
    "upgrade": (
        b"POST /a HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\nhello"
    ),
    "chunked upgrade": (
        b"POST /a HTTP/1.1\r\nUpgrade: h2c\r\nConnection: upgrade\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    ),
}


def feed_reader(*reads: bytes) -> RequestReader:
    reader = RequestReader()
    for read in reads:
        reader.feed(read, NOW)
    return reader


def only_request(reader: RequestReader) -> ReceivedRequest:
    (request,) = reader.whole
    return request


@pytest.mark.parametrize("sent", REQUESTS.values(), ids=REQUESTS)
@given(cuts=st.lists(st.integers(1, 120), max_size=6))
def test_the_same_request_is_read_wherever_its_bytes_are_cut(sent: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(sent)]
    reader = feed_reader(*(sent[begin:end] for begin, end in pairwise(edges)))
    assert only_request(reader) == only_request(feed_reader(sent))
    assert only_request(reader).body == b"hello"
    assert reader.partial is None


@pytest.mark.parametrize("sent", REQUESTS.values(), ids=REQUESTS)
def test_what_follows_a_request_is_read_too(sent: bytes) -> None:
    reader = feed_reader(sent + b"CONNECT far:1 HTTP/1.1\r\n\r\n" + sent)
    assert [request.method for request in reader.whole][1] == "CONNECT"
    assert [len(request.body) for request in reader.whole] == [5, 0, 5]


def test_a_request_of_which_the_body_is_missing_is_partial() -> None:
    reader = feed_reader(REQUESTS["length"][:-1])
    assert not reader.whole
    assert reader.partial is not None
    assert reader.partial.headers == ((b"hOsT", b"x"), (b"X", b""), (b"Content-Length", b"5"))


def test_nothing_is_read_behind_a_request_that_ends_its_connection() -> None:
    last = b"GET /a HTTP/1.1\r\nConnection: close\r\n\r\n"
    assert len(feed_reader(last + last).whole) == 1
    assert len(feed_reader(last, last).whole) == 1
    assert len(feed_reader(b"GET /a HTTP/1.0\r\n\r\n" + last).whole) == 1
    reader = feed_reader(last)
    reader.whole.clear()
    reader.feed(b"nonsense", NOW)
    assert not reader.whole


@pytest.mark.parametrize(
    ("target", "token"),
    [
        ("/a/b", "a"),
        ("/", ""),
        ("//b", ""),
        ("/a?b", "a"),
        ("http://h/a/b", "a"),
        ("http://h", ""),
        ("*", "*"),
    ],
)
def test_a_token_is_the_first_segment_of_the_path(target: str, token: str) -> None:
    assert only_request(feed_reader(f"OPTIONS {target} HTTP/1.1\r\n\r\n".encode())).token == token


def test_a_target_that_is_not_a_url_is_refused() -> None:
    with pytest.raises(MalformedRequest, match="not a URL"):
        feed_reader(b"GET http://[a/ HTTP/1.1\r\n\r\n")


@pytest.mark.parametrize("size", [1, 1000, 10**6])
def test_a_head_may_be_so_long_however_it_comes(size: int) -> None:
    start, value = b"GET /a HTTP/1.1\r\nX: ", b"x" * (MOST_HEAD_BYTES - 3)
    for extra, accepted in ((b"", True), (b"x", False)):
        head = start + value + extra + b"\r\n\r\n"
        reads = [head[at : at + size] for at in range(0, len(head), size)]
        if accepted:
            assert only_request(feed_reader(*reads)).headers == ((b"X", value),)
        else:
            with pytest.raises(MalformedRequest, match="more than 65536 bytes"):
                feed_reader(*reads)


def test_a_head_without_an_end_is_refused_before_it_is_large() -> None:
    with pytest.raises(MalformedRequest):
        feed_reader(b"GET /a HTTP/1.1\r\nX: ", *[b"xx"] * (MOST_HEAD_BYTES + 2))


def test_headers_behind_a_body_take_no_memory() -> None:
    reader = feed_reader(
        b"PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", *[b"A: b\r\n"] * 100
    )
    assert len(reader._headers) == 1


def test_what_came_whole_before_an_error_is_kept() -> None:
    reader = RequestReader()
    with pytest.raises(MalformedRequest):
        reader.feed(REQUESTS["length"] + b"nonsense\r\n\r\n", NOW)
    assert only_request(reader).body == b"hello"


def test_a_body_beyond_the_bound_is_refused_and_its_request_partial() -> None:
    reader = feed_reader(
        b"POST /a HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (MOST_BODY_BYTES + 1)
        + b"x" * MOST_BODY_BYTES
    )
    with pytest.raises(RequestRefused) as refused:
        reader.feed(b"x", NOW)
    assert refused.value.status == 413
    assert f"more than {MOST_BODY_BYTES} bytes" in str(refused.value)
    assert "--max-body" in str(refused.value)
    assert reader.partial is not None


@pytest.mark.parametrize("version", [b"2.0", b"0.9"])
def test_another_version_of_http_is_refused(version: bytes) -> None:
    sent = REQUESTS["length"].replace(b"HTTP/1.1", b"HTTP/" + version)
    reader = RequestReader()
    with pytest.raises(RequestRefused) as refused:
        reader.feed(sent + REQUESTS["length"], NOW)
    assert refused.value.status == 505
    reader.feed(REQUESTS["length"], NOW)
    assert not reader.whole


@given(
    st.lists(
        st.binary(max_size=60) | st.sampled_from([*REQUESTS.values(), b"GET ", b"\r\n", b"5\r\n"])
    )
)
def test_any_bytes_are_requests_or_refused(reads: list[bytes]) -> None:
    reader = RequestReader()
    for read in reads:
        try:
            reader.feed(read, NOW)
        except RequestRefused:
            return
