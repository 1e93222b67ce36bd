"""Waits until a server that is being started answers."""

import asyncio
import time
from contextlib import suppress
from http import HTTPStatus
from typing import Final

import aiohttp

from hookproof.target.connection import ApiConnection

# What a proxy answers in place of a server that does not listen yet.
NOT_YET: Final = frozenset(
    {HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT}
)
# How long it gets for an answer, and until it is asked again, in seconds.
ANSWER_S: Final = 5.0
PAUSE_S: Final = 0.2


async def wait_for_answer(base_url: str, connection: ApiConnection, timeout_s: float) -> None:
    """Return when the server at this URL answers anything, or else when the time is over.

    Any answer counts, even one that cannot be trusted because of its certificate: whoever calls the
    server next reports that. The request has no key.
    """
    until = time.monotonic() + timeout_s
    tls = connection.tls_context() if base_url.startswith("https:") else True
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ANSWER_S)) as session:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(until - time.monotonic()):
                    if await _answers(session, base_url, connection, tls):
                        return
                    await asyncio.sleep(PAUSE_S)
            if time.monotonic() >= until:
                return


async def _answers(
    session: aiohttp.ClientSession, base_url: str, connection: ApiConnection, tls: object
) -> bool:
    try:
        async with session.get(
            base_url,
            headers=dict(connection.headers),
            proxy=connection.proxy,
            ssl=tls,  # type: ignore[arg-type]
            allow_redirects=False,
        ) as answer:
            return answer.status not in NOT_YET
    except (aiohttp.ClientSSLError, aiohttp.InvalidURL):
        return True
    except (aiohttp.ClientError, TimeoutError):
        return False
