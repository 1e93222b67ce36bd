"""Reads packed runs, which strangers may have made.

Nothing is read that the manifest does not list, and no more of it than the manifest says. Members
are taken by names without a path, so that none can lead out of a folder.
"""

import hashlib
import stat
import struct
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO, Final, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from hookproof.conformance.results.packed.manifest import (
    LONGEST_MANIFEST,
    MANIFEST,
    MOST_CONTENT,
    MOST_FILES,
    SIGNATURE,
    SIGNATURE_LENGTH,
    BrokenPack,
    PackedFile,
    PackManifest,
    is_signed_by,
    manifest_of,
)
from hookproof.process.exit_codes import CommandError
from hookproof.process.written_file import FileNotWritten
from hookproof.spec.given_file import given_file

BEGINNING: Final = b"PK\x03\x04"
# In bytes.
CHUNK: Final = 256 * 1024
IN_MEMORY: Final = 32 * 1024 * 1024
LONGEST_DIRECTORY: Final = 64 * 1024
# What cannot be compressed takes a little more in a pack.
LARGEST_PACK: Final = MOST_CONTENT + IN_MEMORY

# The end of the central directory (APPNOTE.TXT, 4.3.16), and that of its form for 64 bits (4.3.15).
_END: Final = struct.Struct("<4s4H2LH")
_END_SIGNATURE: Final = b"PK\x05\x06"
_END_OF_64: Final = b"PK\x06\x07"
_LENGTH_OF_64: Final = 20

# What zipfile and zlib raise for archives that are damaged, encrypted or of another kind.
_DAMAGED: Final = (
    BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OverflowError,
    RuntimeError,
    ValueError,
)


class Pack:
    """A packed run that is open; what is read of it is what its manifest says."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self._members = {info.filename: info for info in archive.infolist()}
        if len(self._members) < len(archive.infolist()):
            raise BrokenPack("it holds a file twice")
        for info in self._members.values():
            _confirm_plain(info)
        self._manifest_bytes = self._short(MANIFEST, LONGEST_MANIFEST)
        self.manifest: PackManifest = manifest_of(self._manifest_bytes)
        known = {MANIFEST, SIGNATURE, *(file.name for file in self.manifest.files)}
        if unknown := sorted(self._members.keys() - known):
            raise BrokenPack(f"it holds {unknown[0]!r}, which its {MANIFEST} does not list")

    @property
    def is_signed(self) -> bool:
        return SIGNATURE in self._members

    def confirm_signature(self, key: Ed25519PublicKey) -> None:
        """Raise BrokenPack unless the manifest is signed by this key."""
        if not self.is_signed:
            raise BrokenPack("it is not signed")
        if not is_signed_by(key, self._manifest_bytes, self._short(SIGNATURE, SIGNATURE_LENGTH)):
            raise BrokenPack("it was changed since it was signed, or is signed by another key")

    def file(self, name: str) -> PackedFile:
        """What the manifest says of a file; raises BrokenPack if it is not listed."""
        found = next((file for file in self.manifest.files if file.name == name), None)
        if found is None:
            raise BrokenPack(f"it holds no {name}")
        return found

    def copy(self, file: PackedFile, to: BinaryIO | IO[bytes]) -> None:
        """Write the content of a file; raises BrokenPack if it is another than was packed."""
        for chunk in self._content(file):
            to.write(chunk)

    def confirm_whole(self) -> None:
        """Raise BrokenPack if the content of any file is another than was packed."""
        for file in self.manifest.files:
            for _ in self._content(file):
                pass

    def _content(self, file: PackedFile) -> Iterator[bytes]:
        digest, left = hashlib.sha256(), file.bytes
        info = self._member(file.name)
        if info.file_size != file.bytes:
            raise _changed(file.name)
        with self._archive.open(info) as member:
            while chunk := member.read(CHUNK):
                left -= len(chunk)
                if left < 0:
                    raise _changed(file.name)
                digest.update(chunk)
                yield chunk
        if left or digest.hexdigest() != file.sha256:
            raise _changed(file.name)

    def _short(self, name: str, longest: int) -> bytes:
        info = self._member(name)
        if info.file_size > longest:
            raise BrokenPack(f"its {name} has more than {longest:,} bytes")
        with self._archive.open(info) as member:
            return member.read(longest)

    def _member(self, name: str) -> ZipInfo:
        if name not in self._members:
            raise BrokenPack(f"it holds no {name}")
        return self._members[name]


@contextmanager
def open_pack(path: Path) -> Iterator[Pack]:
    """A packed run; raises BrokenPack, now or while it is read, and OSError."""
    with given_file(path, LARGEST_PACK) as stream:
        _confirm_directory(stream)
        try:
            with ZipFile(stream) as archive:
                yield Pack(archive)
        except _DAMAGED as error:
            raise BrokenPack(f"it is damaged: {error}") from None


def is_packed(path: Path) -> bool:
    """Whether a file is an archive, as packed runs are; raises OSError."""
    with given_file(path, LARGEST_PACK) as stream:
        return stream.read(len(BEGINNING)) == BEGINNING


@contextmanager
def open_packed(path: Path, name: str) -> Iterator[BinaryIO]:
    """A file in a pack, once all of it was found to be as it was packed.

    Raises BrokenPack, and OSError. What is long is kept in a temporary file without a name.
    """
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as content:
        with open_pack(path) as pack:
            pack.copy(pack.file(name), content)
        content.seek(0)
        yield cast("BinaryIO", content)


def _confirm_directory(stream: BinaryIO | IO[bytes]) -> None:
    """Refuse an archive whose directory is long before anything reads it."""
    end = stream.seek(0, 2)
    stream.seek(max(0, end - _END.size - _LENGTH_OF_64))
    before, last = (tail := stream.read())[: -_END.size], tail[-_END.size :]
    stream.seek(0)
    if len(last) < _END.size:
        raise BrokenPack("it is no packed run")
    signature, *_, entries, length, _, comment = _END.unpack(last)
    if signature != _END_SIGNATURE or comment:
        raise BrokenPack("it is cut off, or no packed run")
    is_long = entries > MOST_FILES + 2 or length > LONGEST_DIRECTORY
    if is_long or before.startswith(_END_OF_64):
        raise BrokenPack(f"it holds more than {MOST_FILES} files")


def _confirm_plain(info: ZipInfo) -> None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise BrokenPack(f"it holds {info.filename!r}, which is a link or another special file")
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise BrokenPack(f"{info.filename!r} in it is compressed in a way that is not read")


def _changed(name: str) -> BrokenPack:
    return BrokenPack(f"{name} in it is not as it was packed: its checksum is another one")


def unpack_into(pack: Pack, folder: Path) -> None:
    """Write every file; raises BrokenPack, and CommandError if one exists or cannot be written."""
    with _removed_on_failure(folder) as written:
        for file in pack.manifest.files:
            path = folder / file.name
            try:
                with path.open("xb") as stream:  # it follows no link
                    written.append(path)
                    pack.copy(file, stream)
            except FileExistsError:
                raise CommandError(f"{path} exists; name another folder") from None
            except OSError as error:
                raise FileNotWritten(path, error) from None


@contextmanager
def _removed_on_failure(folder: Path) -> Iterator[list[Path]]:
    """The folder, which is made; what is in the list, and a new folder, goes if this fails."""
    is_new, written = not folder.exists(), list[Path]()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileNotWritten(folder, error) from None
    try:
        yield written
    except BaseException:
        with suppress(OSError):
            for path in written:
                path.unlink(missing_ok=True)
            if is_new:
                folder.rmdir()
        raise
