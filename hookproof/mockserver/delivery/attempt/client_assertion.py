"""Client assertions: the signed JWT by which an OAuth 2 client authenticates (RFC 7523)."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey

from hookproof.mockserver.delivery.attempt.credentials import object_member, text_member

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
