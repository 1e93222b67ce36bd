"""Reads client assertions that the service signed with an endpoint's signing_key (section 2.5).

An assertion is a JSON Web Token (RFC 7519) in the compact form of RFC 7515; RFC 7523, section 3,
names the claims by which a client proves itself.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

COORDINATE_BYTES: Final = 32
PARTS: Final = 3

# RFC 7518, section 3.1: what signs with the keys that experiments give, first of all the algorithm
# that they ask for.
ELLIPTIC: Final = "ES256"
RSA: Final = "RS256"
HASHES: Final[Mapping[str, hashes.HashAlgorithm]] = {
    "256": hashes.SHA256(),
    "384": hashes.SHA384(),
    "512": hashes.SHA512(),
}
RSA_ALGORITHMS: Final[Mapping[str, tuple[padding.AsymmetricPadding, hashes.HashAlgorithm]]] = {
    **{f"RS{bits}": (padding.PKCS1v15(), algorithm) for bits, algorithm in HASHES.items()},
    **{
        f"PS{bits}": (padding.PSS(padding.MGF1(algorithm), padding.PSS.AUTO), algorithm)
        for bits, algorithm in HASHES.items()
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionReading:
    """What an assertion showed. Each field is None if it is missing or of another type.

    `signed_with` is the algorithm by which the endpoint's signing_key verifies it. `algorithm` and
    `key_id` are the header's alg and kid, the others the claims iss, sub, aud, exp (in Unix
    seconds) and jti.
    """

    signed_with: str | None
    algorithm: str | None
    key_id: str | None
    issuer: str | None
    subject: str | None
    audiences: tuple[str, ...]
    expires_at: float | None
    identifier: str | None


def read_assertion(text: str, jwk: Mapping[str, str]) -> AssertionReading | None:
    """The reading of an assertion by a key, on P-256 or of RSA; None if it is no assertion."""
    parts = text.split(".")
    if len(parts) != PARTS:
        return None
    try:
        header, claims = (json.loads(_decoded(part)) for part in parts[:2])
        signature = _decoded(parts[2])
    except (ValueError, RecursionError):
        return None
    if not isinstance(header, dict) or not isinstance(claims, dict):
        return None
    signed_text = ".".join(parts[:2]).encode()
    return AssertionReading(
        signed_with=next(_verifying_algorithms(jwk, signature, signed_text), None),
        algorithm=_text(header, "alg"),
        key_id=_text(header, "kid"),
        issuer=_text(claims, "iss"),
        subject=_text(claims, "sub"),
        audiences=tuple(_texts(claims.get("aud"))),
        expires_at=_number(claims.get("exp")),
        identifier=_text(claims, "jti"),
    )


def _verifying_algorithms(
    jwk: Mapping[str, str], signature: bytes, signed_text: bytes
) -> Iterator[str]:
    if jwk["kty"] == "RSA":
        numbers = rsa.RSAPublicNumbers(_integer(_decoded(jwk["e"])), _integer(_decoded(jwk["n"])))
        rsa_key = numbers.public_key()
        for name, (form, algorithm) in RSA_ALGORITHMS.items():
            try:
                rsa_key.verify(signature, signed_text, form, algorithm)
            except InvalidSignature:
                continue
            yield name
    elif len(signature) == 2 * COORDINATE_BYTES:
        x, y = (_integer(_decoded(jwk[name])) for name in ("x", "y"))
        key = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        try:
            key.verify(_in_der(signature), signed_text, ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            return
        yield ELLIPTIC


def _in_der(signature: bytes) -> bytes:
    """The signature, which is the numbers r and s side by side (RFC 7518, section 3.4), in DER."""
    r, s = _integer(signature[:COORDINATE_BYTES]), _integer(signature[COORDINATE_BYTES:])
    return encode_dss_signature(r, s)


def _text(members: Mapping[str, Any], name: str) -> str | None:
    value = members.get(name)
    return value if isinstance(value, str) and value else None


def _texts(value: Any) -> Iterator[str]:
    """The texts of a claim that may be one text or an array of them (RFC 7519, section 4.1.3)."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str):
            yield item


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _integer(content: bytes) -> int:
    return int.from_bytes(content, "big")


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
