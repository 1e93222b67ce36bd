"""Sends a delivery to a consumer, and reads its answer; redirects are not followed."""

import asyncio
import ipaddress
import re
import ssl
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from hookproof.control.authority import is_well_formed
from hookproof.process.installed_version import installed_version
from hookproof.receiver.sending.signing import SignedDelivery
from hookproof.spec.given_file import confirm_plain

# How a slow sender sends: in so many pieces, with a pause before each but the first.
PIECES: Final = 5
PAUSE_S: Final = 0.3
# In bytes, of an answer.
MOST_READ: Final = 2**16
METHOD: Final = "POST"
WHOLE_NUMBER: Final = re.compile(r"[0-9]{1,6}")


class UnusableUrl(ValueError):
    """Nothing can be sent to this URL; the message says what to give instead."""


class _BrokenOff(Exception):
    """The sender stops in the middle of the body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back: a status, or why there is none; `body` is its beginning.

    `unreachable`: no connection was made. `retry_after_s` is when to come again, if that is said.
    """

    status: int | None
    took_ms: float
    body: bytes = b""
    problem: str = ""
    unreachable: bool = False
    retry_after_s: float | None = None

    @property
    def words(self) -> str:
        if self.status is None:
            return f"{self.problem} ({self.took_ms:.0f} ms)"
        return f"answered {self.status} in {self.took_ms:.0f} ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """Where deliveries are sent, in connections of their own."""

    url: str
    tls: ssl.SSLContext
    timeout_s: float
    pause_s: float = PAUSE_S

    @classmethod
    def at(cls, url: str, *, ca: Path | None, timeout_s: float) -> Self:
        """A consumer to send to; raises UnusableUrl."""
        return cls(url=usable_url(url), tls=tls_context(url, ca), timeout_s=timeout_s)

    async def deliver(self, delivery: SignedDelivery, sent: str = "whole") -> Answer:
        """Send a delivery `whole`, `chunked`, `slow` or `aborted`; never raises for what a
        consumer does.
        """
        started = time.monotonic()
        headers = list(delivery.headers)
        if sent in {"slow", "aborted"}:
            headers.append(("Content-Length", str(len(delivery.body))))
        data = delivery.body if sent == "whole" else self._pieces(delivery.body, sent)
        try:
            async with (
                asyncio.timeout(self.timeout_s),
                self._session() as session,
                session.request(
                    METHOD,
                    URL(self.url, encoded=True),
                    data=data,
                    headers=headers,
                    allow_redirects=False,
                    skip_auto_headers=("Content-Type", "Accept", "Accept-Encoding"),
                    chunked=True if sent == "chunked" else None,
                ) as response,
            ):
                body = await response.content.read(MOST_READ)
                after = response.headers.get("Retry-After", "")
                return Answer(
                    status=response.status,
                    took_ms=_ms(started),
                    body=body,
                    retry_after_s=float(after) if WHOLE_NUMBER.fullmatch(after) else None,
                )
        except TimeoutError:
            problem, unreachable = f"did not answer within {self.timeout_s:g} s", False
        except (aiohttp.ClientError, OSError) as error:
            problem, unreachable = _problem(error), isinstance(error, aiohttp.ClientConnectorError)
            if sent == "aborted" and not unreachable:
                problem = "broken off, as meant"
        return Answer(status=None, took_ms=_ms(started), problem=problem, unreachable=unreachable)

    def _session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self.tls),
            timeout=aiohttp.ClientTimeout(total=None),
            headers={"User-Agent": f"hookproof/{installed_version()}"},
        )

    async def _pieces(self, body: bytes, sent: str) -> AsyncIterator[bytes]:
        if sent == "aborted":
            yield body[: len(body) // 2]
            raise _BrokenOff
        size = max(1, -(-len(body) // PIECES))
        for start in range(0, len(body), size):
            if start and sent == "slow":
                await asyncio.sleep(self.pause_s)
            yield body[start : start + size]


def usable_url(url: str) -> str:
    """The URL, if it is one to send to; raises UnusableUrl."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if (
        parts.scheme not in {"http", "https"}
        or not parts.hostname
        or not is_well_formed(url, parts)
        or not (url.isascii() and url.isprintable() and " " not in url)
    ):
        raise UnusableUrl(
            f"{url[:80]!r} is not a URL to send to; give one like http://127.0.0.1:8000/hooks"
        )
    return url


def tls_context(url: str, ca: Path | None) -> ssl.SSLContext:
    """What is trusted at a URL; raises UnusableUrl."""
    try:
        if ca is not None:
            confirm_plain(ca)
        context = ssl.create_default_context(cafile=ca)
    except (OSError, ValueError) as error:
        raise UnusableUrl(f"cannot read certificates from {ca}: {error}") from None
    if ca is None and _is_loopback(urlsplit(url).hostname or ""):
        # On this machine it is known who answers, and certificates for it are rarely valid.
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.rstrip(".").lower() == "localhost"


def _ms(started: float) -> float:
    return (time.monotonic() - started) * 1000


def _problem(error: Exception) -> str:
    """What went wrong, to stand after the name of the consumer."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"has a certificate that is not trusted: {error.certificate_error}"
    words = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"cannot be reached: {error.strerror or words}"
    return f"did not answer: {words}"
