"""A replay only goes to this machine, unless the user permits more; addresses decide, not names."""

import asyncio
from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from hookproof.receiver.dashboard.replay_target import (
    THIS_MACHINE,
    ReplayAllowance,
    ReplayRefused,
    ReplayTarget,
)


def addresses(
    url: str, allowance: ReplayAllowance = THIS_MACHINE, *, resolved: Sequence[str] = ()
) -> list[str]:
    async def resolve(host: str) -> Sequence[str]:
        return resolved

    return [
        str(address)
        for address in asyncio.run(allowance.addresses(ReplayTarget.parse(url), resolve))
    ]


@pytest.mark.parametrize(
    ("url", "resolved"),
    [
        ("http://127.0.0.1:8000/x", ()),
        ("http://127.8.9.10/", ()),
        ("https://[::1]:8443/x", ()),
        ("http://[::ffff:127.0.0.1]/", ()),
        ("http://localhost:3000/", ("::1", "127.0.0.1")),
        ("http://2130706433/", ("127.0.0.1",)),
    ],
)
def test_this_machine_is_open(url: str, resolved: Sequence[str]) -> None:
    assert all(ip_address(address).is_loopback for address in addresses(url, resolved=resolved))


@pytest.mark.parametrize(
    ("url", "resolved"),
    [
        ("http://10.0.0.1/", ()),
        ("http://0.0.0.0:8000/", ()),
        ("http://[::]/", ()),
        ("http://169.254.169.254/latest/meta-data", ()),
        ("http://[::ffff:10.0.0.1]/", ()),
        ("http://[::ffff:169.254.169.254]/", ()),
        ("http://[64:ff9b::7f00:1]/", ()),
        ("http://localhost:3000/", ("10.0.0.1",)),
        ("http://127.0.0.1.nip.example/", ("127.0.0.1", "10.0.0.1")),
        ("http://rebound.example/", ("169.254.169.254",)),
    ],
)
def test_everything_else_is_closed_in_one_clear_line(url: str, resolved: Sequence[str]) -> None:
    with pytest.raises(
        ReplayRefused, match=r"is closed to replays, which go to this machine only; "
    ) as refused:
        addresses(url, resolved=resolved)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("host", ["[::1]evil.example", "evil.example[::1]", "[::1][::1]"])
def test_what_stands_around_an_address_is_not_overlooked(host: str) -> None:
    with pytest.raises(ReplayRefused, match="is not a URL to replay to"):
        addresses(f"http://{host}:8443/")


def test_a_network_that_the_user_opened_is_open_and_its_neighbour_is_not() -> None:
    allowance = ReplayAllowance.parse(["10.0.0.0/24"])
    assert addresses("http://10.0.0.7/", allowance) == ["10.0.0.7"]
    assert addresses("http://staging.example/", allowance, resolved=("10.0.0.9",)) == ["10.0.0.9"]
    with pytest.raises(ReplayRefused):
        addresses("http://10.0.1.7/", allowance)


def test_a_host_that_the_user_opened_is_open_by_its_name_alone() -> None:
    allowance = ReplayAllowance.parse(["Staging.example."])
    assert addresses("http://staging.EXAMPLE/", allowance, resolved=("203.0.113.9",)) == [
        "203.0.113.9"
    ]
    with pytest.raises(ReplayRefused):
        addresses("http://203.0.113.9/", allowance)
    with pytest.raises(ReplayRefused):
        addresses("http://evil.staging.example/", allowance, resolved=("203.0.113.9",))


def test_nothing_opens_the_metadata_services_of_clouds() -> None:
    allowance = ReplayAllowance.parse(["0.0.0.0/0", "::/0", "staging.example"])
    with pytest.raises(ReplayRefused, match="no option opens it"):
        addresses("http://169.254.169.254/", allowance)
    with pytest.raises(ReplayRefused, match="no option opens it"):
        addresses("http://staging.example/", allowance, resolved=("169.254.169.254",))


@pytest.mark.parametrize(
    "text", ["", "10.0.0.0/40", "10.0.0.1/8", "a b", "http://x", "1.2.3", "-x", "x:80"]
)
def test_a_text_that_is_not_an_allowance_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="neither a network like"):
        ReplayAllowance.parse([text])


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8000",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "http://",
        "http://user:password@127.0.0.1/",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:x/",
        "http://127.0.0.1/ b",
        "http://127.0.0.1/\r\nX: y",
        "http://[::1/",
        "http://ex\u00e4mple/",
    ],
)
def test_a_text_that_is_not_a_url_is_refused_in_one_line(url: str) -> None:
    with pytest.raises(ReplayRefused, match="is not a URL to replay to; give one like") as refused:
        ReplayTarget.parse(url)
    assert "\n" not in str(refused.value)


def test_a_url_is_split_into_its_parts() -> None:
    target = ReplayTarget.parse("https://[::1]:8443/a/b?c=d#e")
    assert (target.tls, target.host, target.port, target.authority, target.path) == (
        True,
        "::1",
        8443,
        "[::1]:8443",
        "/a/b?c=d",
    )
    assert ReplayTarget.parse("http://localhost").path == "/"
    assert ReplayTarget.parse("http://localhost").port == 80


def test_a_name_without_an_address_is_reported() -> None:
    async def resolve(host: str) -> Sequence[str]:
        raise OSError(-2, "Name or service not known")

    with pytest.raises(
        ReplayRefused, match=r"gone\.example has no address: Name or service not known"
    ):
        asyncio.run(THIS_MACHINE.addresses(ReplayTarget.parse("http://gone.example/"), resolve))
    with pytest.raises(ReplayRefused, match="has no address"):
        addresses("http://gone.example/", resolved=())
