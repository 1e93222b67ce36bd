"""A server, an endpoint that fails, a chat and a mail server, all on real sockets."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from hookproof.mockserver.notifications.limits import NotificationLimits
from hookproof.mockserver.notifications.mail import MailServer
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
from tests.mockserver.running_server import Server, run_server

# Retry answers with which a delivery is given up after one attempt.
ONCE: Mapping[str, Any] = {**PROMPT, "attempts": 1}

SOON = NotificationLimits(window_s=30.0, attempts=2, wait_s=0.01, timeout_s=5.0)
DATA = {"card": "4111-payload"}
WAIT_S = "60"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationScenario:
    """The parts of a scenario; the endpoint `failing` answers 500 by default."""

    server: Server
    failing: EndpointServer
    chat: EndpointServer
    mails: Mails

    async def endpoint(self, **fields: Any) -> Any:
        """Create an endpoint that points at `failing`, with both contacts."""
        contacts = {
            "slack_webhook_url": f"{self.chat.url}/hooks/T0/s3cret",
            "support_email": "dev@receiver.invalid",
        }
        return await self.server.create_endpoint(
            **{"url": f"{self.failing.url}/e?token=t0ken", **contacts, **fields}
        )

    async def broadcast(self, count: int = 1) -> None:
        """Send so many events and wait until their deliveries have ended."""
        for _ in range(count):
            body = {
                "event_type": "order.paid",
                "data": DATA,
                "idempotency_key": f"key-{next_number()}",
            }
            response = await self.server.call("createBroadcastEvent", body=body)
            assert self.server.is_success("createBroadcastEvent", response), response
        await self.wait_until_delivered()

    async def wait_until_delivered(self) -> None:
        """Wait until no delivery is pending."""
        async with asyncio.timeout(60):
            while True:
                if not (await self.server.journal(kind="deliveries", state="pending"))[
                    "deliveries"
                ]:
                    return
                await asyncio.sleep(0.01)

    async def notifications(self, count: int, **wanted: str) -> list[dict[str, Any]]:
        """Wait for so many notifications in the journal and return them."""
        journal = await self.server.journal(
            kind="notifications", count=str(count), timeout=WAIT_S, **wanted
        )
        assert journal["complete"], journal
        entries: list[dict[str, Any]] = journal["notifications"]
        return entries

    async def status(self, uid: str) -> Any:
        return (await self.server.call("getEndpoint", target=uid)).data["status"]

    def chats(self) -> list[str]:
        """Return the texts that arrived at the chat."""
        return [json.loads(request.body)["text"] for request in self.chat.arrived]


_numbers = iter(range(10**9))


def next_number() -> int:
    return next(_numbers)


@asynccontextmanager
async def open_scenario(
    authority: LoopbackAuthority,
    *,
    answer: Responder | None = None,
    chat: Responder = always_ok,
    groups: Mapping[str, Mapping[str, Any]] | None = None,
    extends: str = "reference",
    limits: NotificationLimits = SOON,
    errors: tuple[str, ...] = (),
    mail: MailServer | None = None,
    **options: Any,
) -> AsyncIterator[NotificationScenario]:
    """Start all parts.

    `groups` are changed answers of the dialect; `mail` replaces the scenario's mail server.
    """
    changed_dialect = dialect(extends, **{"retry": ONCE, **(groups or {})})
    async with (
        serving(answer or answering(reply(500)), authority.context()) as failing,
        serving(chat, authority.context()) as chatting,
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
        yield NotificationScenario(server=server, failing=failing, chat=chatting, mails=mails)


def run_scenario(
    authority: LoopbackAuthority,
    scenario: Callable[[NotificationScenario], Awaitable[None]],
    **options: Any,
) -> None:
    async def main() -> None:
        async with open_scenario(authority, **options) as setting:
            await scenario(setting)

    asyncio.run(main())
