"""Plays a reply to a request: writes the bytes of the answer, in its time, and cuts the connection where it says so.

aiohttp parses requests here, but answers nothing: for an answer that is written already it is handed `STAYS` or `ENDS`.
"""

import asyncio
import os
import socket
import struct
from collections.abc import Iterable
from typing import Final

from aiohttp import HttpVersion11, web

from receiver.answer import Manner, default_head, first_half, head, interim, manner_of, pieces
from receiver.clock import Clock
from receiver.connection import Request
from receiver.script import DEFAULT_REPLY, Cut, Reply

RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)
SLICE: Final = 16
"""So many pieces are sent before others get their turn, even if the sender takes them all."""


class Written(web.StreamResponse):
    """An answer that is on the wire already; `keep_alive` says whether the connection outlives it."""

    def __init__(self, *, stays: bool) -> None:
        super().__init__()
        self._keep_alive = stays

    async def prepare(self, request: web.BaseRequest) -> None:
        """Nothing: the head was sent."""

    async def write_eof(self, data: bytes = b"") -> None:
        """Nothing: the body was sent."""


STAYS: Final = Written(stays=True)
ENDS: Final = Written(stays=False)


class Player:
    """Plays replies; a sender that leaves cancels it, or makes it raise ConnectionError."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def play(self, reply: Reply, request: Request) -> Written | None:
        """Send the reply; what aiohttp is to be handed for it, None when it was cut."""
        now = self._clock.wall()
        if reply is DEFAULT_REPLY and request.keep_alive and request.version >= HttpVersion11:
            await request.writer.write(default_head(int(now)))  # what nearly every request is answered with
            return STAYS
        if reply.delay_s:
            await asyncio.sleep(reply.delay_s)
        if reply.hang:
            await asyncio.Event().wait()
        if reply.interim is not None:
            await _send_interims(reply, request)
        manner = manner_of(
            reply,
            keep_alive=request.keep_alive,
            http_1_0=request.version < HttpVersion11,
            now=self._clock.wall(),
        )
        if reply.cut is not None:
            await _play_part(reply, reply.cut, manner, request)
            await _cut(reply.cut, request)
            return None
        body = () if request.method == "HEAD" else pieces(reply, manner)
        await _send(request, head(reply, manner), body, pause_s=reply.drip_s)
        return ENDS if manner.close else STAYS


async def _play_part(reply: Reply, cut: Cut, manner: Manner, request: Request) -> None:
    """Send what comes before the cut, and wait until it has left."""
    if cut.at in {"before_reading", "before_answer"}:
        return
    if request.transport is not None:  # so that waiting for the buffer means waiting until it is empty
        request.transport.set_write_buffer_limits(high=0)
    body = first_half(reply, manner) if cut.at == "mid_body" else ()
    await _send(request, head(reply, manner), body)
    await request.writer.drain()


async def _send(request: Request, begin: bytes, body: Iterable[bytes], *, pause_s: float = 0.0) -> None:
    """Write the head and the pieces; the first piece goes with the head, unless there is a pause before it."""
    waiting = begin
    for number, piece in enumerate(body):
        if pause_s:
            await request.writer.write(waiting)
            waiting = piece
            await asyncio.sleep(pause_s if number else 0)
        elif number == 0:
            waiting += piece
        else:
            await request.writer.write(waiting)
            waiting = piece
            if number % SLICE == 0:
                await asyncio.sleep(0)
    await request.writer.write(waiting)


async def _send_interims(reply: Reply, request: Request) -> None:
    assert reply.interim is not None
    sent = 0
    while reply.interim.endless or sent < reply.interim.times:
        await request.writer.write(interim(reply.interim.status))
        sent += 1
        await asyncio.sleep(reply.interim.every_s)


async def _cut(cut: Cut, request: Request) -> None:
    """End the connection as the cut says; after a half close, wait until the sender ends the other half."""
    transport = request.transport
    if transport is None:
        raise ConnectionResetError("the sender left first")
    if cut.by == "close":
        request.connection.force_close()
        return
    with socket.socket(fileno=os.dup(transport.get_extra_info("socket").fileno())) as own:
        if cut.by == "reset":
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        else:
            own.shutdown(socket.SHUT_WR)
    if cut.by == "reset":
        transport.abort()
        return
    await asyncio.Event().wait()
