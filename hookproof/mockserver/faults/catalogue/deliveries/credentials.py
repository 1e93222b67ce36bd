"""Credentials that deliveries carry, and where they come from (sections 2.3, 2.5 and 5)."""

import ssl
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Final

import msgspec

from hookproof.mockserver.delivery.attempt.credentials import (
    NO_CREDENTIALS,
    Authenticator,
    CredentialHeaders,
    object_member,
    text_member,
)
from hookproof.mockserver.delivery.attempt.headers import AUTHORIZATION, Headers
from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.delivery.store_port import ClientCertificate, EndpointSettings
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_endpoints import AlteredSettings

SHOWN: Final = ("credentials",)
CERTIFIED: Final = ("client_certificates",)
FOR_URLS: Final = str.maketrans("+/", "-_")


@fault("token_sent mapped_names_read", shows_in=SHOWN)
class TokenNotShown(Authenticator):
    """An OAuth 2 token is fetched but not sent with the delivery."""

    async def headers_for(self, endpoint: EndpointSettings) -> CredentialHeaders:
        credentials = await super().headers_for(endpoint)
        authentication = endpoint.authentication or {}
        if authentication.get("type") == self._oauth2_word:
            return NO_CREDENTIALS
        return credentials


@fault("api_key_sent", shows_in=SHOWN)
class ApiKeyInAuthorization(Authenticator):
    """An api_key is sent in the Authorization header, whatever header_name says."""

    async def headers_for(self, endpoint: EndpointSettings) -> CredentialHeaders:
        credentials = await super().headers_for(endpoint)
        headers = tuple((AUTHORIZATION, value) for _, value in credentials.headers)
        return msgspec.structs.replace(credentials, headers=headers)


@fault("api_key_sent basic_auth_sent", shows_in=SHOWN)
class CredentialsLeftInTheClient(Authenticator):
    """An endpoint without authentication gets the api_keys and the basic_auth that were sent to
    others before.
    """

    left: ClassVar[dict[str, str]] = {}

    async def headers_for(self, endpoint: EndpointSettings) -> CredentialHeaders:
        credentials = await super().headers_for(endpoint)
        if endpoint.authentication is None:
            return CredentialHeaders(headers=tuple(self.left.items()))
        if endpoint.authentication.get("type") != self._oauth2_word:
            self.left.update(credentials.headers)
        return credentials


@fault("basic_auth_sent", shows_in=SHOWN)
class BasicCredentialsCut(Authenticator):
    """The encoded credentials of basic_auth lack their last two characters."""

    def _checked(self, headers: Headers) -> Headers:
        return tuple(
            (name, value[:-2] if value.startswith("Basic ") else value) for name, value in headers
        )


@fault("basic_auth_sent", shows_in=SHOWN)
class BasicCredentialsForUrls(Authenticator):
    """The credentials of basic_auth are encoded in the alphabet of base64 that URLs need."""

    def _checked(self, headers: Headers) -> Headers:
        return tuple(
            (name, value.translate(FOR_URLS) if value.startswith("Basic ") else value)
            for name, value in headers
        )


class AlteredCredentials(AlteredSettings, ABC):
    """Alters the members of one kind of authentication before a delivery carries them."""

    kind: ClassVar[str]

    def alter_settings(self, endpoint: EndpointSettings) -> EndpointSettings:
        given = endpoint.authentication or {}
        if self.kind not in given:
            return endpoint
        altered = {**given, self.kind: self.alter_members(object_member(given, self.kind))}
        return msgspec.structs.replace(endpoint, authentication=altered)

    @abstractmethod
    def alter_members(self, members: Mapping[str, object]) -> Mapping[str, object]: ...


@fault("basic_auth_sent", seen="a pair that is split at each colon", shows_in=SHOWN)
class PasswordCutAtAColon(AlteredCredentials):
    """Of a password what stands before its first colon is sent."""

    kind = "basic_auth"

    def alter_members(self, members: Mapping[str, object]) -> Mapping[str, object]:
        return {**members, "password": text_member(members, "password").partition(":")[0]}


@fault("basic_auth_sent", seen="texts that are trimmed when they are read", shows_in=SHOWN)
class PasswordTrimmed(AlteredCredentials):
    """A password is sent without the white space around it."""

    kind = "basic_auth"

    def alter_members(self, members: Mapping[str, object]) -> Mapping[str, object]:
        return {**members, "password": text_member(members, "password").strip()}


@fault("api_key_sent", seen="a header value that is split and joined", shows_in=SHOWN)
class SpacesMergedInApiKeys(AlteredCredentials):
    """Several spaces in the value of an api_key are sent as one."""

    kind = "api_key"

    def alter_members(self, members: Mapping[str, object]) -> Mapping[str, object]:
        return {**members, "header_value": " ".join(text_member(members, "header_value").split())}


@fault("token_request_complete", seen="a list of scopes of which one is used", shows_in=SHOWN)
class FirstScopeAlone(AlteredCredentials):
    """Of several scopes the first is asked for."""

    kind = "oauth2"

    def alter_members(self, members: Mapping[str, object]) -> Mapping[str, object]:
        return {**members, "scope": text_member(members, "scope").partition(" ")[0]}


@fault("certificate_presented", shows_in=CERTIFIED)
class NoClientCertificate(AlteredSettings):
    """Deliveries present no client certificate."""

    def alter_settings(self, endpoint: EndpointSettings) -> EndpointSettings:
        return msgspec.structs.replace(endpoint, client_certificate=None)


@fault("no_foreign_certificate", seen="a connection pool that is shared", shows_in=CERTIFIED)
class CertificateOfAnother(TlsContexts):
    """An endpoint without a client certificate is presented the one of another endpoint."""

    def context(self, certificate: ClientCertificate | None) -> ssl.SSLContext:
        latest = next(reversed(self._with_certificate), None)
        return super().context(certificate or latest)
