"""Private keys for signing_key (section 2.5), with members named as in a JSON Web Key."""

import base64

from cryptography.hazmat.primitives.asymmetric import ec, rsa

KEY_BITS = 2048
COORDINATE_BYTES = 32


def elliptic_key(kid: str) -> dict[str, str]:
    """A new key on the curve P-256: kty, kid, crv, x, y and the private d."""
    private = ec.generate_private_key(ec.SECP256R1()).private_numbers()
    public = private.public_numbers
    members = {"x": public.x, "y": public.y, "d": private.private_value}
    coordinates = {name: _text(number, COORDINATE_BYTES) for name, number in members.items()}
    return {"kty": "EC", "kid": kid, "crv": "P-256", **coordinates}


def rsa_key(kid: str) -> dict[str, str]:
    """A new RSA key: kty, kid, n, e and the private d, p, q, dp, dq, qi."""
    private = rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS).private_numbers()
    public = private.public_numbers
    members = {
        "n": public.n,
        "e": public.e,
        "d": private.d,
        "p": private.p,
        "q": private.q,
        "dp": private.dmp1,
        "dq": private.dmq1,
        "qi": private.iqmp,
    }
    numbers = {
        name: _text(number, (number.bit_length() + 7) // 8) for name, number in members.items()
    }
    return {"kty": "RSA", "kid": kid, **numbers}


def _text(number: int, length: int) -> str:
    return base64.urlsafe_b64encode(number.to_bytes(length, "big")).rstrip(b"=").decode()
