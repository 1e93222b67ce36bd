"""Reads client assertions that the service signed with an endpoint's signing_key (section 2.5).

An assertion is a JSON Web Token (RFC 7519) signed with ES256 (RFC 7518, section 3.4).
"""

import base64
import json
from collections.abc import Mapping
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

ALGORITHM: Final = "ES256"
COORDINATE_BYTES: Final = 32
PARTS: Final = 3


class NoAssertion(Exception):
    """The text is not an assertion signed with the key; the message states why."""


def claims_of(token: str, jwk: Mapping[str, str]) -> Mapping[str, Any]:
    """The claims of an assertion that this key on P-256 signed; raises NoAssertion."""
    parts = token.split(".")
    if len(parts) != PARTS:
        raise NoAssertion("it does not have three parts")
    try:
        claims, signature = json.loads(_decoded(parts[1])), _decoded(parts[2])
    except (ValueError, RecursionError):
        raise NoAssertion("it is not base64url of JSON") from None
    if len(signature) != 2 * COORDINATE_BYTES or not isinstance(claims, dict):
        raise NoAssertion(f"it is not signed with {ALGORITHM}, or its claims are not an object")
    signed_text = ".".join(parts[:2]).encode()
    try:
        _public_key(jwk).verify(_in_der(signature), signed_text, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise NoAssertion("its signature is not by the signing_key") from None
    return claims


def _public_key(jwk: Mapping[str, str]) -> ec.EllipticCurvePublicKey:
    x, y = _number(_decoded(jwk["x"])), _number(_decoded(jwk["y"]))
    return ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()


def _in_der(signature: bytes) -> bytes:
    """The signature, which is the numbers r and s side by side (RFC 7518, section 3.4), in DER."""
    r, s = _number(signature[:COORDINATE_BYTES]), _number(signature[COORDINATE_BYTES:])
    return encode_dss_signature(r, s)


def _number(content: bytes) -> int:
    return int.from_bytes(content, "big")


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
