"""A server, an endpoint that fails, a chat and a mail server, all on real sockets."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

from hookproof.mockserver.notifications.channels import MailServer
from hookproof.mockserver.notifications.notifier import NotificationLimits
from tests.mockserver.delivery.endpoints import (
    EndpointServer,
    LoopbackAuthority,
    Responder,
    always_ok,
    answering,
    reply,
    serving,
)
from tests.mockserver.delivery.engines import PROMPT, dialect
from tests.mockserver.notifications.mail_server import Mails, mail_server
from tests.mockserver.polling import poll_until
from tests.mockserver.running_server import Server, run_server

# Retry answers with which a delivery is given up after one attempt.
ONCE: Mapping[str, Any] = {**PROMPT, "attempts": 1}

QUICK_LIMITS = NotificationLimits(window_s=30.0, attempts=2, wait_s=0.01, timeout_s=5.0)
DATA = {"card": "4111-payload"}
WAIT_S = "60"

_key_numbers = count()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationServers:
    """The servers of a scenario; the endpoint `failing` answers 500 by default."""

    server: Server
    failing: EndpointServer
    chat: EndpointServer
    mails: Mails

    async def create_endpoint(self, **fields: Any) -> Any:
        """Create an endpoint that points at `failing`, with both contacts."""
        contacts = {
            "slack_webhook_url": f"{self.chat.url}/hooks/T0/s3cret",
            "support_email": "dev@receiver.invalid",
        }
        return await self.server.create_endpoint(
            **{"url": f"{self.failing.url}/e?token=t0ken", **contacts, **fields}
        )

    async def broadcast(self, events: int = 1) -> None:
        """Send so many events and wait until their deliveries have ended."""
        for _ in range(events):
            body = {
                "event_type": "order.paid",
                "data": DATA,
                "idempotency_key": f"key-{next(_key_numbers)}",
            }
            response = await self.server.call("createBroadcastEvent", body=body)
            assert self.server.is_success("createBroadcastEvent", response), response
        await self.wait_until_delivered()

    async def wait_until_delivered(self) -> None:
        """Wait until no delivery is pending."""

        async def none_pending() -> bool:
            journal = await self.server.journal(kind="deliveries", state="pending")
            return not journal["deliveries"]

        await poll_until(none_pending)

    async def notifications(self, number: int, **conditions: str) -> list[dict[str, Any]]:
        """Wait for so many notifications in the journal and return them."""
        journal = await self.server.journal(
            kind="notifications", count=str(number), timeout=WAIT_S, **conditions
        )
        assert journal["complete"], journal
        entries: list[dict[str, Any]] = journal["notifications"]
        return entries

    async def status(self, uid: str) -> Any:
        return (await self.server.call("getEndpoint", target=uid)).data["status"]

    def chats(self) -> list[str]:
        """Return the texts that arrived at the chat."""
        return [json.loads(request.body)["text"] for request in self.chat.arrived]


@asynccontextmanager
async def start_servers(
    authority: LoopbackAuthority,
    *,
    answer: Responder | None = None,
    chat: Responder = always_ok,
    groups: Mapping[str, Mapping[str, Any]] | None = None,
    extends: str = "reference",
    limits: NotificationLimits = QUICK_LIMITS,
    errors: tuple[str, ...] = (),
    mail: MailServer | None = None,
    **options: Any,
) -> AsyncIterator[NotificationServers]:
    """Start all servers.

    `groups` are changed answers of the dialect; `mail` replaces the scenario's mail server.
    """
    changed_dialect = dialect(extends, **{"retry": ONCE, **(groups or {})})
    async with (
        serving(answer or answering(reply(500)), authority.context()) as failing,
        serving(chat, authority.context()) as chat_server,
        mail_server(*errors) as mails,
        run_server(
            extends,
            change=lambda _: changed_dialect,
            ca_file=authority.file,
            mail_server=mail
            or MailServer(host="127.0.0.1", port=mails.port, sender="hooks@sender.invalid"),
            notifications=limits,
            **options,
        ) as server,
    ):
        yield NotificationServers(server=server, failing=failing, chat=chat_server, mails=mails)
