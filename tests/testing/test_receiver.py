"""`hookproof.Receiver` as the tests of others use it."""

import asyncio
import gzip
import socket
import ssl
import threading
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from hookproof import Receiver, Reply
from hookproof.receiver.client.child_process import ChildFailed
from hookproof.receiver.client.control_api import ReceiverFailed
from hookproof.testing.failure_report import fixture_sections
from tests.quick_start.children import usual_children
from tests.testing.sender import SECRET, post, signature

# No delivery comes within this time.
SOON_S = 0.2


@pytest.fixture(scope="module")
def running() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def receiver(running: Receiver) -> Receiver:
    return running.another()


def send(receiver: Receiver, body: bytes = b"{}", secret: str | None = None) -> int:
    headers = {} if secret is None else signature(body, secret)
    return post(receiver.url, receiver.ca_file, body, headers)


def test_replies_are_used_one_after_the_other_and_the_last_one_again(receiver: Receiver) -> None:
    receiver.reply_with(503, Reply(status=429, retry_after_s=1), 204)
    assert [send(receiver) for _ in range(4)] == [503, 429, 204, 204]


def test_a_reply_that_cannot_be_sent_is_refused(receiver: Receiver) -> None:
    with pytest.raises(ReceiverFailed, match="status"):
        receiver.reply_with(42)


def test_deliveries_are_kept_as_they_arrived(receiver: Receiver) -> None:
    post(f"{receiver.url}/orders?a=1", receiver.ca_file, b'{"a": 1}', {"X-Own": "2"})
    (delivery,) = receiver.wait_for()
    assert (delivery.method, delivery.body, delivery.text) == ("POST", b'{"a": 1}', '{"a": 1}')
    assert delivery.path.endswith("/orders?a=1")
    assert delivery.header("x-own") == "2"
    assert delivery.json() == {"a": 1}
    assert receiver.deliveries == (delivery,)


def visit(receiver: Receiver, method: str) -> None:
    request = urllib.request.Request(receiver.url, method=method)
    context = ssl.create_default_context(cafile=str(receiver.ca_file))
    with urllib.request.urlopen(request, context=context, timeout=30):
        pass


def test_visits_are_no_deliveries(receiver: Receiver) -> None:
    for method in ("HEAD", "GET", "OPTIONS"):
        visit(receiver, method)
    with pytest.raises(
        AssertionError, match=r"nothing arrived at .* but visits: HEAD, GET, OPTION"
    ):
        receiver.wait_for(1, SOON_S)
    assert receiver.deliveries == ()
    send(receiver)
    assert [each.method for each in receiver.wait_for(1)] == ["POST"]
    assert [each.method for each in receiver.visits] == ["HEAD", "GET", "OPTIONS"]


def test_a_delivery_behind_visits_is_waited_for(receiver: Receiver) -> None:
    async def visited_meanwhile() -> list[str]:
        waiting = asyncio.create_task(receiver.wait_for_async(1, 30))
        await asyncio.to_thread(visit, receiver, "HEAD")
        assert not waiting.done()
        await asyncio.to_thread(send, receiver)
        return [each.method for each in await waiting]

    assert asyncio.run(visited_meanwhile()) == ["POST"]


@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress])
def test_a_compressed_body_is_read_and_kept_as_it_came(
    receiver: Receiver, compress: Callable[[bytes], bytes]
) -> None:
    body = compress(b'{"a": 1}')
    post(receiver.url, receiver.ca_file, body, {"Content-Encoding": "x"})
    (delivery,) = receiver.wait_for()
    assert (delivery.body, delivery.content, delivery.text) == (body, b'{"a": 1}', '{"a": 1}')
    assert delivery.json() == {"a": 1}


def test_each_receiver_has_deliveries_and_secrets_of_its_own(
    receiver: Receiver, running: Receiver
) -> None:
    other = running.another()
    other.secrets(SECRET)
    send(receiver)
    send(other)
    assert len(receiver.deliveries) == len(other.deliveries) == 1
    assert (receiver.deliveries[0].verified, other.deliveries[0].verified) == (None, False)


def test_waiting_in_vain_says_what_arrived(receiver: Receiver) -> None:
    with pytest.raises(AssertionError, match=r"within 0.2 s: 1; nothing arrived at https:"):
        receiver.wait_for(1, SOON_S)
    send(receiver, b"123")
    with pytest.raises(AssertionError, match=r"(?s)within 0.2 s: 2; 1 arrived .*POST /\w+ 3 bytes"):
        receiver.wait_for(2, SOON_S)


def test_a_sender_that_does_not_trust_the_receiver_is_noticed(receiver: Receiver) -> None:
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(receiver.url, timeout=30)
    with pytest.raises(AssertionError, match=rf"failed: 1 \(.* trust {receiver.ca_file}"):
        receiver.wait_for(1, SOON_S)


def test_many_deliveries_are_not_all_shown(receiver: Receiver) -> None:
    for _ in range(22):
        send(receiver)
    lines = receiver.describe().splitlines()
    assert (len(lines), lines[-1]) == (22, "  and 2 more")


def test_signatures_are_verified_by_the_secrets(receiver: Receiver) -> None:
    receiver.secrets("another secret", SECRET)
    send(receiver, secret=SECRET)
    (delivery,) = receiver.wait_for()
    assert delivery.verified is True
    assert delivery.problem is None
    assert "verified: signed by secret 2 in the simple format" in repr(delivery)


def test_what_is_wrong_with_a_signature_is_shown(receiver: Receiver) -> None:
    receiver.secrets(SECRET)
    post(receiver.url, receiver.ca_file, b'{"a": 1}', signature(b'{"a":1}'))
    (delivery,) = receiver.wait_for()
    cause = "signed the compact form of the body, sent it with spaces"
    assert delivery.verified is False
    assert cause in (delivery.problem or "")
    assert cause in repr(delivery)
    assert cause in receiver.describe()


def test_secrets_may_sign_by_a_dialect_in_a_file(receiver: Receiver, tmp_path: Path) -> None:
    ours = tmp_path / "ours.yaml"
    ours.write_text(
        "extends: reference\nname: ours\nsummary: Ours.\n"
        "signatures: {simple: {header: X-Ours}, advanced: {header: X-Ours}}\n"
    )
    (own,) = signature(b"{}").values()
    post(receiver.url, receiver.ca_file, b"{}", {"X-Ours": own})
    verdicts = []
    for dialect in ("reference", str(ours)):
        receiver.secrets(SECRET, dialect=dialect)
        verdicts.append(receiver.deliveries[0].verified)
    assert verdicts == [False, True]


def test_one_format_may_be_asked_for(receiver: Receiver) -> None:
    send(receiver, secret=SECRET)
    receiver.secrets(SECRET, scheme="advanced")
    assert receiver.deliveries[0].verified is False
    receiver.secrets(SECRET, scheme="simple")
    assert receiver.deliveries[0].verified is True


async def test_an_event_loop_goes_on_while_deliveries_are_awaited() -> None:
    async with Receiver() as receiver:
        waiting = asyncio.create_task(receiver.wait_for_async(1, timeout_s=30))
        # The loop that waits is the one that sends.
        await asyncio.sleep(0)
        assert await asyncio.to_thread(send, receiver) == 200
        result = len(await waiting)
    assert result == 1


def test_waiting_in_vain_in_an_event_loop_says_what_arrived(receiver: Receiver) -> None:
    with pytest.raises(AssertionError, match="nothing arrived"):
        asyncio.run(receiver.wait_for_async(1, SOON_S))


def assert_ended(threads: Iterable[threading.Thread]) -> None:
    """One of asyncio's waits for the process that has ended: it may need a moment more."""
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def test_the_process_and_the_thread_end_with_the_block() -> None:
    before = set(threading.enumerate())
    with Receiver() as receiver:
        parts = urlsplit(receiver.url)
        address = (str(parts.hostname), int(parts.port or 0))
        socket.create_connection(address, timeout=30).close()
        assert set(threading.enumerate()) - before
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(address, timeout=30)
    assert_ended(set(threading.enumerate()) - before)


def test_a_receiver_that_does_not_run_says_so() -> None:
    with pytest.raises(RuntimeError, match="use it in a with statement"):
        Receiver().wait_for()


def test_a_receiver_that_cannot_start_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    before = set(threading.enumerate())
    with pytest.raises(ChildFailed, match="is not a folder"), Receiver(ca_folder=tmp_path / "file"):
        pass
    assert_ended(set(threading.enumerate()) - before)


def test_a_receiver_whose_process_was_killed_is_reported_as_such() -> None:
    others = set(psutil.Process().children())
    with usual_children(), Receiver() as receiver:
        (child,) = set(psutil.Process().children()) - others
        child.kill()
        child.wait()
        ((name, described),) = fixture_sections({"mine": receiver}, "message")
    assert name == "mine"
    assert "does not answer" in described
