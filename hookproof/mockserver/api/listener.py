"""The API's listener: aiohttp's low-level server, with the dialect's errors even for broken HTTP.

A client whose request head does not arrive in time gets an error response and is disconnected; a
connection that is idle between requests is closed without one.
"""

import asyncio
import http
import logging
from dataclasses import replace
from typing import Any, Final

from aiohttp import web
from aiohttp.web_request import BaseRequest

from hookproof.control.runner import VERSIONS
from hookproof.mockserver.api.errors import ErrorResponses, internal_error
from hookproof.mockserver.api.request_pipeline import RequestLimits
from hookproof.mockserver.api.response import ApiResponse, Responder

# How often connections are checked for a head that arrives too slowly.
_SWEEP_S: Final = 0.2
_IDLE_S: Final = 75.0
_LINGERING_S: Final = 2.0

_log = logging.getLogger(__name__)


class _Connection(web.RequestHandler):
    """One connection; records since when the head of a request has been arriving."""

    __slots__ = ("error_response", "head_since", "is_answering", "listener")

    def __init__(self, manager: "ApiListener", **options: Any) -> None:
        super().__init__(manager, **options)
        self.head_since: float | None = None
        self.is_answering = False
        self.listener = manager
        self.error_response = manager.error_response

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.listener.admit(self)

    def connection_lost(self, exc: BaseException | None) -> None:
        self.listener.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Note when bytes arrive; `ApiListener._answer` resets the time once a head is complete."""
        if self.head_since is None:
            self.head_since = self._loop.time()
        super().data_received(data)

    def head_is_late(self, latest: float) -> bool:
        return self.head_since is not None and self.head_since < latest

    def handle_error(
        self,
        request: BaseRequest,
        status: int = http.HTTPStatus.INTERNAL_SERVER_ERROR,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what aiohttp could not parse as HTTP."""
        if status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
            _log.error("a request could not be handled", exc_info=exc)
        return self.error_response(status)


class ApiListener(web.Server):
    """Accepts connections and passes each request to a Responder.

    There are at most `most_connections`: for another one, the one without a request is closed that
    had none for longest. So descriptors are left to deliveries, the store and the log.
    """

    def __init__(
        self,
        api: Responder,
        errors: ErrorResponses,
        limits: RequestLimits,
        *,
        most_connections: int,
    ) -> None:
        super().__init__(
            self._answer,
            access_log=None,
            auto_decompress=False,
            keepalive_timeout=_IDLE_S,
            lingering_time=_LINGERING_S,
        )
        self._api = api
        self._errors = errors
        self._limits = limits
        self._sweeper: asyncio.Task[None] | None = None
        self._most_connections = most_connections
        # The open connections, those last that had a request last.
        self._open: dict[_Connection, None] = {}

    def __call__(self) -> web.RequestHandler:
        """Create the protocol of a new connection; asyncio calls this."""
        return _Connection(self, loop=self._loop, **self._kwargs)

    def admit(self, connection: _Connection) -> None:
        """Note a new connection; without room for it, close one that has no request."""
        self._open[connection] = None
        if len(self._open) > self._most_connections:
            # Of all others busy, the new one is that without a request.
            victim = next(each for each in self._open if not each.is_answering)
            self.forget(victim)
            victim.force_close()

    def forget(self, connection: _Connection) -> None:
        self._open.pop(connection, None)

    def error_response(self, status: int) -> ApiResponse:
        """Build the response to a request that is not HTTP, or that made this server fail."""
        ours = status >= http.HTTPStatus.INTERNAL_SERVER_ERROR
        error = internal_error() if ours else self._errors.malformed("the request is not HTTP")
        return self._errors.response(replace(error, close_connection=True))

    def watch(self) -> None:
        """Start to look for clients that send a request head too slowly."""
        self._sweeper = asyncio.get_running_loop().create_task(self._sweep())

    async def shutdown(self, timeout: float | None = None) -> None:
        """Let requests in progress finish, then close all connections."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        await super().shutdown(timeout)

    async def _answer(self, request: BaseRequest) -> ApiResponse:
        connection = request.protocol
        assert isinstance(connection, _Connection)
        connection.head_since = None
        connection.is_answering = True
        try:
            if request.version not in VERSIONS:
                return self._errors.response(self._errors.unknown_version())
            return await self._api.answer(request)
        finally:
            connection.is_answering = False
            connection.head_since = None
            if self._open.pop(connection, connection) is None:
                self._open[connection] = None

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_S)  # the pace of the checks
            latest = self._loop.time() - self._limits.arrival_s
            for connection in self.connections:
                if isinstance(connection, _Connection) and connection.head_is_late(latest):
                    self._close_slow(connection)

    def _close_slow(self, connection: _Connection) -> None:
        if connection.transport is not None:
            connection.transport.write(self._errors.response(self._errors.slow()).to_bytes())
        connection.force_close()
