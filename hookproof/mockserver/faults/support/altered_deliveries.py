"""Bases of faults that alter the body or the headers of deliveries."""

import msgspec

from hookproof.mockserver.delivery.attempt.headers import Headers
from hookproof.mockserver.delivery.attempt.sender import AttemptSender
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
