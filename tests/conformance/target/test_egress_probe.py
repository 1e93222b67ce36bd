"""Egress probes count every connection, and report it if they cannot listen."""

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from hookproof.conformance.target.egress_probe import (
    EgressProbe,
    ProbeUnavailable,
    listen_for_egress,
)


async def probe_after_connections(host: str, *, count: int) -> EgressProbe:
    """A probe after so many connections, each of which it has closed."""
    async with listen_for_egress(host) as probe:
        for _ in range(count):
            reader, writer = await asyncio.open_connection(host, probe.port)
            with suppress(ConnectionError):
                assert await reader.read() == b""
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
    return probe


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_probe_counts_connections(host: str) -> None:
    assert asyncio.run(probe_after_connections(host, count=2)).peers == ["127.0.0.1"] * 2
    assert asyncio.run(probe_after_connections(host, count=0)).peers == []


def test_the_url_of_a_probe_is_https_and_leads_to_it() -> None:
    split = urlsplit(asyncio.run(probe_after_connections("127.0.0.1", count=0)).url)
    assert (split.scheme, split.hostname) == ("https", "127.0.0.1")
    assert split.port
    assert EgressProbe("::1", port=7).url == "https://[::1]:7/"


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(
        ProbeUnavailable, match=r"cannot listen at the egress probe 203\.0\.113\.7: "
    ):
        asyncio.run(probe_after_connections("203.0.113.7", count=0))
