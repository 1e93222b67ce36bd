"""`hookproof.Sender` as the tests of others use it."""

import asyncio
import gzip
import json
import ssl
import time
from pathlib import Path
from typing import Final

import pytest
import trustme
from svix.webhooks import Webhook

from hookproof import Sender
from hookproof.receiver.sending.tables import ways
from tests.receiver.sending.consumer_thread import Recorder, serving

SECRET: Final = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLw=="


@pytest.fixture
def sender() -> Sender:
    return Sender("svix", SECRET)


def test_an_event_is_sent_and_answered(sender: Sender) -> None:
    recorder = Recorder(status=202)
    with serving(recorder) as url:
        (sent,) = sender.send(f"{url}/hooks", {"order": 1}, event_id="evt_1")
    assert (sent.status, sent.is_right) == (202, True)
    (came,) = recorder.requests
    assert json.loads(came.body) == {"order": 1}
    assert came.header("Content-Type") == "application/json"
    assert came.header("svix-id") == "evt_1"


def test_the_answers_of_a_way_are_right_or_wrong(sender: Sender) -> None:
    with serving(Recorder(status=200)) as url:
        first, second = sender.send(url, b"{}", "duplicate")
        (old,) = asyncio.run(sender.send_async(url, b"{}", "old"))
    assert first.is_right
    assert second.is_right
    assert not old.is_right
    assert "should be 4xx" in old.sentence


@pytest.mark.parametrize(
    ("body", "content"), [(b"\x00 {}", b"\x00 {}"), ("Zo\u00eb", b"Zo\xc3\xab"), ([1], b"[1]")]
)
def test_these_exact_bytes_are_signed(sender: Sender, body: object, content: bytes) -> None:
    (delivery,) = sender.signed(body)  # type: ignore[arg-type]
    assert delivery.body == content
    Webhook(SECRET).verify(delivery.body, dict(delivery.headers))


def test_the_deliveries_of_a_way_are_for_a_test_client_too(sender: Sender) -> None:
    later, earlier = sender.signed(b"{}", "out-of-order")
    stamps = [int(dict(each.headers)["svix-timestamp"]) for each in (later, earlier)]
    assert stamps[0] > stamps[1]
    (compressed,) = sender.signed(b"{}", "gzip")
    assert gzip.decompress(compressed.body) == b"{}"
    (large,) = sender.signed(b"{}", "large", large_bytes=5000)
    assert len(large.body) == 5000
    assert all(sender.signed(b"{}", way) for way in ways())


def test_a_dialect_signs_as_well() -> None:
    sender = Sender(None, "old", "new", dialect="convoy", headers={"X-Own": "1"})
    (delivery,) = sender.signed(b"{}")
    headers = dict(delivery.headers)
    assert headers["X-Own"] == "1"
    assert headers["X-Convoy-Signature"].count("v1=") == 2
    assert f"t={time.time():.0f}"[:8] in headers["X-Convoy-Signature"]


def test_the_url_is_signed_where_the_scheme_signs_it() -> None:
    sender = Sender("square", "a secret")
    (one,), (other,) = (sender.signed(b"{}", url=f"https://x/{path}") for path in "ab")
    assert one.headers != other.headers
    assert sender.signed(b"{}", url="https://x/a")[0].headers == one.headers


def test_a_certificate_is_trusted(sender: Sender, tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    with serving(Recorder(), context) as url:
        (sent,) = Sender("svix", SECRET, ca_file=tmp_path / "ca.pem").send(url, b"{}")
    assert sent.is_right


@pytest.mark.parametrize(
    ("arguments", "way", "message"),
    [
        ({"scheme": "svix"}, "right", "give the secret"),
        ({}, "right", "give the scheme, or the dialect"),
        ({"scheme": "githob"}, "right", "there is no scheme 'githob'"),
        ({"scheme": "github"}, "old", "old cannot be sent: the scheme sends no time"),
        ({"scheme": "github"}, "twice", "there is no way 'twice'; there are right, duplicate"),
    ],
)
def test_what_cannot_be_sent_is_refused(arguments: dict[str, str], way: str, message: str) -> None:
    secrets = [] if message == "give the secret" else ["a secret"]
    with pytest.raises(ValueError, match=message):
        Sender(arguments.get("scheme"), *secrets).send("http://127.0.0.1:1", b"{}", way)
