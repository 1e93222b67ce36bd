"""A real SMTP server in the test's own event loop, and one that never replies."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.smtp import SMTP, Envelope, Session


@dataclass(kw_only=True)
class Mails:
    """What arrived; `errors` are the replies to the first RCPT commands, `secure` says of each mail
    whether it arrived over TLS.
    """

    port: int = 0
    envelopes: list[Envelope] = field(default_factory=list)
    secure: list[bool] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    rcpt_commands: int = 0

    @property
    def messages(self) -> list[EmailMessage]:
        messages = [
            message_from_bytes(bytes(item.content or b""), policy=policy.default)
            for item in self.envelopes
        ]
        return [message for message in messages if isinstance(message, EmailMessage)]

    async def handle_RCPT(  # noqa: N802  aiosmtpd looks for the name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        self.rcpt_commands += 1
        if self.errors:
            return self.errors.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        self.envelopes.append(envelope)
        self.secure.append(session.ssl is not None)
        return "250 OK"


@asynccontextmanager
async def mail_server(
    *errors: str, tls: ssl.SSLContext | None = None, **options: Any
) -> AsyncIterator[Mails]:
    """Run a server; it offers STARTTLS if it has a context."""
    mails = Mails(errors=list(errors))
    loop = asyncio.get_running_loop()
    connections: list[SMTP] = []

    def connection() -> SMTP:
        connections.append(
            SMTP(mails, hostname="mail.invalid", loop=loop, tls_context=tls, **options)
        )
        return connections[-1]

    server = await loop.create_server(connection, "127.0.0.1", 0)
    mails.port = server.sockets[0].getsockname()[1]
    try:
        yield mails
    finally:
        server.close()
        for item in connections:
            if item.transport is not None:
                item.transport.close()
        await server.wait_closed()


@asynccontextmanager
async def silent_server() -> AsyncIterator[int]:
    """Run a server that accepts connections and never replies; yield its port."""
    writers: list[asyncio.StreamWriter] = []

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await reader.read()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for writer in writers:
            writer.transport.abort()
        await server.wait_closed()
