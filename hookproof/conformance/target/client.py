"""The API client: one call per operation of the contract, each of them recorded as an exchange.

A call does not raise for what the target does: a refused connection, a timeout or a partial
response becomes an exchange without a status and with a problem. Nothing is followed or decoded,
and only what the target puts off is sent again (`pacing.py`). After the end of the run, calls raise
RunOver.
"""

import asyncio
import io
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from copy import copy
from enum import StrEnum
from types import TracebackType
from typing import Any, Final, Self, TypeVar
from urllib.parse import quote, urlencode

import aiohttp
from yarl import URL

from hookproof.conformance.model.evidence import Exchange, kept_url
from hookproof.conformance.target.circuit_breaker import Breaker
from hookproof.conformance.target.definition import Project
from hookproof.conformance.target.hooks.created_endpoints import CreatedEndpoints
from hookproof.conformance.target.pacing import Pacing
from hookproof.process.subprocesses import to_its_end
from hookproof.spec.contract.service_contract import Contract
from hookproof.spec.dialect.model import Dialect
from hookproof.target.connection import DIRECT, ApiConnection

Answer = TypeVar("Answer")


class Key(StrEnum):
    """The API key that a call carries."""

    OWN = "own"
    # A valid one, but not that of the project in the path.
    FOREIGN = "foreign"
    NONE = "none"
    EMPTY = "empty"
    WRONG = "wrong"
    TRUNCATED = "truncated"
    BARE = "bare"


CONNECTIONS: Final = 64
# How long a connection may be idle and still be used again, in seconds. Servers close theirs after
# two seconds or more; a request that meets the close is lost without an answer.
IDLE_S: Final = 1.0
# In bytes; an endless answer must not exhaust our memory.
LONGEST_ANSWER: Final = 16 * 1024 * 1024
# In bytes. What is smaller is looked through within a millisecond or two.
LARGE: Final = 16 * 1024
NEVER_ISSUED: Final = "never-issued-key"


def _handle_loop_exception(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Ignore client errors: aiohttp may raise a second error of a request that nothing awaits, and
    the call has recorded the first.
    """
    if not isinstance(context.get("exception"), aiohttp.ClientError):
        loop.default_exception_handler(context)


class ApiClient:
    """Calls the target over persistent connections; an async context manager."""

    def __init__(
        self,
        base_url: str,
        contract: Contract,
        dialect: Dialect,
        *,
        timeout_s: float,
        breaker: Breaker,
        pacing: Pacing | None = None,
        endpoints: CreatedEndpoints | None = None,
        connection: ApiConnection = DIRECT,
        learn: Callable[[bytes], None] = lambda _content: None,
    ):
        """`learn` is called with each body before it is sent, and as soon as it has come."""
        self.connection = connection
        self._learn = learn
        # Of its own: those of the event loop may all be busy with what is written.
        self._reader = ThreadPoolExecutor(1, "hookproof-credentials")
        self.base_url = base_url.rstrip("/")
        self._contract = contract
        self._dialect = dialect
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._breaker = breaker
        self.pacing = pacing or Pacing()
        self.endpoints = endpoints or CreatedEndpoints()
        self._session: aiohttp.ClientSession | None = None
        self._experiment = ""
        self._hold_back: Callable[[Project, bytes], Awaitable[None]] | None = None

    def of_experiment(
        self, name: str, hold_back: Callable[[Project, bytes], Awaitable[None]]
    ) -> Self:
        """The same client, which is open already, for an experiment, with broadcasts that wait for
        `hold_back`, which is called with their bodies.
        """
        client = copy(self)
        client._experiment = name  # noqa: SLF001 its own class
        client._hold_back = hold_back  # noqa: SLF001 its own class
        return client

    async def __aenter__(self) -> Self:
        asyncio.get_running_loop().set_exception_handler(_handle_loop_exception)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=CONNECTIONS,
                keepalive_timeout=IDLE_S,
                ssl=self.connection.tls_context() if self.base_url.startswith("https:") else True,
            ),
            proxy=self.connection.proxy,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=("User-Agent", "Accept-Encoding", "Content-Type"),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._session is not None
        self._reader.shutdown(wait=False)
        await self._session.close()

    async def call(
        self,
        operation_id: str,
        *,
        role: str,
        project: Project,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, str] | Sequence[tuple[str, str]] = (),
        body: object = None,
        raw_body: bytes | None = None,
        is_declared: bool = True,
        headers: Sequence[tuple[str, str]] = (),
        key: Key = Key.OWN,
    ) -> Exchange:
        """Call an operation by its operationId (section 4). `raw_body` is sent as it is, `body` as
        compact JSON; neither has a Content-Type unless it `is_declared`.
        """
        operation = self._contract.operations[operation_id]
        filled = operation.path
        for name, value in {"projectID": project.id, **(path or {})}.items():
            filled = filled.replace("{" + name + "}", quote(value, safe=""))
        content = raw_body if raw_body is not None else None if body is None else encoded(body)
        return await self.send(
            operation_id=operation_id,
            role=role,
            project=project,
            method=operation.method,
            target=filled + (f"?{urlencode(query)}" if query else ""),
            content=content,
            headers=self.headers(project, key, content is not None and is_declared, headers),
            key=key,
        )

    def headers(
        self,
        project: Project,
        key: Key,
        has_json: bool,
        extra: Sequence[tuple[str, str]] = (),
    ) -> tuple[tuple[str, str], ...]:
        """The headers of a call: Authorization as the dialect writes it (section 5), the content
        type, and `extra`.
        """
        headers = [] if key is Key.NONE else [("Authorization", self._authorization(project, key))]
        if has_json and not any(name.lower() == "content-type" for name, _ in extra):
            headers.append(("Content-Type", "application/json"))
        return (*headers, *extra)

    def _authorization(self, project: Project, key: Key) -> str:
        written = self._dialect.authentication.key_format
        match key:
            case Key.EMPTY:
                return ""
            case Key.WRONG:
                return written.replace("{key}", NEVER_ISSUED)
            case Key.TRUNCATED:
                return written.replace("{key}", project.api_key[:-1])
            case Key.BARE:
                return project.api_key
            case _:
                return written.replace("{key}", project.api_key)

    async def send(
        self,
        *,
        operation_id: str | None,
        role: str,
        project: Project,
        method: str,
        target: str,
        content: bytes | None,
        headers: Sequence[tuple[str, str]],
        key: Key,
    ) -> Exchange:
        """Send one request to `target`, a path with its query, already percent-encoded.

        The headers of the connection are added, and take the place of others of the same name.
        """
        await self._learn_from(content)
        is_broadcast = operation_id == "createBroadcastEvent"
        if is_broadcast:
            await self.may_broadcast(project, content or b"")

        async def send() -> Exchange:
            return await self._send(
                operation_id, role, project, method, target, content, headers, key
            )

        async with self.pacing.broadcasts.turn() if is_broadcast else nullcontext():
            exchange = await self.in_turn(send, lambda exchange: exchange)
        self.endpoints.note(project, exchange, self._experiment)
        return exchange

    async def may_broadcast(self, project: Project, content: bytes) -> None:
        """Wait as long as a broadcast with this content is held back."""
        if self._hold_back is not None:
            await self._hold_back(project, content)

    async def in_turn(
        self, send: Callable[[], Awaitable[Answer]], exchange_of: Callable[[Answer], Exchange]
    ) -> Answer:
        """Send a request, which may be none of this client, as fast as the target may be called."""
        answer = await self.pacing.in_turn(send, exchange_of)
        await self._learn_from(exchange_of(answer).response_body)
        return answer

    async def _learn_from(self, content: bytes | None) -> None:
        """In a thread if there is much to read, so that nothing else is late."""
        if content and len(content) > LARGE:
            loop = asyncio.get_running_loop()
            await to_its_end(loop.run_in_executor(self._reader, self._learn, content))
        elif content:
            self._learn(content)

    async def _send(
        self,
        operation_id: str | None,
        role: str,
        project: Project,
        method: str,
        target: str,
        content: bytes | None,
        headers: Sequence[tuple[str, str]],
        key: Key,
    ) -> Exchange:
        assert self._session is not None, "the client is not open"
        self._breaker.admit()
        url, headers = self.base_url + target, self.connection.with_headers(headers)
        sent_at, started = time.time(), time.monotonic()
        answer: dict[str, Any] = {"status": None}
        try:
            async with self._session.request(
                method,
                URL(url, encoded=True),
                # A stream is sent in chunks; a large bytes object would block the loop.
                data=None if content is None else io.BytesIO(content),
                headers=headers,
                allow_redirects=False,
                timeout=self._timeout,
            ) as response:
                received = tuple(
                    (name.decode("latin-1"), value.decode("latin-1"))
                    for name, value in response.raw_headers
                )
                body = await self._whole(response)
                answer = {
                    "status": response.status,
                    "response_headers": received,
                    "response_body": body,
                }
        except TimeoutError:
            answer["problem"] = f"TimeoutError: no whole answer within {self._timeout.total:g} s"
        except (aiohttp.ClientError, OSError, ValueError) as error:
            answer["problem"] = (
                f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            )
        took_s = time.monotonic() - started
        self._breaker.note(answer["status"], sent_at=started, took_s=took_s)
        self.pacing.broadcasts.note_answer(took_s)
        return Exchange(
            role=role,
            operation_id=operation_id,
            project=project.id,
            key=key.value,
            method=method,
            url=kept_url(url),
            request_headers=headers,
            request_body=content,
            sent_at=sent_at,
            duration_s=round(time.monotonic() - started, 6),
            **answer,
        )

    async def _whole(self, response: aiohttp.ClientResponse) -> bytes:
        body = bytearray()
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) > LONGEST_ANSWER:
                raise ValueError(f"the answer is longer than {LONGEST_ANSWER} bytes")
            self.pacing.keep(len(body), chunk)
        return bytes(body)


def encoded(value: object) -> bytes:
    """A value as compact JSON in UTF-8; lone surrogates stay escaped."""
    return json.dumps(value, separators=(",", ":")).encode()


def encoded_with(body: Mapping[str, object], field: str, raw_value: str) -> bytes:
    """A body as JSON, with the value of this field spelled exactly like this."""
    others = {name: value for name, value in body.items() if name != field}
    separator = b"," if others else b""
    return encoded(others)[:-1] + separator + f'"{field}":{raw_value}}}'.encode()
