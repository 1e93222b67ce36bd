"""One attempt: builds the request of a delivery, sends it and reports the result.

Everything that depends on the time of the attempt is made for each attempt: credentials, timestamp
and signature (sections 4.8, 5 and 6).
"""

import asyncio
from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

import msgspec

from hookproof.mockserver.delivery.attempt.body import BodyError, encode_body
from hookproof.mockserver.delivery.attempt.credentials import Authenticator, CredentialsError
from hookproof.mockserver.delivery.attempt.headers import (
    CONTENT_TYPE,
    VALUE,
    Headers,
    allowed_custom_headers,
    carried,
    header_problems,
    header_text,
    reserved_header_names,
)
from hookproof.mockserver.delivery.attempt.redirects import SentRequest, follow_redirects
from hookproof.mockserver.delivery.attempt.signing import Signer, SigningError
from hookproof.mockserver.delivery.http_client.connection import TlsError
from hookproof.mockserver.delivery.http_client.egress import EgressRefused
from hookproof.mockserver.delivery.http_client.http1 import ConnectionFailed, ProtocolError
from hookproof.mockserver.delivery.http_client.tls import CertificateError
from hookproof.mockserver.delivery.http_client.transport import Transport, UrlError, parse_url
from hookproof.mockserver.delivery.store_port import (
    Clock,
    EndpointSettings,
    Failure,
    PendingDelivery,
)
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import RedirectOutcome

METHOD: Final = "POST"
USER_AGENT: Final = ("User-Agent", "hookproof")
RETRY_AFTER: Final = "Retry-After"


class HeaderError(Exception):
    """A header of the delivery cannot be sent."""


FAILURE_OF_ERROR: Final = {
    EgressRefused: Failure.EGRESS,
    TlsError: Failure.TLS,
    ConnectionFailed: Failure.CONNECTION,
    ProtocolError: Failure.PROTOCOL,
    CredentialsError: Failure.CREDENTIALS,
    UrlError: Failure.CONFIGURATION,
    BodyError: Failure.CONFIGURATION,
    CertificateError: Failure.CONFIGURATION,
    HeaderError: Failure.CONFIGURATION,
    SigningError: Failure.CONFIGURATION,
}
ATTEMPT_ERRORS: Final = tuple(FAILURE_OF_ERROR)


class AttemptResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an attempt: a status, or a failure with its explanation.

    `retry_after` is the value of that header. `credentials_renewed`: the endpoint refused
    the credentials, and the next attempt has new ones.
    """

    status: int | None = None
    retry_after: str | None = None
    credentials_renewed: bool = False
    failure: Failure | None = None
    detail: str = ""


class AttemptSender:
    """Sends single attempts under one dialect."""

    def __init__(
        self,
        dialect: Dialect,
        transport: Transport,
        authenticator: Authenticator,
        signer: Signer,
        clock: Clock,
    ) -> None:
        self._dialect = dialect
        self._transport = transport
        self._authenticator = authenticator
        self._signer = signer
        self._clock = clock
        self._reserved = reserved_header_names(dialect)
        self._header_text = header_text(dialect)
        self._follows_redirects = dialect.retry.redirect.value is RedirectOutcome.FOLLOWED

    async def send(
        self,
        delivery: PendingDelivery,
        endpoint: EndpointSettings,
        on_sent: Callable[[], None] = lambda: None,
    ) -> AttemptResult:
        """Make one attempt within the endpoint's http_timeout.

        `on_sent` is called when the request is written to the connection.
        """
        try:
            credentials = await self._authenticator.headers_for(endpoint)
            url = parse_url(endpoint.url, endpoint.client_certificate)
            body = self._body(delivery, endpoint)
            headers = self._headers(delivery, endpoint, credentials.headers, body)
            deadline = asyncio.get_running_loop().time() + endpoint.http_timeout_s
            response = await self._transport.exchange(
                METHOD, url, headers, body, timeout_s=endpoint.http_timeout_s, on_sent=on_sent
            )
            if self._follows_redirects:
                sent = SentRequest(
                    url=endpoint.url,
                    method=METHOD,
                    headers=headers,
                    credentials=credentials.headers,
                    certificate=endpoint.client_certificate,
                    body=body,
                )
                response = await follow_redirects(self._transport, sent, response, deadline)
        except TimeoutError:
            return AttemptResult(
                failure=Failure.TIMEOUT,
                detail=f"no complete response within {endpoint.http_timeout_s:g} s",
            )
        except ATTEMPT_ERRORS as error:
            return AttemptResult(failure=FAILURE_OF_ERROR[type(error)], detail=str(error))
        credentials_renewed = False
        if response.status == HTTPStatus.UNAUTHORIZED:
            credentials_renewed = self._authenticator.handle_unauthorized(endpoint, credentials)
        return AttemptResult(
            status=response.status,
            retry_after=response.header(RETRY_AFTER),
            credentials_renewed=credentials_renewed,
        )

    def _body(self, delivery: PendingDelivery, endpoint: EndpointSettings) -> bytes:
        return encode_body(
            delivery.body, endpoint.content_type, self._dialect.delivery.form_body.value
        )

    def _headers(
        self,
        delivery: PendingDelivery,
        endpoint: EndpointSettings,
        credentials: Headers,
        body: bytes,
    ) -> Headers:
        custom: Headers = ()
        if delivery.custom_headers:
            reserved = self._reserved.union(name.lower() for name, _ in credentials)
            custom = tuple(
                (name, carried(value, self._header_text))
                for name, value in allowed_custom_headers(delivery.custom_headers, reserved)
            )
        problems = content_type_problems(endpoint.content_type) or header_problems(dict(custom))
        if problems:
            raise HeaderError(problems[0])
        has_user_agent = any(name.lower() == USER_AGENT[0].lower() for name, _ in custom)
        user_agent = () if has_user_agent else (USER_AGENT,)
        return (*self._own_headers(delivery, endpoint, body), *credentials, *user_agent, *custom)

    def _own_headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, body: bytes
    ) -> Headers:
        names = self._dialect.delivery
        headers = [(CONTENT_TYPE, endpoint.content_type)]
        if names.event_id_header is not None:
            headers.append((names.event_id_header, delivery.event_uid))
        if names.attempt_header is not None:
            headers.append(
                (names.attempt_header, str(names.first_attempt.value + delivery.attempts))
            )
        if names.event_type_header is not None:
            headers.append((names.event_type_header, encode_header_text(delivery.event_type)))
        # Signed last: the timestamp is the time of sending (section 4.3; section 6, item 3).
        return (*headers, *self._signer.headers(delivery, endpoint, self._clock(), body))


@lru_cache
def content_type_problems(content_type: str) -> tuple[str, ...]:
    """Return the reasons why a content type cannot be sent; cached, as endpoints share few."""
    return header_problems({CONTENT_TYPE: content_type})


def encode_header_text(value: str) -> str:
    """Return a text as a header value, percent-encoded if a header cannot carry it."""
    return value if VALUE.fullmatch(value) else quote(value)
