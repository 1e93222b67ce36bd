"""The chat channel: a POST to the slack_webhook_url of an endpoint (section 2.3).

The URL is as untrusted as an endpoint's, so the POST uses the same egress guard, the same trusted
CA and no redirects, as deliveries do. Slack's incoming webhooks accept a JSON object with `text`;
other chats accept the same.
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
# Slack's markup: unescaped, a name could mention a whole channel or disguise a link.
ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# Classes of statuses: RFC 9110, section 15.
SUCCESSFUL, CLIENT_ERROR = 2, 4


class ChatChannel:
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
