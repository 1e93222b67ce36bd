"""Authenticator: what deliveries show to prove themselves, and where it comes from (sections 2.3, 2.5
and 5).
"""

import ssl
from collections.abc import Mapping
from math import inf
from typing import Any, Final

import msgspec

from hookproof.mockserver.delivery.attempt.credentials import Authenticator, CredentialHeaders
from hookproof.mockserver.delivery.attempt.headers import AUTHORIZATION, Headers
from hookproof.mockserver.delivery.attempt.oauth2 import AccessToken, OAuth2Tokens
from hookproof.mockserver.delivery.http_client.http1 import Response
from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.delivery.http_client.transport import ParsedUrl, Transport, parse_url
from hookproof.mockserver.delivery.store_port import ClientCertificate, EndpointSettings
from hookproof.mockserver.faults.catalogue.deliveries.rate_limits import OtherSettings
from hookproof.mockserver.faults.registry import fault

SHOWN: Final = ("credentials",)


@fault("2.5-3", "2.5-6", shows_in=SHOWN)
class TokenNotShown(Authenticator):
    """A token is fetched, and the delivery goes out without it."""

    async def headers_for(self, endpoint: EndpointSettings) -> CredentialHeaders:
        """Nothing for OAuth 2."""
        shown = await super().headers_for(endpoint)
        authentication = endpoint.authentication or {}
        return (
            CredentialHeaders(headers=())
            if authentication.get("type") == self._oauth2_word
            else shown
        )


@fault("2.5-6", shows_in=SHOWN)
class MappingIgnored(OAuth2Tokens):
    """The token answer is read under the usual names, whatever field_mapping gives."""

    def _token(self, oauth2: Mapping[str, object], response: Response) -> AccessToken:
        return super()._token(
            {name: value for name, value in oauth2.items() if name != "field_mapping"}, response
        )


class OtherForm(OAuth2Tokens):
    """Asks for tokens with another form."""

    def _form(self, oauth2: Mapping[str, object]) -> dict[str, str]:
        return self.altered(super()._form(oauth2))

    def altered(self, form: dict[str, str]) -> dict[str, str]:
        """The members that are sent instead."""
        return form


@fault("2.5-4", seen="a secret that is masked before it is stored", shows_in=SHOWN)
class MaskedSecretSent(OtherForm):
    """A token is asked for with a masked client_secret."""

    def altered(self, form: dict[str, str]) -> dict[str, str]:
        """Stars."""
        return {name: "*" * 8 if name == "client_secret" else value for name, value in form.items()}


@fault("2.5-5", shows_in=SHOWN)
class ScopeLeftOut(OtherForm):
    """A token is asked for without scope and audience."""

    def altered(self, form: dict[str, str]) -> dict[str, str]:
        """Without both."""
        return {name: value for name, value in form.items() if name not in ("scope", "audience")}


@fault("2.5-7", seen="a token that is kept until it is refused", shows_in=SHOWN)
class TokenKeptForEver(OAuth2Tokens):
    """A token is used until the endpoint refuses it."""

    def _life_s(self, oauth2: Mapping[str, object], expires_in: object) -> float:
        return inf


@fault(
    "2.5-7",
    seen="seconds against milliseconds",
    shows_in=SHOWN,
    where=lambda dialect: len(dialect.words.oauth2_expiry_units) > 1,
)
class ExpiryUnitIgnored(OAuth2Tokens):
    """expires_in is counted in seconds, whatever expiry_time_unit says."""

    def _life_s(self, oauth2: Mapping[str, object], expires_in: object) -> float:
        return super()._life_s({}, expires_in)


@fault("2.5-8", shows_in=SHOWN)
class AssertionOfTheClient(OAuth2Tokens):
    """An assertion is by the client about itself, whatever issuer and subject say."""

    def _assertion(self, oauth2: Mapping[str, object]) -> dict[str, str]:
        return super()._assertion(
            {name: value for name, value in oauth2.items() if name not in ("issuer", "subject")}
        )


@fault("2.5-9", shows_in=SHOWN)
class ApiKeyAsBearer(Authenticator):
    """The header_value of an api_key goes out in the Authorization header, whatever header_name
    says.
    """

    async def headers_for(self, endpoint: EndpointSettings) -> CredentialHeaders:
        """Another name."""
        shown = await super().headers_for(endpoint)
        return msgspec.structs.replace(
            shown, headers=tuple((AUTHORIZATION, value) for _, value in shown.headers)
        )


@fault("2.5-10", seen="credentials that are not encoded", shows_in=SHOWN)
class BasicNotEncoded(Authenticator):
    """User name and password go out as they are."""

    def _checked(self, headers: Headers) -> Headers:
        return tuple(
            (name, value[:-2] if value.startswith("Basic ") else value) for name, value in headers
        )


@fault("2.3-17", shows_in=SHOWN)
class NoClientCertificate(OtherSettings):
    """A delivery presents no client certificate."""

    def changed(self, endpoint: EndpointSettings) -> EndpointSettings:
        """Without it."""
        return msgspec.structs.replace(endpoint, client_certificate=None)


@fault("2.3-18", seen="a connection pool that is shared", shows_in=SHOWN)
class CertificateOfAnother(TlsContexts):
    """Once a client certificate was presented, it is presented to everybody."""

    def context(self, certificate: ClientCertificate | None) -> ssl.SSLContext:
        """The latest one, where there should be none."""
        latest = next(reversed(self._with_certificate), None)
        return super().context(certificate or latest)


@fault("2.5-14", seen="the token fetch bypasses the guard of deliveries", shows_in=SHOWN)
class TokenRedirectFollowed(OAuth2Tokens):
    """A redirect that the token URL answers with is followed."""

    def __init__(self, transport: Transport, *further: Any) -> None:
        super().__init__(_Following(transport), *further)  # type: ignore[arg-type]


class _Following:
    """A transport that goes on where it is sent."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def exchange(
        self, method: str, address: ParsedUrl, headers: Headers, body: bytes, *, timeout_s: float
    ) -> Response:
        """The answer at the end of the way."""
        response = await self._transport.exchange(
            method, address, headers, body, timeout_s=timeout_s
        )
        elsewhere = response.header("Location")
        if elsewhere is None:
            return response
        return await self._transport.exchange(
            method, parse_url(elsewhere), headers, body, timeout_s=timeout_s
        )
