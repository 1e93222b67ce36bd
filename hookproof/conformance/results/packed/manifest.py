"""manifest.json of a packed run: its format, and each file with its length and SHA-256; and the
keys that sign it, Ed25519 in PEM files of one's own.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from hookproof.process.exit_codes import CommandError
from hookproof.spec.given_file import read_given

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
# The Ed25519 signature (RFC 8032) of the bytes of the manifest, 64 bytes as they are.
SIGNATURE: Final = "manifest.sig"

MOST_FILES: Final = 32
# In bytes: of all files together, and of the manifest.
MOST_CONTENT: Final = 1024 * 1024 * 1024
LONGEST_MANIFEST: Final = 64 * 1024
SIGNATURE_LENGTH: Final = 64

# Names without a path, of no hidden file.
_NAME: Final = re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class BrokenPack(Exception):
    """A packed run that cannot be used; the message says what is wrong with it."""


class PackedFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file, with what its content must be."""

    name: str
    bytes: int
    sha256: str


class PackingTool(msgspec.Struct, frozen=True, kw_only=True):
    """What made the pack."""

    name: Literal["hookproof"] = "hookproof"
    version: str


class PackManifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a pack holds; members that a later version adds are left unread."""

    format: int
    tool: PackingTool
    files: tuple[PackedFile, ...]


def manifest_text(files: Sequence[PackedFile], tool_version: str) -> bytes:
    manifest = PackManifest(
        format=FORMAT, tool=PackingTool(version=tool_version), files=tuple(files)
    )
    return f"{json.dumps(msgspec.to_builtins(manifest), indent=1)}\n".encode()


def manifest_of(content: bytes) -> PackManifest:
    """Read a manifest; raises BrokenPack for one that is not safe to follow."""
    try:
        manifest = msgspec.json.decode(content, type=PackManifest)
    except msgspec.MsgspecError as error:
        raise BrokenPack(f"its {MANIFEST} cannot be read: {error}") from None
    if manifest.format != FORMAT:
        raise BrokenPack(
            f"it has format {manifest.format}, written by hookproof {manifest.tool.version};"
            f" this version reads format {FORMAT}"
        )
    _confirm_names([file.name for file in manifest.files])
    sizes = [file.bytes for file in manifest.files]
    if min(sizes, default=0) < 0 or sum(sizes) > MOST_CONTENT:
        raise BrokenPack(f"it says to hold more than {MOST_CONTENT:,} bytes, the most that is read")
    return manifest


def _confirm_names(names: Sequence[str]) -> None:
    if len(names) > MOST_FILES:
        raise BrokenPack(f"it holds more than {MOST_FILES} files")
    for name in names:
        if not _NAME.fullmatch(name) or name in (MANIFEST, SIGNATURE):
            raise BrokenPack(f"it holds {name!r}, which is no name of a file of a run")
    if len({name.lower() for name in names}) < len(names):
        raise BrokenPack("it lists a file twice")


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
