"""A client assertion: the signed statement by which an OAuth 2 client proves itself (RFC 7523)."""

from collections.abc import Mapping
from typing import Final

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey

from hookproof.mockserver.delivery.attempt.credentials import section, text

LIFE_S: Final = 60
KEY_TYPES: Final[Mapping[str, type[RSAKey] | type[ECKey]]] = {"RSA": RSAKey, "EC": ECKey}
# RFC 7518, section 3.1: the signatures made with a private key, and what a key is for when no
# algorithm is named.
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
USUAL: Final[Mapping[str, str]] = {
    "": "RS256",
    "P-256": "ES256",
    "P-384": "ES384",
    "P-521": "ES512",
}


class AssertionFault(Exception):
    """The signing_key or the signing_algorithm makes no signature; the message holds nothing of the
    key.
    """


def client_assertion(oauth2: Mapping[str, object], now: float, serial: str) -> str:
    """A JWT signed with the `signing_key` (a private JWK) of section 2.5, valid for a minute from
    `now` (unix seconds).

    Issuer and subject are the client unless they are given, the audience is the token URL unless it
    is given. Raises AssertionFault.
    """
    given = section(oauth2, "signing_key")
    members: dict[str, str | list[str]] = {
        name: text(given, name) for name in given if text(given, name)
    }
    algorithm = text(oauth2, "signing_algorithm") or USUAL.get(text(given, "crv"), "")
    if algorithm not in ALGORITHMS:
        raise AssertionFault(
            f"the signing_algorithm {algorithm!r} is none of {', '.join(ALGORITHMS)}"
        )
    claims = {
        "iss": text(oauth2, "issuer") or text(oauth2, "client_id"),
        "sub": text(oauth2, "subject") or text(oauth2, "client_id"),
        "aud": text(oauth2, "audience") or text(oauth2, "url"),
        "jti": serial,
        "iat": int(now),
        "exp": int(now) + LIFE_S,
    }
    header = {"alg": algorithm, **({"kid": members["kid"]} if "kid" in members else {})}
    try:
        key = KEY_TYPES[text(given, "kty")].import_key(members)
        return jwt.encode(header, claims, key, algorithms=ALGORITHMS)
    except (JoseError, ValueError, TypeError, KeyError):
        raise AssertionFault(
            "the signing_key is no private JWK that fits the signing_algorithm"
        ) from None
