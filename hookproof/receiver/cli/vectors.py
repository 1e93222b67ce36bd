"""The command `hookproof vectors`."""

import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from typing import Final

import click

from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.messages import print_document, print_line
from hookproof.process.terminal_text import printable
from hookproof.receiver.cli.verify import load_named_dialect
from hookproof.receiver.signatures.judgement import SchemeFormat
from hookproof.receiver.vectors.corpus import (
    NoVectors,
    build_corpus,
    corpus_document,
    corpus_schema,
)
from hookproof.receiver.vectors.grading import GradedVector, mistakes, same_for_all
from hookproof.receiver.vectors.vector import Vector
from hookproof.spec.completion import complete_dialect

# The most characters shown of what a verifier says.
LONGEST_REMARK: Final = 200


def grading_lines(graded: Sequence[GradedVector]) -> Iterator[str]:
    """Each mistake with the vectors that show it, and the counts at the end."""
    for mistake in mistakes(graded):
        yield f"It {mistake.meaning}:"
        for each in mistake.shown_by:
            yield from _lines(each)
        yield ""
    right = sum(each.right for each in graded)
    if words := same_for_all(graded):
        yield f"{words}."
        yield f"vectors: {len(graded)}, shown to be right: 0"
    else:
        yield f"vectors: {len(graded)}, right: {right}, wrong: {len(graded) - right}"


def _lines(graded: GradedVector) -> Iterator[str]:
    vector = graded.vector
    verdict = f"refused ({vector.reason})" if vector.reason else "accepted"
    yield f"  {vector.name}"
    yield f"    should be {verdict}: {vector.why}"
    if graded.answer.remark:
        yield f"    it said: {printable(graded.answer.remark[:LONGEST_REMARK])}"
    for note in vector.notes:
        yield f"    note: {note}"


def grading_json(graded: Sequence[GradedVector]) -> dict[str, object]:
    wrong = [each for each in graded if not each.right]
    return {
        "vectors": len(graded),
        "right": len(graded) - len(wrong),
        "same_for_all": same_for_all(graded),
        "wrong": [each.to_json() for each in wrong],
    }


@click.command(
    epilog=examples(
        (
            "hookproof vectors --dialect standard-webhooks > vectors.json",
            "Write the deliveries of a dialect to a file.",
        ),
        (
            "hookproof vectors --dialect reference --format simple --against 'python verifier.py'",
            "Grade a verifier of yours.",
        ),
    )
)
@click.option(
    "--dialect",
    metavar="NAME|FILE",
    shell_complete=complete_dialect,
    help="Only those of this dialect.",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice([choice.value for choice in SchemeFormat]),
    help="Only those of this signature format.",
)
@click.option(
    "--schema", "as_schema", is_flag=True, help="Print the JSON Schema of the output instead."
)
@click.option(
    "--against",
    metavar="COMMAND",
    help="Show each to this command on standard input; it ends with 0 to accept it, 3 to refuse.",
)
@click.option(
    "--against-url",
    metavar="URL",
    help="Post each to this URL; it answers with 2xx to accept it, 4xx to refuse.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what a verifier gets wrong as JSON.")
@click.pass_context
def vectors(
    context: click.Context,
    /,
    *,
    dialect: str | None,
    format_name: str | None,
    as_schema: bool,
    against: str | None,
    against_url: str | None,
    as_json: bool,
) -> None:
    """Print signed deliveries as JSON, good and bad ones.

    Each has the verdict that a verifier should reach. With --against or --against-url a verifier is
    graded by them: which it gets wrong, and what that means. The exit code is then 1 if it gets any
    wrong, 4 if the URL cannot be reached.
    """
    if sum((against is not None, against_url is not None, as_schema)) > 1:
        raise click.UsageError("give one of --against, --against-url and --schema")
    if as_schema:
        print_document(json.dumps(corpus_schema(), indent=1))
        return
    chosen = _chosen(dialect, format_name)
    if against is None and against_url is None:
        print_document(json.dumps(corpus_document(chosen), indent=1))
        return
    context.exit(_grade(chosen, against, against_url, as_json=as_json))


def _chosen(dialect: str | None, format_name: str | None) -> Sequence[Vector]:
    """The vectors of a dialect and a format, of all if None."""
    try:
        corpus = build_corpus(load_named_dialect(dialect) if dialect else None)
    except NoVectors as error:
        raise CommandError(str(error)) from None
    return [vector for vector in corpus if format_name in (None, vector.format.value)]


def _grade(
    chosen: Sequence[Vector], command: str | None, url: str | None, *, as_json: bool
) -> ExitCode:
    """Print what a verifier gets wrong."""
    from hookproof.receiver.vectors.verifiers import (
        CommandVerifier,
        UrlVerifier,
        VerifierUnreachable,
        VerifierUnusable,
        grade,
    )

    try:
        verifier = CommandVerifier(command) if command is not None else UrlVerifier(url or "")
        graded = asyncio.run(grade(verifier, chosen, at_once=len(os.sched_getaffinity(0))))
    except VerifierUnusable as problem:
        raise CommandError(f"--against: {problem}") from None
    except VerifierUnreachable as problem:
        raise CommandError(f"--against-url: {problem}", ExitCode.UNREACHABLE) from None
    if as_json:
        print_document(json.dumps(grading_json(graded), indent=1))
    else:
        for line in grading_lines(graded):
            print_line(line)
    return ExitCode.OK if all(each.right for each in graded) else ExitCode.FAILED
