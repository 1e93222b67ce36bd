"""A real SMTP server for tests, within the test's own event loop, and one that is silent."""

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
    """What arrived; `refusals` are answered to RCPT, one each, before anything is taken."""

    port: int = 0
    envelopes: list[Envelope] = field(default_factory=list)
    secure: list[bool] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    asked: int = 0

    @property
    def messages(self) -> list[EmailMessage]:
        """The mails, parsed."""
        found = [
            message_from_bytes(bytes(one.content or b""), policy=policy.default)
            for one in self.envelopes
        ]
        return [message for message in found if isinstance(message, EmailMessage)]

    async def handle_RCPT(  # noqa: N802  aiosmtpd looks for the name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        self.asked += 1
        if self.errors:
            return self.errors.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        self.envelopes.append(envelope)
        self.secure.append(session.ssl is not None)
        return "250 taken"


@asynccontextmanager
async def mail_server(
    *errors: str, tls: ssl.SSLContext | None = None, **options: Any
) -> AsyncIterator[Mails]:
    """A server for the time of a test; it offers STARTTLS when it has a context."""
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
        for one in connections:
            if one.transport is not None:
                one.transport.close()
        await server.wait_closed()


@asynccontextmanager
async def silent_server() -> AsyncIterator[int]:
    """A server that takes connections and never says a word; its port."""
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
