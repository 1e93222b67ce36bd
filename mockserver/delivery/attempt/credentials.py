"""What a delivery shows an endpoint that asks who is calling: section 5, item 4, and section 2.5."""

import base64
from collections.abc import Callable, Mapping
from typing import Final, Protocol

import msgspec

from hookproof.mockserver.delivery.attempt.headers import AUTHORIZATION, Headers, header_problems
from hookproof.mockserver.delivery.store_port import EndpointSettings
from hookproof.spec.dialect.model import Words


class CredentialsFault(Exception):
    """No credentials can be had; the message says why and holds none of them."""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """The headers that one attempt shows; `kept` tells that they hold a token of an earlier
    attempt.
    """

    headers: Headers
    kept: bool = False


NOTHING: Final = Shown(headers=())


class TokenSource(Protocol):
    """Where OAuth 2 tokens come from."""

    async def authorization(
        self, endpoint: EndpointSettings, oauth2: Mapping[str, object]
    ) -> tuple[str, bool]:
        """The value of the Authorization header, and whether it is kept from before; raises
        CredentialsFault.
        """

    def forget(self, endpoint_uid: str, authorization: str) -> None:
        """Fetch a new token next time, unless there is one already."""


class Credentials:
    """The headers that authenticate deliveries, by the authentication type's word in the dialect.

    `forbidden` are the lower-case names of headers that no credential may take the place of.
    """

    def __init__(self, words: Words, tokens: TokenSource, forbidden: frozenset[str]) -> None:
        self._tokens = tokens
        self._forbidden = forbidden
        self._fixed: Mapping[str, Callable[[Mapping[str, object]], Headers]] = {
            words.auth_api_key: api_key,
            words.auth_basic: basic_auth,
        }
        self._oauth2_word = words.auth_oauth2

    async def shown(self, endpoint: EndpointSettings) -> Shown:
        """What one attempt shows; raises CredentialsFault."""
        authentication = endpoint.authentication
        word = text(authentication, "type") if authentication else ""
        if not authentication or not word:
            return NOTHING
        if word == self._oauth2_word:
            value, kept = await self._tokens.authorization(
                endpoint, section(authentication, "oauth2")
            )
            return Shown(headers=self._checked(((AUTHORIZATION, value),)), kept=kept)
        make = self._fixed.get(word)
        if make is None:
            raise CredentialsFault(f"the authentication type {word!r} is not known")
        return Shown(headers=self._checked(make(authentication)))

    def refused(self, endpoint: EndpointSettings, shown: Shown) -> bool:
        """The endpoint took these for unauthorised; whether newer ones may cure it, which is true
        once for a token.
        """
        for _, value in shown.headers:
            self._tokens.forget(endpoint.uid, value)
        return shown.kept

    def _checked(self, headers: Headers) -> Headers:
        for name, value in headers:
            # The value is a credential, so a bad one is told without it.
            if header_problems({name: value}) or name.lower() in self._forbidden:
                raise CredentialsFault(
                    f"the credentials make no header that can be sent as {name!r}"
                )
        return headers


def api_key(authentication: Mapping[str, object]) -> Headers:
    """One fixed header."""
    member = section(authentication, "api_key")
    return ((text(member, "header_name"), text(member, "header_value")),)


def basic_auth(authentication: Mapping[str, object]) -> Headers:
    """A user name and a password (RFC 7617)."""
    member = section(authentication, "basic_auth")
    pair = f"{text(member, 'username')}:{text(member, 'password')}"
    return ((AUTHORIZATION, f"Basic {base64.b64encode(pair.encode('utf-8')).decode('ascii')}"),)


def section(parent: Mapping[str, object], name: str) -> Mapping[str, object]:
    """An object within the authentication; raises CredentialsFault without it."""
    member = parent.get(name)
    if not isinstance(member, Mapping):
        raise CredentialsFault(f"the authentication has no {name} object")
    return member


def text(parent: Mapping[str, object], name: str) -> str:
    """A text within an object, empty when it is not given."""
    value = parent.get(name)
    return value if isinstance(value, str) else ""
