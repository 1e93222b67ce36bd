"""The keys that sign and verify packed runs: Ed25519, in PEM files of one's own."""

from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from hookproof.process.exit_codes import CommandError
from hookproof.spec.given_file import read_given


def signing_key(path: Path) -> Ed25519PrivateKey:
    """Read a private key; raises CommandError."""
    content = _content(path)
    try:
        key = load_pem_private_key(content, password=None)
    except TypeError:
        raise CommandError(f"{path} is encrypted; a key without a password is needed") from None
    except (ValueError, UnsupportedAlgorithm):
        raise CommandError(f"{path} holds no private key in PEM form") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise CommandError(f"{path} holds a key of another kind than Ed25519")
    return key


def verifying_key(path: Path) -> Ed25519PublicKey:
    """Read a public key; raises CommandError."""
    content = _content(path)
    try:
        key = load_pem_public_key(content)
    except (ValueError, UnsupportedAlgorithm):
        raise CommandError(f"{path} holds no public key in PEM form") from None
    if not isinstance(key, Ed25519PublicKey):
        raise CommandError(f"{path} holds a key of another kind than Ed25519")
    return key


def is_signed_by(key: Ed25519PublicKey, content: bytes, signature: bytes) -> bool:
    try:
        key.verify(signature, content)
    except InvalidSignature:
        return False
    return True


def _content(path: Path) -> bytes:
    try:
        return read_given(path)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror or error}") from None
