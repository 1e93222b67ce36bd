"""A mail server that keeps what it gets: a mail to TOKEN@DOMAIN is a delivery to the token.

Nothing is passed on. The method of such a delivery is MAIL.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email import message_from_bytes
from typing import TYPE_CHECKING, Final

from hookproof.receiver.clock import Clock
from hookproof.receiver.http.address import Address
from hookproof.receiver.inbox.arrival import Arrival, RawHeaders, Sender
from hookproof.receiver.session import Sessions

if TYPE_CHECKING:  # few receivers accept mail, and it is in the extra `check`
    from aiosmtpd.smtp import SMTP, Envelope
    from aiosmtpd.smtp import Session as SmtpSession

METHOD: Final = "MAIL"
ACCEPTED: Final = 250
HOST_NAME: Final = "receiver.invalid"


class MailKeeper:
    """Handles the commands of one mail server; aiosmtpd looks for the names of the methods.

    `received` is how many mails came, those for unknown tokens included, which are not kept.
    """

    def __init__(self, sessions: Sessions, clock: Clock) -> None:
        self.received = 0
        self._sessions = sessions
        self._clock = clock

    async def handle_DATA(  # noqa: N802
        self, server: "SMTP", session: "SmtpSession", envelope: "Envelope"
    ) -> str:
        """Keep the mail once for each recipient."""
        content = bytes(envelope.original_content or b"")
        now = self._clock.now()
        self.received += 1
        for recipient in envelope.rcpt_tos:
            token = recipient.rpartition("@")[0]
            owner = self._sessions.session_for(token)
            if token not in owner.tokens:
                continue
            arrival = Arrival(
                token=token,
                method=METHOD,
                path=f"/{token}",
                headers=_headers(content),
                body=content,
                arrived_at=now.wall,
                arrived_monotonic=now.monotonic,
                sender=Sender(int(session.peer[1]) if session.peer else 0),
            )
            owner.inbox.record(arrival)
            owner.inbox.complete(arrival, status=ACCEPTED, at=self._clock.monotonic())
        return f"{ACCEPTED} OK"


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSink:
    """A running mail server: host:port, and what keeps its mail."""

    address: str
    keeper: MailKeeper


@asynccontextmanager
async def listen_for_mail(
    sessions: Sessions, wanted: Address, clock: Clock, *, reserved: bool
) -> AsyncIterator[MailSink]:
    """Accept mail within the block.

    `reserved`: another process holds the port until this one listens. Raises OSError.
    """
    from aiosmtpd.smtp import SMTP

    keeper, open_connections = MailKeeper(sessions, clock), set[SMTP]()

    def connect() -> SMTP:
        connection = SMTP(keeper, hostname=HOST_NAME, loop=asyncio.get_running_loop())
        open_connections.add(connection)
        return connection

    server = await asyncio.get_running_loop().create_server(
        connect, wanted.host, wanted.port, reuse_port=reserved or None
    )
    try:
        port = server.sockets[0].getsockname()[1]
        yield MailSink(address=f"{wanted.host}:{port}", keeper=keeper)
    finally:
        server.close()
        for connection in open_connections:
            if connection.transport is not None:
                connection.transport.close()


def _headers(content: bytes) -> RawHeaders:
    return tuple(
        (name.encode("latin-1", "replace"), str(value).encode("latin-1", "replace"))
        for name, value in message_from_bytes(content).items()
    )
