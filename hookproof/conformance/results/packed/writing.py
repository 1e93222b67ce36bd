"""Packs the files of a run. Equal files give equal bytes: no time, owner or order is kept."""

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from hookproof.conformance.results.packed.manifest import (
    MANIFEST,
    MOST_CONTENT,
    SIGNATURE,
    PackedFile,
    manifest_text,
)
from hookproof.process.exit_codes import CommandError
from hookproof.spec.given_file import given_file

CHUNK: Final = 1024 * 1024
# The earliest time that the format knows.
NO_TIME: Final = (1980, 1, 1, 0, 0, 0)
# A regular file that its owner may write and all may read.
MODE: Final = 0o100644
UNIX: Final = 3


def packed_run(
    folder: Path, names: Sequence[str], tool_version: str, key: Ed25519PrivateKey | None = None
) -> bytes:
    """A pack of these files of a folder; raises CommandError if one cannot be read or is long."""
    packed = io.BytesIO()
    with ZipFile(packed, "w") as archive:
        files, room = [], MOST_CONTENT
        for name in names:
            file = _add_file(archive, folder / name, room)
            room -= file.bytes
            files.append(file)
        manifest = manifest_text(files, tool_version)
        _add(archive, MANIFEST, manifest)
        if key is not None:
            _add(archive, SIGNATURE, key.sign(manifest))
    return packed.getvalue()


def _add_file(archive: ZipFile, path: Path, room: int) -> PackedFile:
    digest, length = hashlib.sha256(), 0
    try:
        with (
            given_file(path, MOST_CONTENT) as stream,
            archive.open(_member(path.name), "w") as member,
        ):
            while chunk := stream.read(CHUNK):
                length += len(chunk)
                if length > room:
                    raise CommandError(f"{path} is too long: a pack holds {MOST_CONTENT:,} bytes")
                digest.update(chunk)
                member.write(chunk)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror or error}") from None
    return PackedFile(name=path.name, bytes=length, sha256=digest.hexdigest())


def _add(archive: ZipFile, name: str, content: bytes) -> None:
    with archive.open(_member(name), "w") as member:
        member.write(content)


def _member(name: str) -> ZipInfo:
    member = ZipInfo(name, NO_TIME)
    member.compress_type = ZIP_DEFLATED
    member.create_system = UNIX
    member.external_attr = MODE << 16
    return member
