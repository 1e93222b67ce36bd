import asyncio
import gc
import threading
from typing import Any

import aiohttp
import pytest

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.target.circuit_breaker import Breaker, RunOver
from hookproof.conformance.target.client import ApiClient, Key
from hookproof.conformance.target.definition import Project
from tests.conformance.canned_evidence import context
from tests.conformance.scripted_target import closed_port, response, stand_in

PROJECT = Project(id="p/1", api_key="key-one")


def call(
    url: str, *, breaker: Breaker | None = None, timeout_s: float = 5.0, **arguments: Any
) -> Exchange:
    async def send() -> Exchange:
        check_context = context()
        async with ApiClient(
            url,
            check_context.contract,
            check_context.dialect,
            timeout_s=timeout_s,
            breaker=breaker or Breaker(),
        ) as api:
            return await api.call(
                **{"operation_id": "listSources", "role": "r", "project": PROJECT, **arguments}
            )

    return asyncio.run(send())


def request_head(**arguments: Any) -> list[bytes]:
    """The lines of the request's head, as they were on the wire."""
    heads = []

    def answer(head: bytes) -> bytes:
        heads.append(head)
        return response(200)

    with stand_in(answer) as url:
        call(url, **arguments)
    return heads[0].partition(b"\r\n\r\n")[0].split(b"\r\n")


def test_a_response_is_recorded_byte_for_byte() -> None:
    body = b'{"a":\xff}'
    with stand_in(lambda _: response(418, body, b"X-Odd:  v\xe9 ")) as url:
        exchange = call(url)
    assert (exchange.status, exchange.response_body) == (418, body)
    assert ("X-Odd", "v\xe9") in exchange.response_headers
    assert (exchange.role, exchange.operation_id, exchange.project) == ("r", "listSources", "p/1")


def test_path_parameters_are_encoded_and_the_query_is_appended() -> None:
    line = request_head(
        operation_id="getEndpoint", path={"endpointID": "a/b ?"}, query={"x": "a b"}
    )[0]
    assert line == b"GET /api/v1/projects/p%2F1/endpoints/a%2Fb%20%3F?x=a+b HTTP/1.1"


@pytest.mark.parametrize(
    ("key", "sent"),
    [
        (Key.OWN, b"Authorization: Bearer key-one"),
        (Key.TRUNCATED, b"Authorization: Bearer key-on"),
        (Key.BARE, b"Authorization: key-one"),
        (Key.EMPTY, b"Authorization: "),
        (Key.WRONG, b"Authorization: Bearer never-issued-key"),
    ],
)
def test_the_key_is_written_as_the_dialect_says(key: Key, sent: bytes) -> None:
    assert sent in request_head(key=key)


def test_no_key_means_no_header() -> None:
    assert not [
        line for line in request_head(key=Key.NONE) if line.lower().startswith(b"authorization")
    ]


def test_only_a_body_has_a_content_type() -> None:
    declared = b"Content-Type: application/json"
    assert declared in request_head(operation_id="createEndpoint", body={"name": "x"})
    assert declared not in request_head()
    own = request_head(
        operation_id="createEndpoint", raw_body=b"{", headers=[("content-type", "text/plain")]
    )
    assert b"content-type: text/plain" in own
    assert declared not in own


def test_a_redirect_is_not_followed() -> None:
    heads = []

    def answer(head: bytes) -> bytes:
        heads.append(head)
        return response(302, b"", b"Location: /elsewhere")

    with stand_in(answer) as url:
        assert call(url).status == 302
    assert len(heads) == 1


def test_a_closed_port_is_a_problem_and_not_an_exception() -> None:
    with closed_port() as url:
        exchange = call(url)
    assert exchange.status is None
    assert exchange.problem is not None
    assert "ClientConnectorError" in exchange.problem


@pytest.mark.parametrize(
    "answer",
    [
        None,
        b"not HTTP at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
    ],
    ids=["nothing", "garbage", "half", "bad chunk", "bad length", "long header"],
)
def test_an_incomplete_or_malformed_answer_is_a_problem(answer: bytes | None) -> None:
    with stand_in(lambda _: answer) as url:
        exchange = call(url)
    assert exchange.status is None
    assert exchange.problem


def test_no_answer_is_a_problem_after_the_timeout() -> None:
    call_ended = threading.Event()

    def answer(_head: bytes) -> None:
        call_ended.wait(20)

    with stand_in(answer) as url:
        exchange = call(url, timeout_s=0.2)
        call_ended.set()
    assert exchange.status is None
    assert exchange.problem == "TimeoutError: no whole answer within 0.2 s"


def test_an_answer_that_is_too_long_is_cut_off() -> None:
    with stand_in(lambda _: response(200, b"x" * (17 * 1024 * 1024))) as url:
        exchange = call(url)
    assert exchange.problem is not None
    assert "longer than" in exchange.problem
    assert exchange.response_body == b""


def test_a_header_that_cannot_be_sent_is_a_problem() -> None:
    with stand_in(lambda _: response(200)) as url:
        exchange = call(url, headers=[("X-Bad", "a\r\nb")])
    assert exchange.status is None
    assert exchange.problem


def test_no_call_is_sent_after_the_run_is_over() -> None:
    breaker = Breaker()
    breaker.open()
    heads: list[bytes] = []

    def answer(head: bytes) -> bytes:
        heads.append(head)
        return response(200)

    with stand_in(answer) as url, pytest.raises(RunOver):
        call(url, breaker=breaker)
    assert heads == []


@pytest.mark.parametrize("status", [None, 502, 503, 504])
def test_a_call_that_the_target_may_not_have_answered_is_suspicious(status: int | None) -> None:
    breaker = Breaker()
    breaker.note(500, sent_at=7.0)
    assert not breaker.suspected.is_set()
    breaker.note(status, sent_at=9.0)
    assert breaker.suspected.is_set()
    assert breaker.answered_at == 7.0


def test_an_answer_to_an_earlier_request_does_not_make_the_latest_one_older() -> None:
    breaker = Breaker()
    for sent_at in (3.0, 9.0, 5.0):
        breaker.note(200, sent_at=sent_at)
    assert breaker.answered_at == 9.0


@pytest.mark.parametrize(
    ("error", "logged"),
    [(aiohttp.ClientConnectionResetError("closed"), False), (ZeroDivisionError("why"), True)],
    ids=repr,
)
def test_a_second_failure_of_a_request_is_not_logged_and_any_other_error_is(
    error: Exception, logged: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail() -> None:
        raise error

    async def drop_failed_task() -> None:
        check_context = context()
        async with ApiClient(
            "http://x.invalid",
            check_context.contract,
            check_context.dialect,
            timeout_s=1,
            breaker=Breaker(),
        ):
            task = asyncio.ensure_future(fail())
            await asyncio.wait([task])
            del task
            gc.collect()  # asyncio reports an exception that was not retrieved as its task goes

    asyncio.run(drop_failed_task())
    assert bool(caplog.records) == logged
