"""Operators on what connections and tokens are trusted: certificates, and access tokens."""

import ssl
from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from typing import Any, Final

from hookproof.mockserver.delivery.attempt.oauth2 import OAuth2Tokens
from hookproof.mockserver.delivery.http_client.connection import EndpointConnection
from hookproof.mockserver.delivery.http_client.egress import EgressGuard
from hookproof.mockserver.delivery.http_client.http1 import Response
from hookproof.mockserver.delivery.http_client.pool import ConnectionKey
from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.delivery.http_client.transport import ParsedUrl, Transport
from hookproof.mockserver.faults.catalogue.deliveries.certificates import (
    ACCEPT_JSON,
    CertificatesNotVerified,
)
from hookproof.mockserver.faults.catalogue.deliveries.oauth2 import SharedTokens
from hookproof.mockserver.faults.operators.delivery_laws import violated_by_delivery
from hookproof.mockserver.faults.operators.operator import (
    Alteration,
    FindDefect,
    Parameters,
    operators_of,
)
from hookproof.mockserver.faults.operators.place import TOKEN_REQUEST, Place, PlaceKind
from hookproof.spec.dialect.model import Dialect

GROUP: Final = "deliveries"
# X509_V_ERR_... of OpenSSL, which the ssl module does not name: what it says of a certificate that
# proves nothing in this respect.
_CODES: Final = {
    "expired": frozenset({10}),
    "not_yet_valid": frozenset({9}),
    "self_signed": frozenset({18}),
    "other_host": frozenset({62, 64}),
    "unknown_authority": frozenset({19, 20, 21}),
}
_CLIENT: Final = ("client_id", "client_secret")
# The members by which clients and what they ask for differ.
_KEY: Final = (
    *("url", "authentication_type", *_CLIENT, "issuer", "subject"),
    *("grant_type", "scope", "audience"),
)
_LONGER: Final = {"half": 1.5, "twice": 3.0, "end": inf}


def _trusted(place: Place, _parameters: Parameters, _dialect: Dialect) -> Alteration | None:
    if place.kind is not PlaceKind.CONNECTED:
        return None
    return Alteration(
        part=partial(
            _careless_with_some,
            _CODES[place.path[0]],
            for_tokens=place.operation == TOKEN_REQUEST,
        ),
        violates=violated_by_delivery(place, "trusted"),
    )


def _careless(codes: frozenset[int]) -> type:
    """A transport that connects where a certificate has a problem with one of these codes."""

    class CarelessTransport(Transport):
        def __init__(self, guard: EgressGuard, tls: TlsContexts) -> None:
            super().__init__(guard, tls)
            self._careless = CertificatesNotVerified(None)

        async def _connect_to(
            self, key: ConnectionKey, address: str, context: ssl.SSLContext | None
        ) -> EndpointConnection:
            try:
                return await super()._connect_to(key, address, context)
            except ssl.SSLCertVerificationError as problem:
                if problem.verify_code not in codes:
                    raise
            return await super()._connect_to(key, address, self._careless.context(key.certificate))

    return CarelessTransport


def _careless_with_some(codes: frozenset[int], *, for_tokens: bool) -> type:
    """A transport that is careless with the requests for tokens alone, or with all others."""

    class CarelessWithSome(Transport):
        def __init__(self, guard: EgressGuard, tls: TlsContexts) -> None:
            super().__init__(guard, tls)
            self._careless: Transport = _careless(codes)(guard, tls)

        async def exchange(
            self, method: str, url: ParsedUrl, headers: Any, *further: Any, **more: Any
        ) -> Response:
            sent = tuple(headers)
            is_careless = (ACCEPT_JSON in sent) is for_tokens
            exchange = self._careless.exchange if is_careless else super().exchange
            return await exchange(method, url, sent, *further, **more)

        async def close(self) -> None:
            await super().close()
            await self._careless.close()

    return CarelessWithSome


def _mixed_up(place: Place, _parameters: Parameters, _dialect: Dialect) -> Alteration | None:
    if place.kind is not PlaceKind.TOKEN:
        return None
    member = place.path[0]
    ignored = _CLIENT if member in _CLIENT else (member,)
    violates = violated_by_delivery(place, "mixed_up")
    return Alteration(
        part=partial(_shared_tokens, tuple(name for name in _KEY if name not in ignored)),
        violates=violates,
        equivalent="" if violates else "a token is no other for how its client asked for it",
    )


def _shared_tokens(members: tuple[str, ...]) -> type:
    class TokensOfOthers(SharedTokens):
        shared_by = members

    return TokensOfOthers


def _used(what: str, share: Callable[[Parameters], float]) -> FindDefect:
    """The defect that uses a token for this share of its lifetime."""

    def defect(place: Place, given: Parameters, _dialect: Dialect) -> Alteration | None:
        if place.kind is not PlaceKind.LIFETIME:
            return None
        return Alteration(
            part=partial(_used_for, share(given)), violates=violated_by_delivery(place, what)
        )

    return defect


def _used_for(share: float) -> type:
    class OtherLifetime(OAuth2Tokens):
        def _life_s(self, oauth2: Mapping[str, object], expires_in: object) -> float:
            return super()._life_s(oauth2, expires_in) * share

    return OtherLifetime


_TOKENS: Final = "the access tokens of endpoints with oauth2"
_operator: Final = operators_of(GROUP)
OPERATORS: Final = (
    _operator(
        "certificate_trusted",
        "A certificate that proves nothing in this respect is accepted",
        "deliveries and token requests, in each respect",
        _trusted,
    ),
    _operator(
        "token_shared",
        "Endpoints whose oauth2 differs in this member alone share an access token",
        "the members of oauth2 by which access tokens differ",
        _mixed_up,
    ),
    _operator(
        "token_kept",
        "An access token is used after its end, for half its lifetime, twice, or until refused",
        _TOKENS,
        _used("kept", lambda given: _LONGER[given["for"]]),
        *({"for": name} for name in _LONGER),
    ),
    _operator(
        "token_dropped",
        "An access token is used for a hundredth of its lifetime",
        _TOKENS,
        _used("dropped", lambda _: 0.01),
    ),
)
