"""The channels of notifications: chat, and e-mail (section 2.3)."""

import json
import re
import ssl
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from email.utils import format_datetime
from http import HTTPStatus
from ipaddress import ip_network
from typing import Final, Protocol

import aiosmtplib

from hookproof.mockserver.delivery.attempt.headers import CONTENT_TYPE
from hookproof.mockserver.delivery.http_client.connection import TlsError
from hookproof.mockserver.delivery.http_client.egress import EgressGuard, EgressRefused
from hookproof.mockserver.delivery.http_client.http1 import ConnectionFailed, ProtocolError
from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.delivery.http_client.transport import Transport, UrlError, parse_url
from hookproof.mockserver.notifications.notice import Contact, Notice, Wording


class Undelivered(Exception):
    """A notice was not delivered; the message is one line without secrets and addresses.

    With `final`, another try would fail as well.
    """

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


class Channel(Protocol):
    """One way to reach a contact."""

    @property
    def name(self) -> str:
        """The name of the channel in the journal and the log."""

    def reaches(self, contact: Contact) -> bool:
        """Return whether the contact has an address for this channel."""

    async def send(self, notice: Notice) -> None:
        """Try once; raises Undelivered. The caller limits the time by cancelling."""

    async def close(self) -> None:
        """Close connections."""


HEADERS: Final = ((CONTENT_TYPE, "application/json"), ("User-Agent", "hookproof"))
# Slack's markup: unescaped, a name could mention a whole channel or disguise a link.
ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# Classes of statuses: RFC 9110, section 15.
SUCCESSFUL, CLIENT_ERROR = 2, 4


class ChatChannel:
    """A POST to the slack_webhook_url of an endpoint.

    The URL is as untrusted as an endpoint's, so the POST uses the same egress guard, the same
    trusted CA and no redirects, as deliveries do. Slack's incoming webhooks accept a JSON object
    with `text`; other chats accept the same.
    """

    name = "chat"

    def __init__(self, transport: Transport, wording: Wording, *, timeout_s: float) -> None:
        self._transport = transport
        self._wording = wording
        self._timeout_s = timeout_s

    def reaches(self, contact: Contact) -> bool:
        return bool(contact.slack_webhook_url)

    async def send(self, notice: Notice) -> None:
        try:
            address = parse_url(notice.contact.slack_webhook_url or "")
            response = await self._transport.exchange(
                "POST", address, HEADERS, self._body(notice), timeout_s=self._timeout_s
            )
        except UrlError:
            # The error's message quotes the URL, which lets anyone post.
            raise Undelivered(
                "the slack_webhook_url is not a plain http or https URL", final=True
            ) from None
        except EgressRefused as refused:
            raise Undelivered(str(refused), final=True) from None
        except (TlsError, ConnectionFailed, ProtocolError) as error:
            raise Undelivered(str(error)) from None
        if response.status // 100 != SUCCESSFUL:
            is_final = (
                response.status // 100 == CLIENT_ERROR
                and response.status != HTTPStatus.TOO_MANY_REQUESTS
            )
            raise Undelivered(f"the chat webhook answered {response.status}", final=is_final)

    async def close(self) -> None:
        await self._transport.close()

    def _body(self, notice: Notice) -> bytes:
        text = "\n".join(self._wording.lines(notice)).translate(ESCAPES)
        return json.dumps({"text": text}).encode("ascii")


ANY_ADDRESS: Final = (ip_network("0.0.0.0/0"), ip_network("::/0"))
SENDER: Final = "hookproof@localhost"
# For each address of the server except the last.
CONNECT_S: Final = 3.0
FOOTER: Final = "You receive this because the endpoint names this address as its support_email."
# RFC 5321, section 4.5.3.1, without the angle brackets.
MAX_MAILBOX_LENGTH: Final = 254
# RFC 5321, section 4.1.2, without quoted names and address literals; RFC 6531 allows names
# beyond ASCII.
_LOCAL: Final = re.compile(r"[^\s@\"(),:;<>\[\]\\]{1,64}")
_DOMAIN: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
# RFC 5321, section 4.2.1: replies from here on are permanent.
_PERMANENT: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServer:
    """The server that mail is submitted to, and the sender's address."""

    host: str
    port: int
    sender: str = SENDER


def parse_mailbox(text: str) -> Address:
    """Parse one e-mail address without a display name. Raises ValueError.

    Nothing in the result can end a header or an SMTP command.
    """
    local, at, domain = text.rpartition("@")
    if not at or len(text) > MAX_MAILBOX_LENGTH or not _LOCAL.fullmatch(local):
        raise ValueError("it is not of the form NAME@DOMAIN")
    if any(unicodedata.category(char)[0] == "C" for char in local):
        raise ValueError("it contains a control character")
    ascii_domain = domain.encode("idna").decode("ascii")  # a UnicodeError is a ValueError
    if not _DOMAIN.fullmatch(ascii_domain):
        raise ValueError("the part after the @ is not a domain")
    return Address(username=local, domain=ascii_domain)


class MailChannel:
    """Submits mail to the support_email of endpoints, with a connection for each message.

    The operator configured the server's address, which is permission enough to connect to it:
    `--allow-egress` is about untrusted addresses, and requiring it for the mail server would open
    that server to every endpoint URL. The guard still resolves the name only once and keeps
    metadata addresses closed. STARTTLS is used where it is offered, with the CA that deliveries
    trust; an untrusted certificate is a failure, never a reason to send in clear.
    """

    name = "email"

    def __init__(self, server: MailServer, tls: TlsContexts, wording: Wording) -> None:
        self._server = server
        self._sender = parse_mailbox(server.sender)
        self._tls = tls
        self._wording = wording
        self._guard = EgressGuard(ANY_ADDRESS)

    def reaches(self, contact: Contact) -> bool:
        return bool(contact.support_email)

    async def send(self, notice: Notice) -> None:
        """Submit one mail; raises Undelivered.

        The server's replies are left out of its message, since they may repeat addresses.
        """
        try:
            recipient = parse_mailbox(notice.contact.support_email or "")
        except ValueError:
            raise Undelivered("the support_email is not an e-mail address", final=True) from None
        try:
            await self._transfer(self.message(notice, recipient), recipient)
        except aiosmtplib.SMTPResponseException as refusal:
            raise _undelivered(refusal.code) from None
        except aiosmtplib.SMTPRecipientsRefused as refusal:
            raise _undelivered(refusal.recipients[0].code) from None
        except aiosmtplib.SMTPNotSupported:
            raise Undelivered("the mail server accepts only ASCII addresses", final=True) from None
        except EgressRefused as refused:
            raise Undelivered(str(refused), final=True) from None
        except ssl.SSLError as error:
            raise Undelivered(f"no TLS with the mail server: {error.reason}") from None
        except (aiosmtplib.SMTPException, OSError) as error:
            raise Undelivered(
                f"the mail server cannot be reached: {type(error).__name__}"
            ) from None

    def message(self, notice: Notice, recipient: Address) -> EmailMessage:
        message = EmailMessage(policy=SMTP_POLICY)
        message["From"] = self._sender
        message["To"] = recipient
        message["Subject"] = self._wording.subject(notice)
        message["Date"] = format_datetime(datetime.fromtimestamp(notice.at, UTC))
        # The same for every try, so that a recipient can recognise a mail that arrived twice.
        message["Message-ID"] = (
            f"<{notice.contact.uid}.{notice.kind}.{notice.at * 1e6:.0f}@{self._sender.domain}>"
        )
        message["Auto-Submitted"] = "auto-generated"  # RFC 3834: asks for no automatic reply
        message.set_content("\n\n".join([*self._wording.lines(notice), FOOTER]) + "\n")
        return message

    async def close(self) -> None:
        """Do nothing: each connection is closed after its mail."""

    async def _transfer(self, message: EmailMessage, recipient: Address) -> None:
        client = await self._connect()
        try:
            await client.ehlo()
            if client.supports_extension("starttls"):
                await client.starttls(
                    server_hostname=self._server.host, tls_context=self._tls.context(None)
                )
            await client.send_message(
                message, sender=self._sender.addr_spec, recipients=[recipient.addr_spec]
            )
            await client.quit()
        finally:
            client.close()

    async def _connect(self) -> aiosmtplib.SMTP:
        """Connect to the first of the server's checked addresses that accepts."""
        addresses = await self._guard.addresses(self._server.host)
        problem: Exception = OSError("the name has no address")
        for remaining, address in zip(reversed(range(len(addresses))), addresses, strict=True):
            client = aiosmtplib.SMTP(
                hostname=address,
                port=self._server.port,
                local_hostname=self._sender.domain,
                start_tls=False,
                timeout=None,
            )
            try:
                await client.connect(timeout=CONNECT_S if remaining else None)
            except aiosmtplib.SMTPConnectError as error:
                problem = error
            else:
                return client
        raise problem


def _undelivered(code: int) -> Undelivered:
    return Undelivered(f"the mail server answered {code}", final=code >= _PERMANENT)
