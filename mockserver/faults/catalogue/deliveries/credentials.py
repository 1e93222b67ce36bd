"""Credentials that deliveries carry, and where they come from (sections 2.3, 2.5 and 5)."""

import ssl
from collections.abc import Mapping
from math import inf
from typing import Any, Final

import msgspec

from hookproof.mockserver.delivery.attempt.credentials import (
    NO_CREDENTIALS,
    Authenticator,
    CredentialHeaders,
)
from hookproof.mockserver.delivery.attempt.headers import AUTHORIZATION, Headers
from hookproof.mockserver.delivery.attempt.oauth2 import AccessToken, OAuth2Tokens
from hookproof.mockserver.delivery.http_client.http1 import Response
from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.delivery.http_client.transport import ParsedUrl, Transport, parse_url
from hookproof.mockserver.delivery.store_port import ClientCertificate, EndpointSettings
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_endpoints import AlteredSettings

SHOWN: Final = ("credentials",)


@fault("2.5-3", "2.5-6", shows_in=SHOWN)
class TokenNotShown(Authenticator):
    """An OAuth 2 token is fetched but not sent with the delivery."""

    async def headers_for(self, endpoint: EndpointSettings) -> CredentialHeaders:
        credentials = await super().headers_for(endpoint)
        authentication = endpoint.authentication or {}
        if authentication.get("type") == self._oauth2_word:
            return NO_CREDENTIALS
        return credentials


@fault("2.5-6", shows_in=SHOWN)
class MappingIgnored(OAuth2Tokens):
    """The token response is read by the usual names, whatever field_mapping says."""

    def _token(self, oauth2: Mapping[str, object], response: Response) -> AccessToken:
        return super()._token(
            {name: value for name, value in oauth2.items() if name != "field_mapping"}, response
        )


class AlteredTokenForm(OAuth2Tokens):
    """Requests tokens with the form that `alter_form` returns."""

    def _form(self, oauth2: Mapping[str, object]) -> dict[str, str]:
        return self.alter_form(super()._form(oauth2))

    def alter_form(self, form: dict[str, str]) -> dict[str, str]:
        return form


@fault("2.5-4", seen="a secret that is masked before it is stored", shows_in=SHOWN)
class MaskedSecretSent(AlteredTokenForm):
    """The token request carries a masked client_secret."""

    def alter_form(self, form: dict[str, str]) -> dict[str, str]:
        return {name: "*" * 8 if name == "client_secret" else value for name, value in form.items()}


@fault("2.5-5", shows_in=SHOWN)
class ScopeLeftOut(AlteredTokenForm):
    """The token request carries neither scope nor audience."""

    def alter_form(self, form: dict[str, str]) -> dict[str, str]:
        return {name: value for name, value in form.items() if name not in ("scope", "audience")}


@fault("2.5-7", seen="a token that is kept until it is refused", shows_in=SHOWN)
class TokenKeptIndefinitely(OAuth2Tokens):
    """A token is used until the endpoint refuses it, whatever its expires_in says."""

    def _life_s(self, oauth2: Mapping[str, object], expires_in: object) -> float:
        return inf


@fault(
    "2.5-7",
    seen="seconds against milliseconds",
    shows_in=SHOWN,
    where=lambda dialect: len(dialect.words.oauth2_expiry_units) > 1,
)
class ExpiryUnitIgnored(OAuth2Tokens):
    """The expires_in of a token is read in seconds, whatever expiry_time_unit says."""

    def _life_s(self, oauth2: Mapping[str, object], expires_in: object) -> float:
        return super()._life_s({}, expires_in)


@fault("2.5-8", shows_in=SHOWN)
class AssertionOfTheClient(OAuth2Tokens):
    """A client assertion names the client, whatever issuer and subject say."""

    def _assertion(self, oauth2: Mapping[str, object]) -> dict[str, str]:
        return super()._assertion(
            {name: value for name, value in oauth2.items() if name not in ("issuer", "subject")}
        )


@fault("2.5-9", shows_in=SHOWN)
class ApiKeyInAuthorization(Authenticator):
    """An api_key is sent in the Authorization header, whatever header_name says."""

    async def headers_for(self, endpoint: EndpointSettings) -> CredentialHeaders:
        credentials = await super().headers_for(endpoint)
        headers = tuple((AUTHORIZATION, value) for _, value in credentials.headers)
        return msgspec.structs.replace(credentials, headers=headers)


@fault("2.5-10", shows_in=SHOWN)
class BasicCredentialsCut(Authenticator):
    """The encoded credentials of basic_auth lack their last two characters."""

    def _checked(self, headers: Headers) -> Headers:
        return tuple(
            (name, value[:-2] if value.startswith("Basic ") else value) for name, value in headers
        )


@fault("2.3-17", shows_in=SHOWN)
class NoClientCertificate(AlteredSettings):
    """Deliveries present no client certificate."""

    def alter_settings(self, endpoint: EndpointSettings) -> EndpointSettings:
        return msgspec.structs.replace(endpoint, client_certificate=None)


@fault("2.3-18", seen="a connection pool that is shared", shows_in=SHOWN)
class CertificateOfAnother(TlsContexts):
    """An endpoint without a client certificate is presented the one of another endpoint."""

    def context(self, certificate: ClientCertificate | None) -> ssl.SSLContext:
        latest = next(reversed(self._with_certificate), None)
        return super().context(certificate or latest)


@fault("2.5-14", seen="the token fetch bypasses the guard of deliveries", shows_in=SHOWN)
class TokenRedirectFollowed(OAuth2Tokens):
    """A redirect from the token URL is followed."""

    def __init__(self, transport: Transport, *further: Any) -> None:
        super().__init__(RedirectingTransport(transport), *further)  # type: ignore[arg-type]


class RedirectingTransport:
    """Follows one redirect."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def exchange(
        self, method: str, url: ParsedUrl, headers: Headers, body: bytes, *, timeout_s: float
    ) -> Response:
        response = await self._transport.exchange(method, url, headers, body, timeout_s=timeout_s)
        location = response.header("Location")
        if location is None:
            return response
        return await self._transport.exchange(
            method, parse_url(location), headers, body, timeout_s=timeout_s
        )
