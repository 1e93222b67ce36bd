"""The command `hookproof report`: a finished run in another format, or as one file."""

from pathlib import Path
from typing import Final

import click

from hookproof.conformance.cli.stored_run import FOLDER, end_with_error
from hookproof.conformance.reports.formats import FORMATS, REPORTS
from hookproof.conformance.results.packed.manifest import BrokenPack, signing_key, verifying_key
from hookproof.conformance.results.packed.reading import is_packed, open_pack, unpack_into
from hookproof.conformance.results.packed.writing import packed_run
from hookproof.conformance.results.run_file import NAME, CutOff, NotARun, read_run, run_path
from hookproof.conformance.run.regrading import read_whole_or_partial_run
from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError
from hookproof.process.installed_version import installed_version
from hookproof.process.messages import print_document, print_line
from hookproof.process.written_file import write_file
from hookproof.spec.strict_yaml.file_problem import FileProblems


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


# A run as one file, and the files of such a one.
PACK: Final = "pack"
FILES: Final = "files"


@click.command(
    epilog=examples(
        (
            "hookproof report hookproof-report --format sarif -o findings.sarif",
            "Write the findings for a code scanner.",
        ),
        (
            "hookproof report hookproof-report --format markdown --partial",
            "Show what was gathered by a run that was cut off.",
        ),
        (
            "hookproof report hookproof-report --format pack -o run.zip --key key.pem",
            "Make the run one signed file, which other commands read as they read its folder.",
        ),
        (
            "hookproof report run.zip -o run --verify-key public.pem",
            "Unpack a run that this key signed.",
        ),
    )
)
@click.argument("folder", type=FOLDER, metavar="[RUN]", default="hookproof-report")
@click.option(
    "--format",
    "name",
    type=click.Choice([*FORMATS, PACK, FILES]),
    help="Format to write; of a packed run its files by default.",
)
@click.option("--json", "name", flag_value="json", help="The same as --format json.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File to write; standard output by default. For files: the folder to write into.",
)
@click.option(
    "--partial",
    is_flag=True,
    help="Render a run that was cut off, too: what it gathered is judged, as an incomplete run.",
)
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="For pack: file of an Ed25519 private key (PEM) to sign with.",
)
@click.option(
    "--verify-key",
    type=click.Path(path_type=Path),
    help="For files: file of the Ed25519 public key (PEM) that must have signed the pack.",
)
@click.pass_context
def report(
    context: click.Context,
    /,
    *,
    folder: Path,
    name: str | None,
    output: Path | None,
    partial: bool,
    key: Path | None,
    verify_key: Path | None,
) -> None:
    """Render the RUN, a folder that `hookproof check --out` wrote, or a packed run.

    Only its run.jsonl is read. It is cut off if the run was killed, or the disk was full.

    The format pack puts run.jsonl and the reports into one zip archive with the SHA-256 of each
    file; the same files give the same bytes. With --key it is signed; `openssl genpkey -algorithm
    ed25519 -out key.pem` makes a key, and `openssl pkey -in key.pem -pubout -out public.pem` what
    --verify-key needs. The format files writes the files of a pack into a folder: every file must
    be as it was packed, there must be no other, and none that exists is overwritten.

    Exit codes: 0 written, whatever the verdict of the run; 64 there is no finished run (with
    --partial: nothing was gathered), the pack is broken, changed or not signed by the key, or a
    file cannot be written.
    """
    name = name or _default_format(context, folder)
    if (key and name != PACK) or (verify_key and name != FILES):
        raise click.UsageError("--key is for --format pack, --verify-key for files", context)
    if name in (PACK, FILES):
        if output is None:
            raise click.UsageError(f"--format {name} needs --output", context)
        if name == PACK:
            pack(folder, output, key)
        else:
            unpack(folder, output, verify_key)
        return
    try:
        run = read_whole_or_partial_run(folder) if partial else read_run(run_path(folder))
        text = FORMATS[name].render(run)
        if output is not None:
            write_file(output, text)
    except (NotARun, CommandError, FileProblems) as error:
        end_with_error(context, str(error))
    if output is None:
        print_document(text, end="")


def _default_format(context: click.Context, folder: Path) -> str:
    try:
        packed = folder.is_file() and is_packed(folder)
    except OSError as error:
        raise CommandError(f"{folder} cannot be read: {error.strerror or error}") from None
    if not packed:
        raise click.UsageError(f"Missing option '--format': {', '.join(FORMATS)}", context)
    return FILES
