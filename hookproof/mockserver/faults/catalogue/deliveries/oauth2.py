"""Section 2.5: where access tokens come from, and how clients prove themselves for them."""

from collections.abc import Mapping
from math import inf
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.delivery.attempt.credentials import object_member, text_member
from hookproof.mockserver.delivery.attempt.headers import Headers
from hookproof.mockserver.delivery.attempt.oauth2 import (
    BEARER,
    AccessToken,
    OAuth2Tokens,
    TokenState,
)
from hookproof.mockserver.delivery.http_client.http1 import Response
from hookproof.mockserver.delivery.http_client.transport import ParsedUrl, Transport, parse_url
from hookproof.mockserver.delivery.store_port import EndpointSettings
from hookproof.mockserver.faults.registry import fault
from hookproof.spec.dialect.vocabulary import PartialMapping, TokenScheme

SHOWN: Final = ("credentials",)
MEMBERS: Final = ("access_token", "expires_in", "token_type")


@fault("mapped_names_read", shows_in=SHOWN)
class MappingIgnored(OAuth2Tokens):
    """The token response is read by the usual names, whatever field_mapping says."""

    def _token(self, oauth2: Mapping[str, object], response: Response) -> AccessToken:
        return super()._token(
            {name: value for name, value in oauth2.items() if name != "field_mapping"}, response
        )


@fault(
    "unmapped_names",
    seen="a mapping that replaces the standard one",
    shows_in=SHOWN,
    where=lambda dialect: dialect.requests.partial_field_mapping.prefers(
        PartialMapping.STANDARD_NAMES
    ),
)
class UnmappedMembersLost(OAuth2Tokens):
    """What a field_mapping leaves out is not read from the token response at all."""

    def _token(self, oauth2: Mapping[str, object], response: Response) -> AccessToken:
        names = oauth2.get("field_mapping")
        whole = {name: names.get(name, "\0") for name in MEMBERS} if isinstance(names, dict) else {}
        return super()._token({**oauth2, "field_mapping": whole}, response)


class UnmappedMember(OAuth2Tokens):
    """Reads the member `unmapped` of the token response by its usual name."""

    unmapped = ""

    def _token(self, oauth2: Mapping[str, object], response: Response) -> AccessToken:
        names = object_member(oauth2, "field_mapping") if oauth2.get("field_mapping") else {}
        known = {name: value for name, value in names.items() if name != self.unmapped}
        return super()._token({**oauth2, "field_mapping": known}, response)


@fault(
    "mapped_type_read token_scheme",
    shows_in=SHOWN,
    where=lambda dialect: dialect.delivery.token_scheme.value is TokenScheme.TOKEN_TYPE,
)
class MappedTypeIgnored(UnmappedMember):
    """The token_type is read by its usual name, whatever field_mapping says."""

    unmapped = "token_type"


@fault("mapped_lifetime_read", seen="a library for standard token responses", shows_in=SHOWN)
class MappedLifetimeIgnored(UnmappedMember):
    """The expires_in is read by its usual name, whatever field_mapping says."""

    unmapped = "expires_in"


@fault("token_scheme", shows_in=SHOWN, where=lambda dialect: dialect.delivery.token_scheme.decided)
class TokenSchemeMistaken(OAuth2Tokens):
    """The token_type is the scheme where the dialect says Bearer, and the reverse."""

    def _scheme_of(self, token_type: str) -> str:
        return token_type if self._scheme.value is TokenScheme.BEARER else BEARER


@fault(
    "token_used_again",
    seen="a client that is made anew for every delivery",
    shows_in=["token_reuse"],
)
class TokenFetchedEachTime(OAuth2Tokens):
    """A token is fetched for every attempt."""

    async def authorization(
        self, endpoint: EndpointSettings, oauth2: Mapping[str, object]
    ) -> tuple[str, bool]:
        self._states.pop(endpoint.uid, None)
        return await super().authorization(endpoint, oauth2)


class SharedTokens(OAuth2Tokens):
    """Endpoints share a token where these members of oauth2 are the same."""

    shared_by: tuple[str, ...] = ()

    def _state_of(self, endpoint_uid: str, oauth2: Mapping[str, object]) -> TokenState:
        key = " ".join(text_member(oauth2, name) for name in self.shared_by)
        known = self._states.get(key)
        return super()._state_of(key, oauth2 if known is None else known.oauth2)


@fault(
    "token_of_own_client token_of_own_scope", seen="a cache with too short a key", shows_in=SHOWN
)
class TokensCachedByUrl(SharedTokens):
    """Endpoints with the same token URL share a token, whatever client they have."""

    shared_by = ("url",)


@fault("token_of_own_scope", seen="a cache with too short a key", shows_in=SHOWN)
class TokensCachedByClient(SharedTokens):
    """Endpoints with the same token URL and client share a token, whatever their scope."""

    shared_by = ("url", "client_id")


@fault("token_of_own_scope", seen="a cache with too short a key", shows_in=SHOWN)
class TokensCachedWithoutAudience(SharedTokens):
    """Endpoints with the same token URL, client and scope share a token for any audience."""

    shared_by = ("url", "client_id", "scope")


@fault("token_sent", seen="a cache with too short a key", shows_in=SHOWN)
class TokensCachedWithoutUrl(SharedTokens):
    """Endpoints with the same client, scope and audience share a token, whatever its token URL."""

    shared_by = ("client_id", "scope", "audience")


class AlteredTokenUrl(OAuth2Tokens):
    """Requests tokens at the URL that `alter_url` returns."""

    async def authorization(
        self, endpoint: EndpointSettings, oauth2: Mapping[str, object]
    ) -> tuple[str, bool]:
        url = self.alter_url(text_member(oauth2, "url"))
        return await super().authorization(endpoint, {**oauth2, "url": url})

    def alter_url(self, url: str) -> str:
        return url


@fault("token_asked_as_given", seen="the query of the URL is lost", shows_in=SHOWN)
class TokenQueryDropped(AlteredTokenUrl):
    """Tokens are requested at the token URL without its query."""

    def alter_url(self, url: str) -> str:
        return url.partition("?")[0]


@fault("token_asked_as_given", seen="a query is kept as a map from names to values", shows_in=SHOWN)
class TokenParametersMerged(AlteredTokenUrl):
    """Of the parameters of a token URL that have one name, the last is kept."""

    def alter_url(self, url: str) -> str:
        parts = urlsplit(url)
        return parts._replace(query=urlencode(dict(parse_qsl(parts.query)))).geturl()


@fault(
    "token_asked_as_given", seen="a URL that is escaped already is escaped again", shows_in=SHOWN
)
class TokenUrlEscapedTwice(AlteredTokenUrl):
    """The percent signs in a token URL are escaped before a token is requested there."""

    def alter_url(self, url: str) -> str:
        return url.replace("%", "%25")


class AlteredTokenForm(OAuth2Tokens):
    """Requests tokens with the form that `alter_form` returns."""

    def _form(self, oauth2: Mapping[str, object]) -> dict[str, str]:
        return self.alter_form(super()._form(oauth2))

    def alter_form(self, form: dict[str, str]) -> dict[str, str]:
        return form


@fault("client_identified", seen="a secret that is masked before it is stored", shows_in=SHOWN)
class MaskedSecretSent(AlteredTokenForm):
    """The token request carries a masked client_secret."""

    def alter_form(self, form: dict[str, str]) -> dict[str, str]:
        return {name: "*" * 8 if name == "client_secret" else value for name, value in form.items()}


@fault("token_request_complete", shows_in=SHOWN)
class ScopeLeftOut(AlteredTokenForm):
    """The token request carries neither scope nor audience."""

    def alter_form(self, form: dict[str, str]) -> dict[str, str]:
        return {name: value for name, value in form.items() if name not in ("scope", "audience")}


@fault(
    "token_lifetime mapped_lifetime_read",
    seen="a token that is kept until it is refused",
    shows_in=SHOWN,
)
class TokenKeptIndefinitely(OAuth2Tokens):
    """A token is used until the endpoint refuses it, whatever its expires_in says."""

    def _life_s(self, oauth2: Mapping[str, object], expires_in: object) -> float:
        return inf


@fault(
    "token_lifetime mapped_lifetime_read",
    seen="seconds against milliseconds",
    shows_in=SHOWN,
    where=lambda dialect: len(dialect.words.oauth2_expiry_units) > 1,
)
class ExpiryUnitIgnored(OAuth2Tokens):
    """The expires_in of a token is read in seconds, whatever expiry_time_unit says."""

    def _life_s(self, oauth2: Mapping[str, object], expires_in: object) -> float:
        return super()._life_s({}, expires_in)


@fault("assertion_sent", shows_in=SHOWN)
class AssertionOfTheClient(OAuth2Tokens):
    """A client assertion names the client, whatever issuer and subject say."""

    def _assertion(self, oauth2: Mapping[str, object]) -> dict[str, str]:
        return super()._assertion(
            {name: value for name, value in oauth2.items() if name not in ("issuer", "subject")}
        )


@fault("assertion_algorithm", seen="a library whose default is RS512", shows_in=SHOWN)
class SigningAlgorithmIgnored(OAuth2Tokens):
    """Assertions by an RSA key are signed with RS512, whatever signing_algorithm says."""

    def _sign(self, oauth2: Mapping[str, object], now: float, serial: str) -> str:
        if object_member(oauth2, "signing_key").get("kty") == "RSA":
            oauth2 = {**oauth2, "signing_algorithm": "RS512"}
        return super()._sign(oauth2, now, serial)


@fault("assertion_key", shows_in=SHOWN)
class KeyIdLeftOut(OAuth2Tokens):
    """The header of a client assertion has no kid."""

    def _sign(self, oauth2: Mapping[str, object], now: float, serial: str) -> str:
        key = {**object_member(oauth2, "signing_key"), "kid": ""}
        return super()._sign({**oauth2, "signing_key": key}, now, serial)


@fault("assertion_audience", shows_in=SHOWN)
class AudienceOfTheClient(OAuth2Tokens):
    """The aud of a client assertion is the client_id."""

    def _sign(self, oauth2: Mapping[str, object], now: float, serial: str) -> str:
        return super()._sign({**oauth2, "audience": oauth2["client_id"]}, now, serial)


@fault("assertion_expiry", seen="seconds against milliseconds", shows_in=SHOWN)
class AssertionInMilliseconds(OAuth2Tokens):
    """The times in a client assertion are in milliseconds."""

    def _sign(self, oauth2: Mapping[str, object], now: float, serial: str) -> str:
        return super()._sign(oauth2, now * 1000, serial)


@fault("assertion_once", shows_in=SHOWN)
class JtiOfTheClient(OAuth2Tokens):
    """The jti of every client assertion is the client_id."""

    def _sign(self, oauth2: Mapping[str, object], now: float, serial: str) -> str:
        return super()._sign(oauth2, now, str(oauth2["client_id"]))


@fault(
    "unmapped_names",
    shows_in=["refusals"],
    where=lambda dialect: dialect.requests.partial_field_mapping.prefers(
        PartialMapping.STANDARD_NAMES
    ),
)
class PartialMappingRefused(EndpointHandlers):
    """An endpoint whose field_mapping leaves out the access_token is refused."""

    def create(self, call: OperationCall) -> OperationResult:
        oauth2 = (call.body.get("authentication") or {}).get("oauth2") or {}
        if "access_token" not in oauth2.get("field_mapping", MEMBERS):
            raise self._service.errors.invalid("/authentication/oauth2/field_mapping: is too short")
        return super().create(call)


@fault(
    "token_redirect_unfollowed",
    seen="the token fetch bypasses the guard of deliveries",
    shows_in=SHOWN,
)
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
