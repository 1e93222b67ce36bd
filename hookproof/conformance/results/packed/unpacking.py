"""Writes the files of a packed run into a folder: all of them, or none."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hookproof.conformance.results.packed.reading import Pack
from hookproof.process.exit_codes import CommandError
from hookproof.process.written_file import FileNotWritten


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
