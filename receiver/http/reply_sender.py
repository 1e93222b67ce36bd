"""Plays a reply to a request: sends the bytes of the answer, in its time, and cuts the connection
where it says so.
"""

import asyncio
import os
import socket
import struct
from collections.abc import Iterable
from typing import Final

from hookproof.receiver.clock import Clock
from hookproof.receiver.http.connection import Connection
from hookproof.receiver.http.reply_bytes import Manner, first_half, head, interim, manner_of, pieces
from hookproof.receiver.http.request import Request
from hookproof.receiver.replies.script import Cut, Interim, Reply

RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)
# So many pieces are sent before others get their turn, even if the sender takes them all.
SLICE: Final = 16


class Player:
    """Plays replies; a sender that leaves cancels it, or makes it raise ConnectionError."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def play(self, reply: Reply, request: Request, connection: Connection) -> bool | None:
        """Send the reply; whether the connection stays, None when it was cut."""
        if reply.delay_s:
            await asyncio.sleep(reply.delay_s)
        if reply.hang:
            await asyncio.Event().wait()
        if reply.interim is not None:
            await _send_interims(reply.interim, connection)
        manner = manner_of(
            reply, keep_alive=request.keep_alive, http_1_0=request.http_1_0, now=self._clock.wall()
        )
        if reply.cut is not None:
            await _play_part(reply, reply.cut, manner, connection)
            await _cut(reply.cut, connection)
            return None
        body = () if request.method == "HEAD" else pieces(reply, manner)
        await _send(connection, head(reply, manner), body, pause_s=reply.drip_s)
        return not manner.close


async def _play_part(reply: Reply, cut: Cut, manner: Manner, connection: Connection) -> None:
    """Send what comes before the cut, and wait until it has left."""
    if cut.at in {"before_reading", "before_answer"}:
        return
    # So that waiting for room means waiting until the buffer is empty.
    connection.transport.set_write_buffer_limits(high=0)
    body = first_half(reply, manner) if cut.at == "mid_body" else ()
    await _send(connection, head(reply, manner), body)


async def _send(
    connection: Connection, begin: bytes, body: Iterable[bytes], *, pause_s: float = 0.0
) -> None:
    """Send the head and the pieces; the first piece goes with the head, unless there is a pause
    before it.
    """
    waiting = begin
    for number, piece in enumerate(body):
        if pause_s:
            await connection.send_all(waiting)
            waiting = piece
            await asyncio.sleep(pause_s if number else 0)
        elif number == 0:
            waiting += piece
        else:
            await connection.send_all(waiting)
            waiting = piece
            if number % SLICE == 0:
                await asyncio.sleep(0)
    await connection.send_all(waiting)


async def _send_interims(wanted: Interim, connection: Connection) -> None:
    sent = 0
    while wanted.endless or sent < wanted.times:
        await connection.send_all(interim(wanted.status))
        sent += 1
        await asyncio.sleep(wanted.every_s)


async def _cut(cut: Cut, connection: Connection) -> None:
    """End the connection as the cut says; after a half close, wait until the sender ends the other
    half.
    """
    if cut.by == "close":
        connection.close()
        return
    with socket.socket(
        fileno=os.dup(connection.transport.get_extra_info("socket").fileno())
    ) as own:
        if cut.by == "reset":
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        else:
            own.shutdown(socket.SHUT_WR)
    if cut.by == "reset":
        connection.abort()
        return
    await asyncio.Event().wait()
