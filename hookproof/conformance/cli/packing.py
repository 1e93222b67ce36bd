"""A run as one file: its run.jsonl and its reports, with checksums and a signature."""

from pathlib import Path

from hookproof.conformance.reports.formats import REPORTS
from hookproof.conformance.results.packed.keys import signing_key, verifying_key
from hookproof.conformance.results.packed.manifest import BrokenPack
from hookproof.conformance.results.packed.reading import open_pack
from hookproof.conformance.results.packed.unpacking import unpack_into
from hookproof.conformance.results.packed.writing import packed_run
from hookproof.conformance.results.run_file import NAME, CutOff, NotARun, read_run
from hookproof.process.exit_codes import CommandError
from hookproof.process.installed_version import installed_version
from hookproof.process.messages import print_line
from hookproof.process.written_file import write_file


def pack(folder: Path, output: Path, key: Path | None) -> None:
    """Pack the run in a folder, signed by the private key in a file; raises CommandError."""
    signer = signing_key(key) if key else None
    try:
        read_run(folder / NAME)
    except CutOff:
        print_line(
            "hookproof report: the run was cut off; `hookproof report --partial` renders what it"
            " holds",
            err=True,
        )
    except NotARun as problem:
        raise CommandError(str(problem)) from None
    names = [name for name in (NAME, *REPORTS) if (folder / name).is_file()]
    content = packed_run(folder, names, installed_version(), signer)
    write_file(output, content)
    signed = ", signed" if signer else ""
    print_line(f"{output}: {len(content):,} bytes{signed}: {', '.join(names)}")


def unpack(packed: Path, folder: Path, verify_key: Path | None) -> None:
    """Check a packed run, and its signature with a key, and write its files into a folder.

    Raises CommandError, and leaves nothing then.
    """
    key = verifying_key(verify_key) if verify_key else None
    try:
        with open_pack(packed) as opened:
            if key:
                opened.confirm_signature(key)
            unsigned = "not signed" if not opened.is_signed else "signed, not verified"
            unpack_into(opened, folder)
            manifest = opened.manifest
    except BrokenPack as problem:
        raise CommandError(f"{packed} cannot be used: {problem}") from None
    except OSError as error:
        raise CommandError(f"{packed} cannot be read: {error.strerror or error}") from None
    names = ", ".join(file.name for file in manifest.files)
    signed = "signed by the key" if key else unsigned
    by = f"packed by hookproof {manifest.tool.version}, {signed}"
    print_line(f"{folder}: {names} ({by})")
