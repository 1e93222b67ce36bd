"""Sends a scripted reply: waits, sends the bytes, and cuts the connection as the script says."""

import asyncio
import os
import socket
import struct
from collections.abc import Iterable
from typing import Final

from hookproof.receiver.clock import Clock
from hookproof.receiver.http.connection import SenderConnection
from hookproof.receiver.http.reply_bytes import (
    Transmission,
    body_pieces,
    first_half_of_body,
    head_bytes,
    interim_answer,
    transmission_of,
)
from hookproof.receiver.http.request import ReceivedRequest
from hookproof.receiver.replies.script import Cut, Interim, Reply

RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)
# How many pieces are sent before other connections get their turn, even if all were written.
SLICE: Final = 16


class ReplySender:
    """Sends replies; cancelled, or raises ConnectionError, when the sender disconnects."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def send(
        self, reply: Reply, request: ReceivedRequest, connection: SenderConnection
    ) -> bool | None:
        """Send the reply; return whether the connection stays open, None if it was cut."""
        if reply.delay_s:
            await asyncio.sleep(reply.delay_s)
        if reply.hang:
            await asyncio.Event().wait()
        if reply.interim is not None:
            await _send_interims(reply.interim, connection)
        transmission = transmission_of(
            reply, keep_alive=request.keep_alive, http_1_0=request.http_1_0, now=self._clock.wall()
        )
        if reply.cut is not None:
            await _send_part(reply, reply.cut, transmission, connection)
            await _cut(reply.cut, connection)
            return None
        head = head_bytes(reply, transmission)
        body = () if request.method == "HEAD" else body_pieces(reply, transmission)
        if reply.drip_s:
            await _drip(connection, head, body, pause_s=reply.drip_s)
        else:
            await _send_body(connection, head, body)
        return not transmission.close


async def _send_part(
    reply: Reply, cut: Cut, transmission: Transmission, connection: SenderConnection
) -> None:
    """Send what comes before the cut, and wait until it has been written to the socket."""
    if cut.at in {"before_reading", "before_answer"}:
        return
    # So that pending for room means pending until the buffer is empty.
    connection.transport.set_write_buffer_limits(high=0)
    body = first_half_of_body(reply, transmission) if cut.at == "mid_body" else ()
    await _send_body(connection, head_bytes(reply, transmission), body)


async def _send_body(connection: SenderConnection, head: bytes, body: Iterable[bytes]) -> None:
    """Send the head and the pieces; the first piece goes with the head."""
    pending = head
    for number, piece in enumerate(body):
        if number == 0:
            pending += piece
            continue
        await connection.send_all(pending)
        pending = piece
        if number % SLICE == 0:
            await asyncio.sleep(0)
    await connection.send_all(pending)


async def _drip(
    connection: SenderConnection, head: bytes, body: Iterable[bytes], *, pause_s: float
) -> None:
    """Send the head, and the pieces with a pause after each."""
    await connection.send_all(head)
    for piece in body:
        await connection.send_all(piece)
        await asyncio.sleep(pause_s)


async def _send_interims(wanted: Interim, connection: SenderConnection) -> None:
    sent = 0
    while wanted.endless or sent < wanted.times:
        await connection.send_all(interim_answer(wanted.status))
        sent += 1
        await asyncio.sleep(wanted.every_s)


async def _cut(cut: Cut, connection: SenderConnection) -> None:
    """End the connection as the cut says.

    After a half close, wait until the sender closes the other half.
    """
    if cut.by == "close":
        connection.close()
        return
    with socket.socket(
        fileno=os.dup(connection.transport.get_extra_info("socket").fileno())
    ) as copy:
        if cut.by == "reset":
            copy.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        else:
            copy.shutdown(socket.SHUT_WR)
    if cut.by == "reset":
        connection.abort()
        return
    await asyncio.Event().wait()
