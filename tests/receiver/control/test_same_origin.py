"""A foreign page in the browser can neither read nor use the control listener; programs can."""

import json
from collections.abc import Iterator

import pytest

from hookproof.control.same_origin import is_own_name
from tests.receiver.receiver_process import ReceiverProcess, receiver


@pytest.fixture(scope="module")
def running() -> Iterator[ReceiverProcess]:
    with receiver("--http", "--control-name", "hooks.example.org") as process:
        yield process


def status_of(running: ReceiverProcess, method: str, path: str, headers: dict[str, str]) -> int:
    body = b"{}" if method == "POST" else None
    return running.call_over_http(method, path, body, headers=headers)[0]


FOREIGN_PAGES = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
    {"Host": "evil.example"},
    {"Host": "127.0.0.1.evil.example"},
    {"Host": "[zz"},
    {"Host": "intranet"},
]


@pytest.mark.parametrize("headers", FOREIGN_PAGES, ids=str)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/reset"),
        ("POST", "/tokens"),
        ("GET", "/tokens/t/deliveries"),
        ("GET", "/live/events"),
    ],
)
def test_a_foreign_page_is_refused(
    running: ReceiverProcess, method: str, path: str, headers: dict[str, str]
) -> None:
    body = b"{}" if method == "POST" else None
    status, text = running.call_over_http(method, path, body, headers=headers)
    assert status == 403
    assert json.loads(text)["error"]


def test_the_receivers_own_page_is_allowed(running: ReceiverProcess) -> None:
    own = {"Origin": running.control, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
    assert status_of(running, "POST", "/reset", own) == 204


def test_a_program_is_allowed(running: ReceiverProcess) -> None:
    assert status_of(running, "POST", "/reset", {}) == 204


def test_a_link_from_another_page_leads_to_the_live_page_and_to_nothing_else(
    running: ReceiverProcess,
) -> None:
    visit = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert status_of(running, "GET", "/", visit) == 200
    assert status_of(running, "GET", "/tokens/t/deliveries", visit) == 403


def test_a_name_that_the_user_allows_is_the_receivers_own(running: ReceiverProcess) -> None:
    assert status_of(running, "GET", "/health", {"Host": "hooks.example.org:1"}) == 200


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:8444",
        "[::1]:8444",
        "localhost:8444",
        "app.localhost",
        "10.1.2.3",
        "",
        "own.example",
    ],
)
def test_addresses_and_local_names_are_the_receivers_own(host: str) -> None:
    assert is_own_name(host, frozenset({"own.example"}))


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "own.example.evil",
        "[::1",
        "[::1]evil.example",
        "evil.example[::1]",
        "127.0.0.1\n.evil.example",
        "a.b:x",
        "receiver:8444",
        "evillocalhost",
        ":8444",
    ],
)
def test_names_that_an_attacker_can_point_here_are_not(host: str) -> None:
    assert not is_own_name(host, frozenset({"own.example"}))
