"""The command `hookproof validate`: checks files that people write, and runs, each by its kind."""

import json
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from hookproof.conformance.cli.stored_run import verdict_line
from hookproof.conformance.results.baseline import baseline_in
from hookproof.conformance.results.packed.manifest import BrokenPack
from hookproof.conformance.results.packed.reading import BEGINNING, open_pack
from hookproof.conformance.results.run_file import NotARun, read_run, run_path
from hookproof.conformance.target.file import check_target_file
from hookproof.help_examples import examples
from hookproof.load.profile import load_profile as profiles
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.messages import print_document, print_line, print_text
from hookproof.process.terminal_text import counted
from hookproof.receiver.replies.script_file import read_script_file, script_schema
from hookproof.receiver.signatures.schemes.catalogue import Entry, SchemeProblem, load_scheme
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.answers import answers_of
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect_schema import dialect_schema
from hookproof.spec.given_file import given_file
from hookproof.spec.strict_yaml.file_problem import FileProblems
from hookproof.spec.strict_yaml.reader import read_text, scan_yaml
from hookproof.target.editor_schema import target_schema

# How run.jsonl begins.
HEADER: Final = b'{"event"'
BASELINE: Final = "baseline"
RUN: Final = "run"


def _dialect(name: str) -> str:
    loaded = load_dialect(name)
    answers = [answer for _, answer in answers_of(loaded) if isinstance(answer, Answer)]
    undecided = sum(not answer.decided for answer in answers)
    several = sum(len(answer.allowed) > 1 for answer in answers)
    return (
        f"the dialect {loaded.name} can be used; of {len(answers)} answers that may stay open,"
        f" {undecided} are undecided and {several} allow several values"
    )


def _target(name: str) -> str:
    check_target_file(Path(name), os.environ)
    return "the target file can be used"


def _profile(name: str) -> str:
    return f"the load profile {profiles.load_profile(name).name} can be used"


def _baseline(name: str) -> str:
    return (
        f"the baseline can be used; it accepts {counted(len(baseline_in(Path(name))), 'verdict')}"
    )


def _script(name: str) -> str:
    plans = read_script_file(Path(name))
    return f"the script can be used; it is for {counted(len(plans), 'token')}"


def _scheme(name: str) -> str:
    return f"the scheme {load_scheme(name).name} can be used"


def _run(name: str) -> str:
    path = run_path(Path(name))
    whole = ""
    if _beginning(path).startswith(BEGINNING):
        with open_pack(path) as pack:
            pack.confirm_whole()
            signed = ", and signed, which is not verified" if pack.is_signed else ""
            whole = f"; {counted(len(pack.manifest.files), 'file')} as packed{signed}"
    run = read_run(path)
    return f"the run can be read: {verdict_line(run.ledger, strict=run.header.strict)}{whole}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of file: the keys at its top, if it is a mapping, and what checks a file.

    `check` says of a file or, of some kinds, a shipped name that it can be used.
    """

    keys: Callable[[], Collection[str]]
    check: Callable[[str], str]


KINDS: Final[Mapping[str, Kind]] = {
    "dialect": Kind(keys=lambda: dialect_schema()["properties"], check=_dialect),
    "target": Kind(keys=lambda: target_schema()["properties"], check=_target),
    "profile": Kind(keys=lambda: profiles.SCHEMA["properties"], check=_profile),
    BASELINE: Kind(keys=tuple, check=_baseline),
    "script": Kind(keys=lambda: script_schema()["properties"], check=_script),
    "scheme": Kind(keys=lambda: Entry.__struct_fields__, check=_scheme),
    RUN: Kind(keys=tuple, check=_run),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """What was found out of a file; `problems` is empty if it can be used.

    Each problem has a line, if it is known, the place in the file, and a message.
    """

    file: str
    kind: str | None
    words: str
    problems: tuple[Mapping[str, Any], ...] = ()


@click.command(
    no_args_is_help=True,
    epilog=examples(
        (
            "hookproof validate target.yaml ours.yaml",
            "Check two files before they are committed.",
        ),
        ("hookproof validate --as dialect reference", "Check a dialect by its name."),
        ("hookproof validate run.zip --json", "Check a packed run, for programs."),
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
@click.option(
    "--as",
    "kind",
    type=click.Choice(list(KINDS)),
    help="What the files are, where their content does not tell.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.pass_context
def validate(
    context: click.Context, /, *, files: tuple[str, ...], kind: str | None, as_json: bool
) -> None:
    """Check files, and report all their mistakes with their lines.

    A FILE is a dialect, a target file, a load profile, a baseline, a script of `receive`, the
    scheme of a sender, or a run: its folder, its run.jsonl or a pack. The kind is found out from
    the content. With --as, a dialect, a profile or a scheme may be given by its name.

    Nothing is called, no hook is imported, no variable of a target file needs a value, and
    certificates need not exist: `hookproof doctor` examines all that where the file is used.

    Exit codes: 0 all of them can be used; 64 one cannot.
    """
    validations = [_validation(file, kind) for file in files]
    if as_json:
        print_document(json.dumps([_json(each) for each in validations], indent=1))
    else:
        for each in validations:
            if each.problems:
                print_text(each.words, err=True)
            else:
                print_line(f"{each.file}: {each.words}")
    usable = not any(each.problems for each in validations)
    context.exit(ExitCode.OK if usable else ExitCode.USAGE)


def _validation(file: str, kind: str | None) -> Validation:
    try:
        if kind is None:
            kind = _kind_of(file)
            is_path = "/" in file or file.endswith((".yaml", ".yml"))
            file_or_name = file if is_path else f"./{file}"  # not the name of a shipped one
        else:
            file_or_name = file
        words = KINDS[kind].check(file_or_name)
    except FileProblems as found:
        problems = [
            {"line": each.line, "where": each.where, "message": each.message}
            for each in found.problems
        ]
        return Validation(file=file, kind=kind, words=str(found), problems=tuple(problems))
    except (CommandError, SchemeProblem, NotARun, BrokenPack) as found:
        message = found.message if isinstance(found, CommandError) else str(found)
        words = message if message.startswith(file) else f"{file}: {message}"
        problem = {"line": None, "where": "", "message": message}
        return Validation(file=file, kind=kind, words=words, problems=(problem,))
    return Validation(file=file, kind=kind, words=words)


def _kind_of(file: str) -> str:
    """The kind of a file by its content; raises CommandError and FileProblems."""
    path = Path(file)
    if path.is_dir() or _beginning(path).startswith((BEGINNING, HEADER)):
        return RUN
    value = scan_yaml(read_text(path), file).value
    if isinstance(value, list):
        return BASELINE
    known = {
        name: len({*kind.keys()} & value.keys()) if isinstance(value, dict) else 0
        for name, kind in KINDS.items()
    }
    most = max(known.values())
    likely = [name for name, keys in known.items() if keys == most]
    if not most or len(likely) > 1:
        raise CommandError(f"its content does not tell what it is: add --as {'|'.join(KINDS)}")
    return likely[0]


def _beginning(path: Path) -> bytes:
    try:
        with given_file(path, 1024**4) as stream:
            return stream.read(len(HEADER))
    except OSError as error:
        raise CommandError(f"cannot be read: {error.strerror or error}") from None


def _json(validation: Validation) -> dict[str, Any]:
    return {
        "file": validation.file,
        "kind": validation.kind,
        "usable": not validation.problems,
        "message": validation.words,
        "problems": list(validation.problems),
    }
