"""Sends a delivery again, to another URL: the same method, headers and body, byte for byte.

The request is written to the socket as it came, since a client library would sort, add and rename
headers. Only what belongs to the connection is new: `Host`, the framing of the body, and
`Connection: close`. Redirects are not followed.
"""

import asyncio
import ssl
from dataclasses import dataclass, field
from typing import Final

import httptools

from hookproof.receiver.clock import Clock
from hookproof.receiver.dashboard.replay_target import (
    LOOPBACK,
    Address,
    ReplayAllowance,
    ReplayRefused,
    ReplayTarget,
    Resolve,
    resolve_host,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery

TIMEOUT_S: Final = 10.0
MOST_ANSWER_BYTES: Final = 2**20
SHOWN_ANSWER: Final = 4096
FIRST_FINAL_STATUS: Final = 200
SWITCHING_PROTOCOLS: Final = 101
CONNECTION_HEADERS: Final = frozenset(
    {"content-length", "transfer-encoding", "connection", "keep-alive", "expect", "upgrade", "te"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayAnswer:
    """The answer of the other URL; `body` is its beginning."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    address: str
    took_ms: float

    def to_json(self) -> dict[str, object]:
        """The answer as the page shows it; bytes that are not UTF-8 are replaced."""
        return {
            "status": self.status,
            "headers": self.headers,
            "body": self.body.decode("utf-8", "replace"),
            "address": self.address,
            "took_ms": self.took_ms,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayer:
    """Replays deliveries to the URLs that `allowance` permits; keeps `most_kept` bytes of the body
    of an answer.
    """

    allowance: ReplayAllowance
    clock: Clock
    resolve: Resolve = resolve_host
    timeout_s: float = TIMEOUT_S
    most_kept: int = SHOWN_ANSWER

    async def replay(self, delivery: ReceivedDelivery, url: str) -> ReplayAnswer:
        """Send the delivery to the URL and return the answer.

        Raises ReplayRefused, with one line for every failure.
        """
        target = ReplayTarget.parse(url)
        sent = request_bytes(delivery, target)
        try:
            async with asyncio.timeout(self.timeout_s):
                addresses = await self.allowance.addresses(target, self.resolve)
                return await self._exchange(delivery.method, target, addresses, sent)
        except TimeoutError:
            raise ReplayRefused(
                f"{target.authority} did not answer within {self.timeout_s:g} s"
            ) from None
        except ssl.SSLCertVerificationError as error:
            raise ReplayRefused(
                f"the certificate of {target.authority} is not trusted: {error.verify_message}"
            ) from None
        except OSError as error:
            raise ReplayRefused(
                f"{target.authority} cannot be reached: {error.strerror or error}"
            ) from None

    async def _exchange(
        self, method: str, target: ReplayTarget, addresses: tuple[Address, ...], sent: bytes
    ) -> ReplayAnswer:
        started = self.clock.monotonic()
        address, reader, writer = await _connect(target, addresses)
        answer = _Answer(head_only=method == "HEAD", most_kept=self.most_kept)
        try:
            writer.write(sent)
            await answer.read(reader, target)
        finally:
            # Do not wait for the other side to read the rest of the request.
            writer.transport.abort()
        return ReplayAnswer(
            status=answer.status,
            headers=tuple(answer.headers),
            body=bytes(answer.body),
            address=f"{address} port {target.port}",
            took_ms=(self.clock.monotonic() - started) * 1000,
        )


async def _connect(
    target: ReplayTarget, addresses: tuple[Address, ...]
) -> tuple[Address, asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the first address that accepts; raises the OSError of the last one."""
    for address in addresses:
        tls = _tls(address) if target.tls else None
        try:
            reader, writer = await asyncio.open_connection(
                str(address), target.port, ssl=tls, server_hostname=target.host if tls else None
            )
        except OSError:
            if address == addresses[-1]:
                raise
        else:
            return address, reader, writer
    raise OSError("the host has no address")


def _tls(address: Address) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if any(address in network for network in LOOPBACK):
        # On this machine it is known who answers, and certificates for it are rarely valid.
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def request_bytes(delivery: ReceivedDelivery, target: ReplayTarget) -> bytes:
    """The request for another host: headers in order and case, new `Host` and framing."""
    if delivery.method == "CONNECT":
        raise ReplayRefused("a CONNECT asks for a tunnel and cannot be replayed")
    headers = [
        (name, target.authority if name.lower() == "host" else value)
        for name, value in delivery.headers
        if name.lower() not in CONNECTION_HEADERS
    ]
    if all(name.lower() != "host" for name, _ in headers):
        headers.insert(0, ("Host", target.authority))
    if delivery.body or any(
        name.lower() in {"content-length", "transfer-encoding"} for name, _ in delivery.headers
    ):
        headers.append(("Content-Length", str(len(delivery.body))))
    lines = [
        f"{delivery.method} {target.path} HTTP/1.1",
        *(f"{name}: {value}" for name, value in headers),
    ]
    head = "\r\n".join([*lines, "Connection: close", "", ""])
    if any(character in line for line in lines for character in "\r\n\0"):
        raise ReplayRefused("a header holds a line break, so the delivery cannot be replayed")
    return head.encode("latin-1") + delivery.body


@dataclass(slots=True, kw_only=True)
class _Answer:
    """Reads an HTTP answer, without interim ones; the callbacks are those of httptools."""

    head_only: bool
    most_kept: int
    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytearray = field(default_factory=bytearray)
    is_complete: bool = False
    parser: httptools.HttpResponseParser = field(init=False)

    def __post_init__(self) -> None:
        self.parser = httptools.HttpResponseParser(self)

    async def read(self, reader: asyncio.StreamReader, target: ReplayTarget) -> None:
        """Read until the answer is complete, ends, or is long enough to be shown."""
        received = 0
        while not self.is_complete and received < MOST_ANSWER_BYTES:
            chunk = await reader.read(2**16)
            if not chunk:
                break
            received += len(chunk)
            try:
                self.parser.feed_data(chunk)
            except (httptools.HttpParserError, httptools.HttpParserUpgrade):
                break
        if not self.status:
            raise ReplayRefused(f"{target.authority} did not answer in HTTP")

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.decode("latin-1"), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        status = self.parser.get_status_code()
        if status < FIRST_FINAL_STATUS and status != SWITCHING_PROTOCOLS:
            self.headers.clear()
            return
        self.status = status
        self.is_complete = self.head_only or status == SWITCHING_PROTOCOLS

    def on_body(self, body: bytes) -> None:
        self.body += body[: self.most_kept - len(self.body)]

    def on_message_complete(self) -> None:
        self.is_complete = self.status > 0
