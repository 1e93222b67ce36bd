"""OAuth 2 client credentials (section 2.5): tokens are fetched, cached per endpoint and renewed.

Attempts that need the token of one endpoint at the same time share one fetch.
"""

import asyncio
import json
import random
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from math import inf
from typing import Final
from urllib.parse import urlencode

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey

from hookproof.mockserver.delivery.attempt.body import FORM
from hookproof.mockserver.delivery.attempt.credentials import (
    CredentialsError,
    object_member,
    text_member,
)
from hookproof.mockserver.delivery.attempt.headers import CONTENT_TYPE
from hookproof.mockserver.delivery.http_client.connection import TlsError
from hookproof.mockserver.delivery.http_client.egress import EgressRefused
from hookproof.mockserver.delivery.http_client.http1 import (
    ConnectionFailed,
    ProtocolError,
    Response,
)
from hookproof.mockserver.delivery.http_client.transport import Transport, UrlError, parse_url
from hookproof.mockserver.delivery.store_port import Clock, EndpointSettings
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import TimeUnit, TokenScheme

LIFETIME_S: Final = 60
KEY_TYPES: Final[Mapping[str, type[RSAKey] | type[ECKey]]] = {"RSA": RSAKey, "EC": ECKey}
# RFC 7518, section 3.1: the algorithms that sign with a private key.
ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
)
# The algorithm for each curve of a key if none is given; an RSA key has no curve.
DEFAULT_ALGORITHMS: Final[Mapping[str, str]] = {
    "": "RS256",
    "P-256": "ES256",
    "P-384": "ES384",
    "P-521": "ES512",
}


class ClientAssertionError(Exception):
    """No signature can be made with the signing_key and the signing_algorithm.

    The message contains nothing of the key.
    """


def sign_client_assertion(oauth2: Mapping[str, object], now: float, serial: str) -> str:
    """Return a JWT signed with the `signing_key` (a private JWK) of section 2.5.

    It is valid for LIFETIME_S seconds from `now` (unix seconds). Issuer and subject default to the
    client_id, the audience to the token URL. Raises ClientAssertionError.
    """
    jwk = object_member(oauth2, "signing_key")
    members: dict[str, str | list[str]] = {
        name: text_member(jwk, name) for name in jwk if text_member(jwk, name)
    }
    algorithm = text_member(oauth2, "signing_algorithm") or DEFAULT_ALGORITHMS.get(
        text_member(jwk, "crv"), ""
    )
    if algorithm not in ALGORITHMS:
        raise ClientAssertionError(
            f"the signing_algorithm {algorithm!r} is not one of {', '.join(ALGORITHMS)}"
        )
    header = {"alg": algorithm, **({"kid": members["kid"]} if "kid" in members else {})}
    try:
        key = _private_key(json.dumps(members, sort_keys=True))
        return jwt.encode(header, _claims(oauth2, now, serial), key, algorithms=ALGORITHMS)
    except (JoseError, ValueError, TypeError, KeyError):
        raise ClientAssertionError(
            "the signing_key is not a private JWK that fits the signing_algorithm"
        ) from None


@lru_cache(maxsize=64)
def _private_key(jwk: str) -> RSAKey | ECKey:
    """Read a JWK from its JSON text; kept, since to validate an RSA key takes tens of ms."""
    members = json.loads(jwk)
    return KEY_TYPES[members.get("kty", "")].import_key(members)


def _claims(oauth2: Mapping[str, object], now: float, serial: str) -> dict[str, str | int]:
    client_id = text_member(oauth2, "client_id")
    return {
        "iss": text_member(oauth2, "issuer") or client_id,
        "sub": text_member(oauth2, "subject") or client_id,
        "aud": text_member(oauth2, "audience") or text_member(oauth2, "url"),
        "jti": serial,
        "iat": int(now),
        "exp": int(now) + LIFETIME_S,
    }


KEPT_TOKENS: Final = 16384
# A token is renewed this long before it expires, or this share of its lifetime if that is shorter.
EARLY_S: Final = 30.0
EARLY_SHARE: Final = 0.1
# RFC 6749, section 4.4.
CLIENT_CREDENTIALS: Final = "client_credentials"
# RFC 7523, section 2.2.
JWT_BEARER: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
BEARER: Final = "Bearer"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """The value of the Authorization header, and until when it is used, in unix seconds."""

    authorization: str
    fresh_until: float


@dataclass(slots=True, kw_only=True)
class TokenState:
    """The OAuth 2 settings of one endpoint, its token, and the fetch that is under way."""

    oauth2: Mapping[str, object]
    token: AccessToken | None = None
    fetch: asyncio.Task[AccessToken] | None = None


class OAuth2Tokens:
    """Fetches and caches tokens; the fetch uses the transport of deliveries, egress guard included.

    `rng` draws the identifiers of client assertions.
    """

    def __init__(
        self, transport: Transport, dialect: Dialect, clock: Clock, rng: random.Random
    ) -> None:
        self._rng = rng
        self._transport = transport
        self._words = dialect.words
        self._scheme = dialect.delivery.token_scheme
        self._clock = clock
        self._states: OrderedDict[str, TokenState] = OrderedDict()
        self._fetches: set[asyncio.Task[AccessToken]] = set()

    async def authorization(
        self, endpoint: EndpointSettings, oauth2: Mapping[str, object]
    ) -> tuple[str, bool]:
        """Return the value of the Authorization header, and whether its token is reused.

        Raises CredentialsError.
        """
        state = self._state_of(endpoint.uid, oauth2)
        if state.token is not None and self._clock() < state.token.fresh_until:
            return state.token.authorization, True
        if state.fetch is None:
            state.fetch = asyncio.create_task(self._fetch(state, endpoint.http_timeout_s))
            self._fetches.add(state.fetch)
            state.fetch.add_done_callback(lambda task: self._finish_fetch(state, task))
        return (await asyncio.shield(state.fetch)).authorization, False

    def forget(self, endpoint_uid: str, authorization: str) -> None:
        """Fetch a new token next time, unless there is a newer one already."""
        state = self._states.get(endpoint_uid)
        if (
            state is not None
            and state.token is not None
            and state.token.authorization == authorization
        ):
            state.token = None

    async def close(self) -> None:
        """Cancel the fetches that are under way."""
        for task in tuple(self._fetches):
            task.cancel()
        await asyncio.gather(*self._fetches, return_exceptions=True)

    def _state_of(self, endpoint_uid: str, oauth2: Mapping[str, object]) -> TokenState:
        state = self._states.get(endpoint_uid)
        if state is None or state.oauth2 != oauth2:
            state = self._states[endpoint_uid] = TokenState(oauth2=oauth2)
            if len(self._states) > KEPT_TOKENS:
                self._states.popitem(last=False)
        return state

    def _finish_fetch(self, state: TokenState, task: asyncio.Task[AccessToken]) -> None:
        self._fetches.discard(task)
        state.fetch = None
        if not task.cancelled() and task.exception() is None:
            state.token = task.result()

    async def _fetch(self, state: TokenState, timeout_s: float) -> AccessToken:
        oauth2 = state.oauth2
        try:
            url = parse_url(text_member(oauth2, "url"))
            body = urlencode(self._form(oauth2)).encode("ascii")
            headers = ((CONTENT_TYPE, FORM), ("Accept", "application/json"))
            response = await self._transport.exchange(
                "POST", url, headers, body, timeout_s=timeout_s
            )
        except (UrlError, ClientAssertionError) as error:
            raise CredentialsError(f"no token can be requested: {error}") from None
        except TimeoutError:
            raise CredentialsError(f"no token was received within {timeout_s:g} s") from None
        except (EgressRefused, TlsError, ConnectionFailed, ProtocolError) as error:
            raise CredentialsError(f"no token was received: {error}") from None
        return self._token(oauth2, response)

    def _form(self, oauth2: Mapping[str, object]) -> dict[str, str]:
        proofs = {
            self._words.oauth2_shared_secret: self._shared_secret,
            self._words.oauth2_assertion: self._assertion,
        }
        kind = text_member(oauth2, "authentication_type") or self._words.oauth2_shared_secret
        if kind not in proofs:
            raise CredentialsError(f"the authentication_type {kind!r} is not known")
        form = {
            "grant_type": text_member(oauth2, "grant_type") or CLIENT_CREDENTIALS,
            "client_id": text_member(oauth2, "client_id"),
            **proofs[kind](oauth2),
            "scope": text_member(oauth2, "scope"),
            "audience": text_member(oauth2, "audience"),
        }
        return {name: value for name, value in form.items() if value}

    def _shared_secret(self, oauth2: Mapping[str, object]) -> dict[str, str]:
        return {"client_secret": text_member(oauth2, "client_secret")}

    def _assertion(self, oauth2: Mapping[str, object]) -> dict[str, str]:
        serial = f"{self._rng.getrandbits(128):032x}"
        proof = self._sign(oauth2, self._clock(), serial)
        return {"client_assertion_type": JWT_BEARER, "client_assertion": proof}

    def _sign(self, oauth2: Mapping[str, object], now: float, serial: str) -> str:
        return sign_client_assertion(oauth2, now, serial)

    def _token(self, oauth2: Mapping[str, object], response: Response) -> AccessToken:
        if response.status != HTTPStatus.OK:
            raise CredentialsError(f"the token URL answered {response.status}")
        members = _json_object(response.body)
        names = object_member(oauth2, "field_mapping") if oauth2.get("field_mapping") else {}
        token = text_member(members, text_member(names, "access_token") or "access_token")
        if not token:
            raise CredentialsError("the token URL answered without a token")
        scheme = self._scheme_of(
            text_member(members, text_member(names, "token_type") or "token_type")
        )
        life_s = self._life_s(oauth2, members.get(text_member(names, "expires_in") or "expires_in"))
        return AccessToken(
            authorization=f"{scheme} {token}",
            fresh_until=self._clock() + life_s - min(EARLY_S, EARLY_SHARE * life_s),
        )

    def _scheme_of(self, token_type: str) -> str:
        """The scheme for a token of this type, which is not case-sensitive (RFC 6749, 5.1)."""
        always_bearer = self._scheme.decided and self._scheme.value is TokenScheme.BEARER
        if always_bearer or token_type.lower() in ("", BEARER.lower()):
            return BEARER
        return token_type

    def _life_s(self, oauth2: Mapping[str, object], expires_in: object) -> float:
        """Return the lifetime of a token; without one it is used until the endpoint refuses it."""
        if isinstance(expires_in, bool) or not isinstance(expires_in, int | float | str):
            return inf
        try:
            amount = float(expires_in)
        except ValueError:
            return inf
        unit = self._words.oauth2_expiry_units.get(
            text_member(oauth2, "expiry_time_unit"), TimeUnit.SECONDS
        )
        return amount * unit.in_seconds


def _json_object(body: bytes) -> Mapping[str, object]:
    """Return the object in a response, or an empty one if it contains anything else."""
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
