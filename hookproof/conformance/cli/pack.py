"""The commands `hookproof pack` and `hookproof unpack`: a run as one file."""

from pathlib import Path

import click

from hookproof.conformance.cli.stored_run import FOLDER
from hookproof.conformance.reports.formats import REPORTS
from hookproof.conformance.results.packed.keys import signing_key, verifying_key
from hookproof.conformance.results.packed.manifest import BrokenPack
from hookproof.conformance.results.packed.reading import open_pack
from hookproof.conformance.results.packed.unpacking import unpack_into
from hookproof.conformance.results.packed.writing import packed_run
from hookproof.conformance.results.run_file import NAME, CutOff, NotARun, read_run
from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError
from hookproof.process.installed_version import installed_version
from hookproof.process.messages import print_line
from hookproof.process.written_file import write_file


@click.command(
    epilog=examples(
        (
            "hookproof pack hookproof-report -o run.zip",
            "Pack a run, which other commands read as they read its folder.",
        ),
        ("hookproof pack hookproof-report -o run.zip --key key.pem", "Sign it, too."),
    )
)
@click.argument("folder", type=FOLDER, metavar="DIR", default="hookproof-report")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, help="File to write."
)
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="File of an Ed25519 private key (PEM) to sign with.",
)
def pack(*, folder: Path, output: Path, key: Path | None) -> None:
    """Pack the run in DIR, its run.jsonl and its reports, into one file.

    The file is a zip archive with the SHA-256 of each file in it; the same files give the same
    bytes. `hookproof report`, `regrade`, `compare` and `matrix` read it as they read a folder.
    Other files in DIR are left out.

    With --key it is signed; `openssl genpkey -algorithm ed25519 -out key.pem` makes a key, and
    `openssl pkey -in key.pem -pubout -out public.pem` what `hookproof unpack --verify-key` needs.

    Exit codes: 0 written; 64 there is no run in DIR, or a file cannot be read or written.
    """
    signer = signing_key(key) if key else None
    try:
        read_run(folder / NAME)
    except CutOff:
        print_line(
            "hookproof pack: the run was cut off; `hookproof report --partial` renders what it"
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


@click.command(
    epilog=examples(
        (
            "hookproof unpack run.zip -o run --verify-key public.pem",
            "Unpack a run that this key signed.",
        ),
    )
)
@click.argument("packed", type=click.Path(path_type=Path), metavar="FILE")
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder to write into; it is made if there is none.",
)
@click.option(
    "--verify-key",
    type=click.Path(path_type=Path),
    help="File of the Ed25519 public key (PEM) that must have signed it.",
)
def unpack(*, packed: Path, folder: Path, verify_key: Path | None) -> None:
    """Check the packed run FILE and write what it holds into a folder.

    Every file must be as it was packed, and there must be no other. No file that exists is
    overwritten. With --verify-key it must be signed, too.

    Exit codes: 0 written; 64 the pack is broken or changed, or not signed by the key, or a file
    exists or cannot be written: nothing is left then.
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
