"""Bases of faults that alter the body, the headers or the URL of deliveries."""

from collections.abc import Callable

import msgspec

from hookproof.mockserver.delivery.attempt.headers import Headers
from hookproof.mockserver.delivery.attempt.sender import AttemptResult, AttemptSender
from hookproof.mockserver.delivery.store_port import EndpointSettings, PendingDelivery


class AlteredBody(AttemptSender):
    """Sends the body that `alter_body` returns, with a valid signature over it."""

    def _body(self, delivery: PendingDelivery, endpoint: EndpointSettings) -> bytes:
        return super()._body(
            msgspec.structs.replace(delivery, body=self.alter_body(delivery)), endpoint
        )

    def alter_body(self, delivery: PendingDelivery) -> bytes:
        """The JSON text to send."""
        return delivery.body


class AlteredHeaders(AttemptSender):
    """Sends the headers that `alter_headers` returns, the signature among them."""

    def _headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, shown: Headers, body: bytes
    ) -> Headers:
        return self.alter_headers(delivery, super()._headers(delivery, endpoint, shown, body))

    def alter_headers(self, delivery: PendingDelivery, headers: Headers) -> Headers:
        return headers


class AlteredUrl(AttemptSender):
    """Sends deliveries to the URL that `alter_url` returns."""

    async def send(
        self,
        delivery: PendingDelivery,
        endpoint: EndpointSettings,
        on_sent: Callable[[], None] = lambda: None,
    ) -> AttemptResult:
        altered = msgspec.structs.replace(endpoint, url=self.alter_url(endpoint.url))
        return await super().send(delivery, altered, on_sent)

    def alter_url(self, url: str) -> str:
        return url
