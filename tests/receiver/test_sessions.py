"""Sessions separate parallel runs at one receiver, and free what they had."""

import asyncio
from collections.abc import Iterator

import pytest

from hookproof.receiver.client.control_api import ReceiverClient, ReceiverFailed
from hookproof.receiver.inbox.store import InboxLimits, QueryResult
from hookproof.receiver.replies.script import Reply
from hookproof.receiver.session import Sessions, TokenTaken, TooManySessions
from hookproof.receiver.signatures.token_secrets import TokenSecrets
from tests.receiver.inbox.inbox_fixtures import make_sessions, wait_for_waiter
from tests.receiver.receiver_process import (
    DEADLINE_S,
    ReceiverProcess,
    empty_post,
    read_to_end,
    receiver,
)

INBOX_LIMITS = InboxLimits(deliveries=10, memory_bytes=10**6, disk_bytes=0)


@pytest.fixture(scope="module")
def running() -> Iterator[ReceiverProcess]:
    with receiver("--http") as process:
        yield process
        assert process.log.empty(), process.log.get()


def test_what_one_session_has_another_does_not_find(running: ReceiverProcess) -> None:
    async def work(client: ReceiverClient) -> None:
        async with client.session() as ours, client.session() as theirs:
            token = (await ours.new_token()).token
            await asyncio.to_thread(running.post, f"/{token}", b"ours")
            (delivery,) = await ours.deliveries(token)
            assert delivery.body == b"ours"
            for other in (theirs, client):
                with pytest.raises(ReceiverFailed, match="does not belong to this session"):
                    await other.deliveries(token)
                with pytest.raises(ReceiverFailed, match="does not belong to this session"):
                    await other.script(token, [Reply(status=500)])
                with pytest.raises(ReceiverFailed, match="belongs to another session"):
                    await other.new_token(token)

    running.call(work)


def test_a_reset_of_one_session_leaves_the_others_alone(running: ReceiverProcess) -> None:
    async def work(client: ReceiverClient) -> None:
        async with client.session() as ours, client.session() as theirs:
            tokens = [(await user.new_token()).token for user in (ours, theirs, client)]
            await theirs.script(tokens[1], [Reply(status=503)])
            for token in tokens:
                await asyncio.to_thread(running.post, f"/{token}")
            await ours.reset()
            with pytest.raises(ReceiverFailed, match="does not belong"):
                await ours.deliveries(tokens[0])
            assert len(await theirs.deliveries(tokens[1])) == 1
            assert len(await client.deliveries(tokens[2])) == 1
            assert b" 503 " in await asyncio.to_thread(running.post, f"/{tokens[1]}")

    running.call(work)


def test_a_reset_cuts_only_what_is_pending_in_its_own_session(running: ReceiverProcess) -> None:
    async def hanging_token(client: ReceiverClient) -> str:
        token = (await client.new_token()).token
        await client.script(token, [Reply(hang=True)])
        return token

    async def work(client: ReceiverClient) -> None:
        async with client.session() as ours:
            mine, other = await hanging_token(ours), await hanging_token(client)
            with running.connection() as first, running.connection() as second:
                first.sendall(empty_post(mine))
                second.sendall(empty_post(other))
                await ours.deliveries(mine)
                await client.deliveries(other)
                await ours.reset()
                assert await asyncio.to_thread(read_to_end, first) == b""
                (delivery,) = await client.deliveries(other)
                assert delivery.closed_monotonic is None

    running.call(work)


def test_a_session_that_accepts_all_answers_what_failed_with_success(
    running: ReceiverProcess,
) -> None:
    async def work(client: ReceiverClient) -> None:
        async with client.session() as ours:
            assert await ours.last_arrival_s_ago() is None
            failing, hanging = [(await ours.new_token()).token for _ in range(2)]
            await ours.script(failing, [Reply(status=500)])
            await ours.script(hanging, [Reply(hang=True)])
            with running.connection() as connection:
                connection.sendall(empty_post(hanging))
                await ours.deliveries(hanging)
                assert await ours.accept_all() == 1
                assert await asyncio.to_thread(read_to_end, connection) == b""
            for token in (failing, hanging):
                assert b" 200 " in await asyncio.to_thread(running.post, f"/{token}")
            assert await ours.accept_all() == 0
            last_s_ago = await ours.last_arrival_s_ago()
            assert last_s_ago is not None
            assert 0 <= last_s_ago < DEADLINE_S
            assert await client.accept_all() == 0

    running.call(work)


def test_an_ended_session_is_gone_with_all_it_had(running: ReceiverProcess) -> None:
    async def work(client: ReceiverClient) -> None:
        async with client.session() as ours:
            token = (await ours.new_token()).token
            await ours.script(token, [Reply(status=500)])
            (name,) = (await client.call("GET", "/sessions"))["sessions"]
            assert (await client.call("GET", f"/sessions/{name}/tokens"))["tokens"][0][
                "token"
            ] == token
        with pytest.raises(ReceiverFailed, match="there is no session"):
            await client.call("GET", f"/sessions/{name}/tokens")
        assert b" 200 " in await asyncio.to_thread(running.post, f"/{token}")
        assert (await client.call("GET", "/sessions"))["sessions"] == []

    running.call(work)


async def test_waiting_in_a_session_that_ends_stops_at_its_timeout() -> None:
    sessions = make_sessions(INBOX_LIMITS)
    ours = sessions.open()
    sessions.issue(ours, "t")
    waiting = asyncio.create_task(ours.inbox.wait("t", after=0, count=1, timeout_s=0.2))
    await wait_for_waiter(ours.inbox, "t")
    sessions.end(ours)
    result = await asyncio.wait_for(waiting, DEADLINE_S)
    assert result == QueryResult(deliveries=(), complete=False, dropped=0)


def test_a_session_that_was_ended_early_is_reported_at_the_end_of_its_block(
    running: ReceiverProcess,
) -> None:
    async def work(client: ReceiverClient) -> None:
        async with client.session() as ours:
            await ours.call("DELETE", "")

    with pytest.raises(ReceiverFailed, match="there is no session"):
        running.call(work)


def test_secrets_of_a_token_are_what_its_deliveries_are_judged_by(running: ReceiverProcess) -> None:
    token = running.new_token()
    token_secrets = TokenSecrets(secrets=("s",), scheme="simple")
    running.call(lambda client: client.secrets(token, token_secrets))
    running.post(f"/{token}", b"{}")
    summary = running.call(lambda client: client.summary(token))
    assert (summary["verified"], summary["unverified"]) == (0, {"missing header": 1})
    shown = running.call(lambda client: client.call("GET", f"/tokens/{token}/deliveries"))
    assert shown["deliveries"][0]["verdict"]["reason"] == "missing header"


def test_a_rate_is_reported_over_the_control_api(running: ReceiverProcess) -> None:
    token = running.new_token()
    for _ in range(3):
        running.post(f"/{token}")
    result = running.call(lambda client: client.rate(token, 60.0))
    assert (result.highest, result.total, result.examined) == (3, 3, 3)
    assert result.first_at is not None
    assert result.first_at == result.highest_at
    with pytest.raises(ReceiverFailed, match="window"):
        running.call(lambda client: client.rate(token, 0.0))


def test_deliveries_can_be_filtered_by_method_and_header(running: ReceiverProcess) -> None:
    token = running.new_token()
    running.post(f"/{token}", b"1", headers=b"X-Id: a\r\n")
    running.post(f"/{token}", b"2")
    running.exchange(f"PUT /{token} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    result = running.call(
        lambda client: client.matching_deliveries(token, 1, method="POST", header="x-id: a")
    )
    assert [delivery.body for delivery in result] == [b"1"]
    result = running.call(lambda client: client.matching_deliveries(token, 1, method="put"))
    assert [delivery.sequence for delivery in result] == [3]
    assert (
        running.call(lambda client: client.matching_deliveries(token, 1, 0.05, method="DELETE"))
        == ()
    )


def test_more_deliveries_than_a_page_holds_all_reach_the_client(running: ReceiverProcess) -> None:
    token = running.new_token()
    request = empty_post(token)
    last = request.replace(b"Content-Length", b"Connection: close\r\nContent-Length")
    running.exchange(request * 2500 + last)
    result = running.call(lambda client: client.deliveries(token, 2501))
    assert [delivery.sequence for delivery in result] == list(range(1, 2502))


def sessions_with_clock(clock: list[float], max_sessions: int = 2) -> Sessions:
    names = iter("abcdefgh")
    return Sessions(
        limits=INBOX_LIMITS,
        max_sessions=max_sessions,
        idle_s=60.0,
        clock=lambda: clock[0],
        new_name=lambda: next(names),
    )


def test_there_are_no_more_sessions_than_there_may_be() -> None:
    all_sessions = sessions_with_clock([0.0])
    all_sessions.open()
    all_sessions.open()
    with pytest.raises(TooManySessions, match="2 sessions already"):
        all_sessions.open()


def test_an_idle_session_makes_room_for_a_new_one() -> None:
    clock = [0.0]
    all_sessions = sessions_with_clock(clock)
    idle, used = all_sessions.open(), all_sessions.open()
    clock[0] = 50.0
    assert all_sessions.find(used.name) is used
    clock[0] = 70.0
    assert all_sessions.open().name == "c"
    assert all_sessions.find(idle.name) is None
    assert all_sessions.find(used.name) is used


def test_a_token_of_the_default_session_belongs_to_no_other_session() -> None:
    all_sessions = sessions_with_clock([0.0])
    all_sessions.issue(all_sessions.default, "t")
    with pytest.raises(TokenTaken):
        all_sessions.issue(all_sessions.open(), "t")
    all_sessions.reset(all_sessions.default)
    all_sessions.issue(all_sessions.open(), "t")
