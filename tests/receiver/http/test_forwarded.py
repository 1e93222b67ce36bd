"""What a proxy says of who sent a delivery, and that it is believed only where that was told."""

import json
from typing import Any

import pytest

from hookproof.conformance.target.environment import _receive_command
from hookproof.receiver.http.forwarded import client_address, forwarded_members
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.signatures.schemes.forwarded_url import ForwardedUrl
from hookproof.target.settings import Flags, ReceiverSettings, receiver_of
from hookproof.target.target_file import read_target_file
from tests.receiver.dashboard.delivery_fixtures import make_delivery
from tests.receiver.receiver_process import receiver

PUBLIC = "https://public.example.org"
HEADERS = (
    b"X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 203.0.113.7\r\n"
    b"X-Forwarded-Proto: https\r\nX-Forwarded-Host: hooks.example.org:8443\r\n"
)


def forwarded(**headers: str) -> ReceivedDelivery:
    """A delivery with headers whose names begin with X-Forwarded."""
    pairs = tuple((f"x-forwarded-{name}", value) for name, value in headers.items())
    return make_delivery(headers=pairs)


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("192.0.2.1, 203.0.113.7", "203.0.113.7"),
        ("203.0.113.7:51234", "203.0.113.7"),
        ("2001:db8::7", "2001:db8::7"),
        ("[2001:db8::7]", "2001:db8::7"),
        ("[2001:db8::7]:51234", "2001:db8::7"),
        ("203.0.113.7, unknown", None),
        ("203.0.113.7,", None),
        ("<b>203.0.113.7</b>", None),
        ("", None),
    ],
)
def test_the_client_is_the_last_address_of_the_list(value: str, address: str | None) -> None:
    assert client_address(forwarded(**{"for": value})) == address


@pytest.mark.parametrize(
    ("headers", "origin"),
    [
        ({"proto": "https", "host": "hooks.example.org"}, "https://hooks.example.org"),
        ({"proto": "HTTP", "host": "a.invalid, b.example.org:80"}, "http://b.example.org:80"),
        ({"proto": "https", "host": "[2001:db8::7]:8443"}, "https://[2001:db8::7]:8443"),
        ({"host": "hooks.example.org"}, "https://hooks.example.org"),
        ({"proto": "http"}, "http://public.example.org"),
        ({"proto": "javascript", "host": "hooks.example.org/a?b#c"}, PUBLIC),
        ({"host": "user@hooks.example.org"}, PUBLIC),
        ({"prefix": "/inner, /api/v1/"}, f"{PUBLIC}/api/v1"),
        ({"prefix": "/a b", "host": "a.example"}, "https://a.example"),
        ({"prefix": "//evil.example"}, PUBLIC),
        ({"prefix": "/a?b#c"}, PUBLIC),
        ({}, PUBLIC),
    ],
)
def test_the_url_is_as_the_proxy_says_or_else_the_public_one(
    headers: dict[str, str], origin: str
) -> None:
    assert ForwardedUrl.of(forwarded(**headers).headers).base(PUBLIC) == origin


def test_what_nobody_says_is_unknown() -> None:
    nothing = {"client_address": None, "url": None}
    assert forwarded_members(make_delivery(), None) == nothing
    assert forwarded_members(make_delivery(path="http://x/orders"), PUBLIC) == nothing
    assert forwarded_members(make_delivery(path="/a?b=1"), PUBLIC)["url"] == f"{PUBLIC}/a?b=1"


def detail(*options: str) -> Any:
    """What the live page shows of a delivery with such headers."""
    with receiver("--http", *options) as running:
        running.post("/orders", b"{}", headers=HEADERS)
        status, body = running.call_over_http("GET", "/live/delivery?token=orders&sequence=1")
        assert status == 200
        return json.loads(body) | {"own": running.url}


def test_the_live_page_shows_client_and_url_where_a_proxy_is_believed() -> None:
    shown = detail("--forwarded")
    assert shown["client_address"] == "203.0.113.7"
    assert shown["url"] == "https://hooks.example.org:8443/orders"
    assert "'https://hooks.example.org:8443/orders'" in shown["curl"]


def test_these_headers_are_like_any_other_where_nothing_was_told() -> None:
    shown = detail()
    assert "client_address" not in shown
    assert "url" not in shown
    assert f"'{shown['own']}/orders'" in shown["curl"]
    assert ["X-Forwarded-Host", "hooks.example.org:8443"] in shown["headers"]


@pytest.mark.parametrize("is_told", [True, False])
def test_a_target_file_may_tell_the_receiver(is_told: bool, tmp_path: Any) -> None:
    told = ", forwarded: true" if is_told else ""
    path = tmp_path / "target.yaml"
    path.write_text(f"receiver: {{http: true, public_url: '{PUBLIC}'{told}}}\n")
    settings: ReceiverSettings = receiver_of(Flags(), read_target_file(path, {}))
    assert settings.forwarded is is_told
    assert ("--forwarded" in _receive_command(settings, tmp_path)) is is_told
