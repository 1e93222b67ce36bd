"""The control API and its client: tokens, scripts, waiting, reset."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator

import pytest

from hookproof.control import client as control_client
from hookproof.receiver.client.control_api import ReceiverClient, ReceiverFailed
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.replies.script import Reply
from tests.receiver.receiver_process import (
    DEADLINE_S,
    ReceiverProcess,
    empty_post,
    read_to_end,
    receiver,
)


@pytest.fixture(scope="module")
def running() -> Iterator[ReceiverProcess]:
    with receiver() as process:
        yield process
        assert process.log.empty(), process.log.get()


def set_script(process: ReceiverProcess, *replies: Reply) -> str:
    token = process.new_token()
    process.call(lambda client: client.script(token, replies))
    return token


def statuses(process: ReceiverProcess, token: str, count: int) -> list[int]:
    return [int(process.post(f"/{token}").split()[1]) for _ in range(count)]


def test_tokens_are_distinct_and_their_urls_lead_to_them(running: ReceiverProcess) -> None:
    first, second = (running.call(lambda client: client.new_token()) for _ in range(2))
    assert first.token != second.token
    assert first.url == f"{running.url}/{first.token}"


def test_without_a_script_the_answer_is_200(running: ReceiverProcess) -> None:
    assert statuses(running, running.new_token(), 2) == [200, 200]


def test_replies_are_given_in_order_and_the_last_one_indefinitely(running: ReceiverProcess) -> None:
    token = set_script(running, Reply(status=503, times=2), Reply(status=302), Reply(status=204))
    assert statuses(running, token, 6) == [503, 503, 302, 204, 204, 204]
    deliveries = running.call(lambda client: client.deliveries(token, 6))
    assert [delivery.status for delivery in deliveries] == [503, 503, 302, 204, 204, 204]


def test_a_new_script_starts_with_its_first_reply(running: ReceiverProcess) -> None:
    token = set_script(running, Reply(status=500), Reply(status=501))
    assert statuses(running, token, 1) == [500]
    running.call(lambda client: client.script(token, [Reply(status=400), Reply(status=401)]))
    assert statuses(running, token, 3) == [400, 401, 401]


def test_each_token_has_its_own_script(running: ReceiverProcess) -> None:
    failing, other = set_script(running, Reply(status=500)), running.new_token()
    assert statuses(running, failing, 1) == [500]
    assert statuses(running, other, 1) == [200]


def test_a_reply_carries_its_headers_and_body(running: ReceiverProcess) -> None:
    headers = (("Retry-After", "7"), ("X-Same", "a"), ("x-same", "\xe9"))
    token = set_script(running, Reply(status=599, headers=headers, body="caf\u00e9"))
    head, _, body = running.post(f"/{token}").partition(b"\r\n\r\n")
    assert body == "caf\u00e9".encode()
    assert b"\r\nRetry-After: 7\r\n" in head
    assert b"\r\nX-Same: a\r\nx-same: \xc3\xa9\r\n" in head


def test_a_delayed_reply_comes_after_its_delay(running: ReceiverProcess) -> None:
    token = set_script(running, Reply(delay_s=0.2))
    assert running.post(f"/{token}").startswith(b"HTTP/1.1 200 ")
    (delivery,) = running.call(lambda client: client.deliveries(token))
    assert delivery.completed_monotonic is not None
    # Timers of an event loop count in milliseconds, from the beginning of the loop's turn.
    assert delivery.completed_monotonic - delivery.arrived_monotonic >= 0.19


HELD_BACK = [Reply(hang=True), Reply(delay_s=3000), Reply(drip_s=3000)]
held_back = pytest.mark.parametrize("reply", HELD_BACK, ids=["hang", "delay", "drip"])


def receive_some(connection: socket.socket) -> bytes:
    """Receive the next bytes, of which there must be some."""
    received = connection.recv(2**16)
    assert received
    return received


def when_closed(process: ReceiverProcess, token: str) -> ReceivedDelivery:
    """The token's only delivery, once its sender is known to have disconnected."""

    async def wait_until_closed(client: ReceiverClient) -> ReceivedDelivery:
        async with asyncio.timeout(DEADLINE_S):
            while True:
                (delivery,) = await client.deliveries(token)
                if delivery.closed_monotonic is not None:
                    return delivery

    return process.call(wait_until_closed)


@held_back
def test_a_reply_that_is_held_back_leaves_the_delivery_unanswered(
    running: ReceiverProcess, reply: Reply
) -> None:
    token = set_script(running, reply)
    with running.connection() as connection:
        connection.sendall(empty_post(token))
        (delivery,) = running.call(lambda client: client.deliveries(token))
        assert (delivery.status, delivery.completed_monotonic, delivery.closed_monotonic) == (
            None,
            None,
            None,
        )
        if not reply.drip_s:
            connection.setblocking(False)
            with pytest.raises(OSError, match=r"did not complete|unavailable"):
                connection.recv(1)


@held_back
def test_the_time_is_reported_when_a_sender_leaves_before_it_was_answered(
    running: ReceiverProcess, reply: Reply
) -> None:
    token = set_script(running, reply)
    with running.connection() as connection:
        connection.sendall(empty_post(token))
        running.call(lambda client: client.deliveries(token))
    delivery = when_closed(running, token)
    assert delivery.closed_monotonic is not None
    assert delivery.closed_monotonic > delivery.arrived_monotonic
    assert (delivery.status, delivery.completed_monotonic) == (None, None)


def test_a_dripping_reply_sends_its_head_and_then_its_body_byte_by_byte_over_and_over(
    running: ReceiverProcess,
) -> None:
    token = set_script(running, Reply(status=203, body="ab", drip_s=0.01))
    received = b""
    with running.connection() as connection:
        connection.sendall(empty_post(token))
        while received.count(b"\r\na\r\n") < 3:
            received += receive_some(connection)
    head, _, body = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 203 ")
    assert body.startswith(b"1\r\na\r\n1\r\nb\r\n1\r\na\r\n")


def test_a_dripping_reply_over_http_1_0_is_sent_without_chunks(running: ReceiverProcess) -> None:
    token = set_script(running, Reply(drip_s=0.01))
    with running.connection() as connection:
        connection.sendall(f"POST /{token} HTTP/1.0\r\nContent-Length: 0\r\n\r\n".encode())
        received = b""
        while b"\r\n\r\n   " not in received:
            received += receive_some(connection)


def test_a_script_for_visits_answers_them_too(running: ReceiverProcess) -> None:
    token = running.call(lambda client: client.new_token()).token
    replies = [Reply(status=404), Reply(status=501)]
    running.call(lambda client: client.script(token, replies, visits=True))
    visit = f"HEAD /{token} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    assert running.exchange(visit).startswith(b"HTTP/1.1 404 ")
    assert statuses(running, token, 1) == [501]


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_a_visit_is_answered_at_once_and_uses_up_no_reply(
    running: ReceiverProcess, method: str
) -> None:
    token = set_script(running, Reply(status=500), Reply(status=501))
    visit = f"{method} /{token} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    assert running.exchange(visit).startswith(b"HTTP/1.1 200 ")
    assert statuses(running, token, 2) == [500, 501]
    assert running.exchange(visit).startswith(b"HTTP/1.1 200 ")
    deliveries = running.call(lambda client: client.deliveries(token, 4))
    assert [(delivery.method, delivery.status) for delivery in deliveries] == [
        (method, 200),
        ("POST", 500),
        ("POST", 501),
        (method, 200),
    ]


def test_a_sender_that_gives_up_on_a_hanging_reply_can_send_again(running: ReceiverProcess) -> None:
    token = set_script(running, Reply(hang=True), Reply(status=201))
    with running.connection() as connection:
        connection.sendall(empty_post(token))
        running.call(lambda client: client.deliveries(token))
    assert statuses(running, token, 1) == [201]
    assert [d.status for d in running.call(lambda client: client.deliveries(token, 2))] == [
        None,
        201,
    ]


def test_waiting_ends_when_as_many_deliveries_arrived_as_were_waited_for(
    running: ReceiverProcess,
) -> None:
    token = running.new_token()
    senders = [
        threading.Thread(target=running.post, args=(f"/{token}", b"%d" % number))
        for number in range(5)
    ]

    async def wait() -> int:
        async with ReceiverClient(running.control) as client:
            waiting = asyncio.create_task(client.deliveries(token, 5, timeout_s=DEADLINE_S))
            assert await client.deliveries(token, 0) == ()
            for sender in senders:
                sender.start()
            return len(await waiting)

    assert asyncio.run(wait()) == 5
    for sender in senders:
        sender.join()


def test_waiting_without_enough_deliveries_ends_with_what_there_is(
    running: ReceiverProcess,
) -> None:
    token = running.new_token()
    running.post(f"/{token}")
    assert len(running.call(lambda client: client.deliveries(token, 2, timeout_s=0.05))) == 1
    status, text = running.call_over_http("GET", f"/tokens/{token}/deliveries?count=2&timeout=0.05")
    assert (status, json.loads(text)["complete"]) == (200, False)
    status, text = running.call_over_http("GET", f"/tokens/{token}/deliveries?count=1")
    assert (status, json.loads(text)["complete"]) == (200, True)


def test_a_query_can_begin_after_a_sequence_and_end_at_a_limit(running: ReceiverProcess) -> None:
    token = running.new_token()
    for number in range(4):
        running.post(f"/{token}", b"%d" % number)
    later = running.call(lambda client: client.deliveries(token, 2, after=2))
    assert [(d.sequence, d.body) for d in later] == [(3, b"2"), (4, b"3")]
    _, text = running.call_over_http("GET", f"/tokens/{token}/deliveries?after=1&limit=2")
    assert [d["sequence"] for d in json.loads(text)["deliveries"]] == [2, 3]


def test_deliveries_are_separate_by_token(running: ReceiverProcess) -> None:
    first, second = running.new_token(), running.new_token()
    running.post(f"/{first}", b"1")
    running.post(f"/{second}", b"2")
    assert [d.body for d in running.call(lambda client: client.deliveries(second))] == [b"2"]


def test_reset_forgets_everything_and_cuts_what_is_pending() -> None:
    with receiver() as process:
        token = set_script(process, Reply(hang=True))
        with process.connection() as connection:
            connection.sendall(empty_post(token))
            process.call(lambda client: client.deliveries(token))
            process.call(lambda client: client.reset())
            assert read_to_end(connection) == b""
        assert process.call(lambda client: client.deliveries(token, 0)) == ()
        assert statuses(process, token, 1) == [200]
        assert process.log.empty(), process.log.get()


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        ('{"replies": []}', "length >= 1"),
        ('{"replies": [{"stauts": 200}]}', "unknown field `stauts`"),
        ('{"replies": [{"status": 100}]}', "$.replies[0].status"),
        ('{"replies": [{"status": "200"}]}', "$.replies[0].status"),
        ('{"replies": [{"times": 0}]}', "$.replies[0].times"),
        ('{"replies": [{"delay_s": -1}]}', "$.replies[0].delay_s"),
        ('{"replies": [{"drip_s": 1e99}]}', "$.replies[0].drip_s"),
        ('{"replies": [{"headers": [["a b", "c"]]}]}', "$.replies[0].headers"),
        ('{"replies": [{"headers": [["a", "b\\r\\nc: d"]]}]}', "$.replies[0].headers"),
        ('{"replies": [{"headers": [["a", "b\\n"]]}]}', "$.replies[0].headers"),
        ('{"replies": [{"headers": [["content-length", "1"]]}]}', "sets content-length itself"),
        ('{"replies"', "truncated"),
        ("", "truncated"),
        ("\xff", "invalid"),
    ],
)
def test_a_script_that_cannot_be_carried_out_is_refused(
    running: ReceiverProcess, replies: str, message: str
) -> None:
    token = running.new_token()
    status, text = running.call_over_http(
        "PUT", f"/tokens/{token}/script", replies.encode("latin-1")
    )
    assert status == 400
    assert message in json.loads(text)["error"]
    assert statuses(running, token, 1) == [200]


@pytest.mark.parametrize(
    "query",
    [
        "count=x",
        "count=-1",
        "timeout=nan",
        "timeout=inf",
        "timeout=-1",
        "after=-1",
        "limit=0",
        "cuont=1",
    ],
)
def test_a_query_that_cannot_be_read_is_refused(running: ReceiverProcess, query: str) -> None:
    status, text = running.call_over_http("GET", f"/tokens/any/deliveries?{query}")
    assert status == 400
    assert json.loads(text)["error"]


@pytest.mark.parametrize(
    "body", [b"{}", b'{"name": ""}', b'{"name": 1}', b"[]", b'{"name": "%s"}' % (b"x" * 65)]
)
def test_a_certificate_without_a_name_is_refused(running: ReceiverProcess, body: bytes) -> None:
    assert running.call_over_http("POST", "/client-certificates", body)[0] == 400


def test_other_paths_and_methods_are_refused_as_json(running: ReceiverProcess) -> None:
    assert running.call_over_http("GET", "/nothing") == (404, '{"error":"404: Not Found"}')
    assert running.call_over_http("DELETE", "/tokens")[0] == 405


def test_the_receiver_reports_its_health(running: ReceiverProcess) -> None:
    assert running.call_over_http("GET", "/health") == (200, '{"status":"ok"}')


def test_a_refusal_reaches_the_user_of_the_client_in_words(running: ReceiverProcess) -> None:
    with pytest.raises(ReceiverFailed, match=r"refused PUT .*length >= 1"):
        running.call(lambda client: client.script("any", []))


def test_without_tls_there_is_no_certificate_to_issue() -> None:
    with receiver("--http") as process, pytest.raises(ReceiverFailed, match="without TLS"):
        process.call(lambda client: client.client_certificate("x"))


def test_an_unreachable_receiver_is_reported_in_words() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"

        async def call() -> None:
            async with ReceiverClient(url) as client:
                await client.new_token()

        with pytest.raises(ReceiverFailed, match="does not answer"):
            asyncio.run(call())


async def test_no_wait_waits_for_another(running: ReceiverProcess) -> None:
    async with ReceiverClient(running.control) as client:
        tokens = [(await client.new_token()).token for _ in range(120)]
        *others, last = [
            asyncio.create_task(client.deliveries(token, 1, timeout_s=DEADLINE_S))
            for token in tokens
        ]
        running.post(f"/{tokens[-1]}")
        assert len(await last) == 1
        assert not any(other.done() for other in others)
        for token in tokens:
            running.post(f"/{token}")
        await asyncio.gather(*others)


def test_a_receiver_that_is_silent_is_reported_with_how_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def call(url: str) -> None:
        async with ReceiverClient(url) as client:
            await client.new_token()

    monkeypatch.setattr(control_client, "ANSWER_TIMEOUT_S", 0.1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ReceiverFailed, match=r"does not answer: nothing came within 0\.1 s"):
            asyncio.run(call(url))
