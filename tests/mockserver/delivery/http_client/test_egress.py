"""The egress guard: which addresses the server may connect to."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Sequence
from ipaddress import ip_network

import pytest

from hookproof.mockserver.delivery.http_client.egress import (
    LOOKUP_THREADS,
    EgressGuard,
    EgressRefused,
    NameResolver,
)


def addresses(host: str, *allowed: str, resolved: Sequence[str] = ()) -> tuple[str, ...]:
    async def resolve(name: str) -> Sequence[str]:
        return resolved

    async def ask() -> tuple[str, ...]:
        return await EgressGuard([ip_network(text) for text in allowed], resolve).addresses(host)

    return asyncio.run(ask())


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1"])
def test_loopback_is_open(host: str) -> None:
    assert addresses(host) == (host,)


@pytest.mark.parametrize(
    "host",
    [
        "10.0.0.1",
        "192.168.1.1",
        "8.8.8.8",
        "2001:db8::1",
        "fd00::1",
        "0.0.0.0",
        "::",
        "255.255.255.255",
    ],
)
def test_everything_else_is_closed(host: str) -> None:
    with pytest.raises(EgressRefused, match="--allow-egress"):
        addresses(host)


def test_an_allowed_network_is_open_and_its_neighbour_is_not() -> None:
    assert addresses("10.1.2.3", "10.1.0.0/16") == ("10.1.2.3",)
    with pytest.raises(EgressRefused):
        addresses("10.2.0.1", "10.1.0.0/16")


@pytest.mark.parametrize(
    "host",
    [
        *(
            "169.254.169.254",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "fd00:ec2::254",
            "fe80::a9fe:a9fe",
        ),
        *("0.0.0.0", "::", "224.0.0.1", "ff02::1", "255.255.255.255"),
        *("::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "::a9fe:a9fe"),
    ],
)
def test_metadata_services_stay_closed_whatever_is_allowed(host: str) -> None:
    with pytest.raises(EgressRefused):
        addresses(host, "0.0.0.0/0", "::/0")


@pytest.mark.parametrize(
    "host",
    [
        "::ffff:10.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::10.0.0.1",
        "2002:0a00:0001::1",
        "::10.0.0.1",
        "2001:0:0a00:0001::1",
    ],
)
def test_an_embedded_address_is_checked_too(host: str) -> None:
    with pytest.raises(EgressRefused):
        addresses(host, "::/0")
    with pytest.raises(EgressRefused):
        addresses(host)


@pytest.mark.parametrize("host", ["64:ff9b::127.0.0.1", "2002:7f00:1::1"])
def test_an_embedded_loopback_address_opens_nothing(host: str) -> None:
    with pytest.raises(EgressRefused):
        addresses(host)


def test_a_mapped_address_is_unwrapped() -> None:
    assert addresses("::ffff:127.0.0.1") == ("127.0.0.1",)


def test_one_closed_address_among_open_ones_closes_the_name() -> None:
    with pytest.raises(EgressRefused):
        addresses("mixed.local", resolved=["127.0.0.1", "10.0.0.1"])


@pytest.mark.parametrize(
    "host", ["nowhere.invalid", "NOWHERE.INVALID.", "a.test", "b.example", "invalid"]
)
def test_a_reserved_name_is_refused_without_a_look_up(host: str) -> None:
    with pytest.raises(EgressRefused, match="reserved"):
        addresses(host, "0.0.0.0/0", resolved=["127.0.0.1"])


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1"])
def test_a_disguised_number_is_checked_by_what_it_resolves_to(host: str) -> None:
    with pytest.raises(EgressRefused):
        addresses(host, resolved=["10.0.0.1"])


async def test_the_system_s_resolver_finds_localhost() -> None:
    guard = EgressGuard()
    both = await asyncio.gather(guard.addresses("localhost"), guard.addresses("localhost"))
    assert both[0] == both[1]
    result = both[0]
    assert "127.0.0.1" in result


@pytest.mark.parametrize("host", ["a..b", "x" * 70 + ".local", "no-such-host.localdomain.internal"])
async def test_a_name_without_address_is_an_os_error(host: str) -> None:
    with pytest.raises(OSError):  # noqa: PT011  its text is that of the system
        await EgressGuard().addresses(host)


async def test_callers_at_the_same_time_share_one_look_up_and_a_later_one_starts_another() -> None:
    names: list[str] = []
    started, release = threading.Event(), threading.Event()

    def lookup(name: str) -> tuple[str, ...]:
        names.append(name)
        started.set()
        release.wait(60)
        return ("127.0.0.1",)

    resolver = NameResolver(lookup)
    lookups = [
        asyncio.create_task(resolver.addresses("a.local")) for _ in range(3 * LOOKUP_THREADS)
    ]
    assert await asyncio.to_thread(started.wait, 60)
    release.set()
    assert set(await asyncio.gather(*lookups)) == {("127.0.0.1",)}
    assert names == ["a.local"]
    assert await resolver.addresses("a.local") == ("127.0.0.1",)
    assert names == ["a.local"] * 2


async def test_only_so_many_names_are_looked_up_at_once_and_the_others_have_their_turn() -> None:
    under_way = highest = 0
    lock, full = threading.Lock(), threading.Event()

    def lookup(name: str) -> tuple[str, ...]:
        nonlocal under_way, highest
        with lock:
            under_way += 1
            highest = max(highest, under_way)
            if under_way == LOOKUP_THREADS:
                full.set()
        full.wait(60)
        with lock:
            under_way -= 1
        return (name,)

    resolver = NameResolver(lookup)
    names = [f"{number}.local" for number in range(3 * LOOKUP_THREADS)]
    assert await asyncio.gather(*map(resolver.addresses, names)) == [(name,) for name in names]
    assert highest == LOOKUP_THREADS


HANGING = """
import asyncio, threading, uvloop
from hookproof.mockserver.delivery.http_client.egress import NameResolver

started = threading.Event()

def hang(name):
    started.set()
    threading.Event().wait()

async def main():
    asyncio.ensure_future(NameResolver(hang).addresses("silent.local"))
    await asyncio.to_thread(started.wait)

uvloop.run(main())
"""


def test_a_look_up_that_hangs_does_not_keep_the_process_from_ending() -> None:
    outcome = subprocess.run(
        [sys.executable, "-c", HANGING], timeout=60, capture_output=True, text=True, check=False
    )
    assert (outcome.returncode, outcome.stderr) == (0, "")


async def test_a_lookup_that_outlives_the_loop_raises_nothing() -> None:
    started, release = threading.Event(), threading.Event()

    def lookup(name: str) -> tuple[str, ...]:
        started.set()
        release.wait(60)
        return ("127.0.0.1",)

    waiting = asyncio.create_task(NameResolver(lookup).addresses("late.local"))
    assert await asyncio.to_thread(started.wait, 60)
    waiting.cancel()
    threads = [thread for thread in threading.enumerate() if thread.name == "look-up of late.local"]
    assert threads
    release.set()
    for thread in threads:
        thread.join(60)
