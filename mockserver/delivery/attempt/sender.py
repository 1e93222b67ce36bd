"""One attempt: the delivery made into a request, sent, and the answer told.

Everything that depends on the moment is made anew each time: credentials, time, signature (sections
4.8, 5, 6).
"""

from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

import msgspec

from hookproof.mockserver.delivery.attempt.body import BodyFault, delivery_body
from hookproof.mockserver.delivery.attempt.credentials import Credentials, CredentialsFault
from hookproof.mockserver.delivery.attempt.headers import (
    CONTENT_TYPE,
    VALUE,
    Headers,
    addable,
    header_problems,
    reserved_header_names,
)
from hookproof.mockserver.delivery.attempt.signing import Signer, SigningFault
from hookproof.mockserver.delivery.http_client.connection import TlsFault
from hookproof.mockserver.delivery.http_client.egress import EgressRefused
from hookproof.mockserver.delivery.http_client.http1 import ConnectionFault, ProtocolFault
from hookproof.mockserver.delivery.http_client.tls import CertificateFault
from hookproof.mockserver.delivery.http_client.transport import AddressFault, Transport, parse_url
from hookproof.mockserver.delivery.store_port import (
    Clock,
    EndpointSettings,
    Failure,
    PendingDelivery,
)
from hookproof.spec.dialect.model import Dialect

METHOD: Final = "POST"
AGENT: Final = (("User-Agent", "hookproof"),)
RETRY_AFTER: Final = "Retry-After"


class HeaderFault(Exception):
    """A header of the delivery cannot be sent."""


FAILURES: Final = {
    EgressRefused: Failure.EGRESS,
    TlsFault: Failure.TLS,
    ConnectionFault: Failure.CONNECTION,
    ProtocolFault: Failure.PROTOCOL,
    CredentialsFault: Failure.CREDENTIALS,
    AddressFault: Failure.CONFIGURATION,
    BodyFault: Failure.CONFIGURATION,
    CertificateFault: Failure.CONFIGURATION,
    HeaderFault: Failure.CONFIGURATION,
    SigningFault: Failure.CONFIGURATION,
}
FAULTS: Final = tuple(FAILURES)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an attempt: a status with its Retry-After, or a failure with its explanation.

    `renewed` says that the credentials were refused and that the next attempt has newer ones.
    """

    status: int | None = None
    retry_after: str | None = None
    renewed: bool = False
    failure: Failure | None = None
    detail: str = ""


class Courier:
    """Carries single attempts, as one dialect says."""

    def __init__(
        self,
        dialect: Dialect,
        transport: Transport,
        credentials: Credentials,
        signer: Signer,
        clock: Clock,
    ) -> None:
        self._dialect = dialect
        self._transport = transport
        self._credentials = credentials
        self._signer = signer
        self._clock = clock
        self._reserved = reserved_header_names(dialect)

    async def carry(
        self,
        delivery: PendingDelivery,
        endpoint: EndpointSettings,
        sent: Callable[[], None] = lambda: None,
    ) -> Answer:
        """Make one attempt within the endpoint's http_timeout; `sent` is called as the bytes go
        out.
        """
        try:
            shown = await self._credentials.shown(endpoint)
            address = parse_url(endpoint.url, endpoint.client_certificate)
            body = self._body(delivery, endpoint)
            headers = self._headers(delivery, endpoint, shown.headers, body)
            response = await self._transport.exchange(
                METHOD, address, headers, body, timeout_s=endpoint.http_timeout_s, sent=sent
            )
        except TimeoutError:
            return Answer(
                failure=Failure.TIMEOUT,
                detail=f"no whole answer within {endpoint.http_timeout_s:g} s",
            )
        except FAULTS as fault:
            return Answer(failure=FAILURES[type(fault)], detail=str(fault))
        unauthorised = response.status == HTTPStatus.UNAUTHORIZED
        return Answer(
            status=response.status,
            retry_after=response.header(RETRY_AFTER),
            renewed=unauthorised and self._credentials.refused(endpoint, shown),
        )

    def _body(self, delivery: PendingDelivery, endpoint: EndpointSettings) -> bytes:
        return delivery_body(
            delivery.body, endpoint.content_type, self._dialect.delivery.form_body.value
        )

    def _headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, shown: Headers, body: bytes
    ) -> Headers:
        custom: Headers = ()
        if delivery.custom_headers:
            taken = self._reserved.union(name.lower() for name, _ in shown)
            custom = addable(delivery.custom_headers, taken)
        for problem in (
            *content_type_problems(endpoint.content_type),
            *header_problems(dict(custom)),
        ):
            raise HeaderFault(problem)
        agent = (
            ()
            if custom and any(name.lower() == AGENT[0][0].lower() for name, _ in custom)
            else AGENT
        )
        return (*self._own_headers(delivery, endpoint, body), *shown, *agent, *custom)

    def _own_headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, body: bytes
    ) -> Headers:
        """Signed last: the time in the signature is the time of sending (sections 4.3 and 6, item
        3).
        """
        names = self._dialect.delivery
        headers = [
            (CONTENT_TYPE, endpoint.content_type),
            (names.event_id_header, delivery.event_uid),
        ]
        if names.attempt_header is not None:
            headers.append(
                (names.attempt_header, str(names.first_attempt.value + delivery.attempts))
            )
        if names.event_type_header is not None:
            headers.append((names.event_type_header, carried_text(delivery.event_type)))
        return (*headers, *self._signer.headers(delivery, endpoint, self._clock(), body))


@lru_cache
def content_type_problems(content_type: str) -> tuple[str, ...]:
    """What keeps a content type from being sent."""
    return header_problems({CONTENT_TYPE: content_type})


def carried_text(value: str) -> str:
    """A text as a header value; one that no header can carry is percent-encoded."""
    return value if VALUE.fullmatch(value) else quote(value)
