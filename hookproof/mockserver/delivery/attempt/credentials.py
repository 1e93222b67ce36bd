"""The credentials that a delivery presents to its endpoint: section 5, item 4, and section 2.5."""

import base64
from collections.abc import Callable, Mapping
from typing import Final, Protocol

import msgspec

from hookproof.mockserver.delivery.attempt.headers import AUTHORIZATION, Headers, header_problems
from hookproof.mockserver.delivery.store_port import EndpointSettings
from hookproof.spec.dialect.model import Words


class CredentialsError(Exception):
    """The credentials cannot be made; the message contains none of them."""


class CredentialHeaders(msgspec.Struct, frozen=True, kw_only=True):
    """The headers that authenticate one attempt.

    `reused`: whether they contain a token that was fetched for an earlier attempt.
    """

    headers: Headers
    reused: bool = False


NO_CREDENTIALS: Final = CredentialHeaders(headers=())


class TokenSource(Protocol):
    """Where OAuth 2 tokens come from."""

    async def authorization(
        self, endpoint: EndpointSettings, oauth2: Mapping[str, object]
    ) -> tuple[str, bool]:
        """Return the value of the Authorization header, and whether its token is reused.

        Raises CredentialsError.
        """

    def forget(self, endpoint_uid: str, authorization: str) -> None:
        """Fetch a new token next time, unless there is a newer one already."""


class Authenticator:
    """Makes the headers that authenticate deliveries, by authentication type.

    The names of the types are words of the dialect. `forbidden` are the lower-case names of headers
    that credentials must not replace.
    """

    def __init__(self, words: Words, tokens: TokenSource, forbidden: frozenset[str]) -> None:
        self._tokens = tokens
        self._forbidden = forbidden
        self._fixed: Mapping[str, Callable[[Mapping[str, object]], Headers]] = {
            words.auth_api_key: api_key_headers,
            words.auth_basic: basic_auth_headers,
        }
        self._oauth2_word = words.auth_oauth2

    async def headers_for(self, endpoint: EndpointSettings) -> CredentialHeaders:
        """Return the headers of one attempt; raises CredentialsError."""
        authentication = endpoint.authentication
        word = text_member(authentication, "type") if authentication else ""
        if not authentication or not word:
            return NO_CREDENTIALS
        if word == self._oauth2_word:
            value, reused = await self._tokens.authorization(
                endpoint, object_member(authentication, "oauth2")
            )
            return CredentialHeaders(
                headers=self._checked(((AUTHORIZATION, value),)), reused=reused
            )
        make_headers = self._fixed.get(word)
        if make_headers is None:
            raise CredentialsError(f"the authentication type {word!r} is not known")
        return CredentialHeaders(headers=self._checked(make_headers(authentication)))

    def handle_unauthorized(
        self, endpoint: EndpointSettings, credentials: CredentialHeaders
    ) -> bool:
        """Forget a refused token and return whether a new one may help.

        That is the case for a reused token only, so once per token.
        """
        for _, value in credentials.headers:
            self._tokens.forget(endpoint.uid, value)
        return credentials.reused

    def _checked(self, headers: Headers) -> Headers:
        for name, value in headers:
            # The message leaves out the value, because it is a credential.
            if header_problems({name: value}) or name.lower() in self._forbidden:
                raise CredentialsError(f"the credentials cannot be sent as the header {name!r}")
        return headers


def api_key_headers(authentication: Mapping[str, object]) -> Headers:
    api_key = object_member(authentication, "api_key")
    return ((text_member(api_key, "header_name"), text_member(api_key, "header_value")),)


def basic_auth_headers(authentication: Mapping[str, object]) -> Headers:
    """A user name and a password (RFC 7617)."""
    basic_auth = object_member(authentication, "basic_auth")
    pair = f"{text_member(basic_auth, 'username')}:{text_member(basic_auth, 'password')}"
    return ((AUTHORIZATION, f"Basic {base64.b64encode(pair.encode('utf-8')).decode('ascii')}"),)


def object_member(parent: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return a member that is an object; raises CredentialsError if there is none."""
    member = parent.get(name)
    if not isinstance(member, Mapping):
        raise CredentialsError(f"the authentication has no {name} object")
    return member


def text_member(parent: Mapping[str, object], name: str) -> str:
    """Return a member that is a string, or the empty string if there is none."""
    value = parent.get(name)
    return value if isinstance(value, str) else ""
