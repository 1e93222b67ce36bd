"""The chat channel: a POST to the slack_webhook_url of an endpoint (section 2.3).

The URL comes from a stranger just as an endpoint's does, so the POST goes the way of deliveries:
the same guard, the same trust, no redirect. Slack's incoming webhooks take a JSON object with
`text`, and other chats take the same.
"""

import json
from http import HTTPStatus
from typing import Final

from hookproof.mockserver.delivery.attempt.headers import CONTENT_TYPE
from hookproof.mockserver.delivery.http_client.connection import TlsError
from hookproof.mockserver.delivery.http_client.egress import EgressRefused
from hookproof.mockserver.delivery.http_client.http1 import ConnectionFailed, ProtocolError
from hookproof.mockserver.delivery.http_client.transport import Transport, UrlError, parse_url
from hookproof.mockserver.notifications.channel import Undelivered
from hookproof.mockserver.notifications.notice import Contact, Notice
from hookproof.mockserver.notifications.wording import Wording

HEADERS: Final = ((CONTENT_TYPE, "application/json"), ("User-Agent", "hookproof"))
# Slack's markup: without this a name could mention a whole channel or show a link under false
# words.
MARKUP: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
SUCCESSFUL, CLIENT_ERROR = 2, 4  # the classes of statuses, RFC 9110, section 15


class ChatChannel:
    """Posts to chat webhooks."""

    name = "chat"

    def __init__(self, transport: Transport, wording: Wording, *, timeout_s: float) -> None:
        self._transport = transport
        self._wording = wording
        self._timeout_s = timeout_s

    def reaches(self, contact: Contact) -> bool:
        """Whether there is a URL to post to."""
        return bool(contact.slack_webhook_url)

    async def send(self, notice: Notice) -> None:
        """Post once; raises Undelivered."""
        try:
            address = parse_url(notice.contact.slack_webhook_url or "")
            response = await self._transport.exchange(
                "POST", address, HEADERS, self._body(notice), timeout_s=self._timeout_s
            )
        except UrlError:
            # Its message quotes the URL, which is as good as a password.
            raise Undelivered(
                "the slack_webhook_url is no http or https URL with a host", final=True
            ) from None
        except EgressRefused as refused:
            raise Undelivered(str(refused), final=True) from None
        except (TlsError, ConnectionFailed, ProtocolError) as fault:
            raise Undelivered(str(fault)) from None
        if response.status // 100 != SUCCESSFUL:
            refused_for_good = (
                response.status // 100 == CLIENT_ERROR
                and response.status != HTTPStatus.TOO_MANY_REQUESTS
            )
            raise Undelivered(
                f"the chat webhook answered {response.status}", final=refused_for_good
            )

    async def close(self) -> None:
        """Close kept connections."""
        await self._transport.close()

    def _body(self, notice: Notice) -> bytes:
        text = "\n".join(self._wording.lines(notice)).translate(MARKUP)
        return json.dumps({"text": text}).encode("ascii")
