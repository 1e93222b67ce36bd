"""The command `hookproof doctor`."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from hookproof.conformance.doctor.examination import CleanUp, DoctorResult, examine
from hookproof.conformance.target.command_options import flags_of, target_options
from hookproof.conformance.target.definition import Target
from hookproof.conformance.target.file import target_from
from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.messages import print_document, print_line, print_text
from hookproof.process.stop_signals import run_until_stopped
from hookproof.receiver.client.child_process import ChildFailed


@click.command(
    epilog=examples(
        (
            "hookproof doctor http://127.0.0.1:5005 --project p1 --ca-dir ca",
            "Examine a server; its key is in HOOKPROOF_API_KEY.",
        ),
    )
)
@target_options
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.pass_context
def doctor(context: click.Context, /, **options: Any) -> None:
    """Check whether a target can be judged: its answers, keys and clock, and whether its deliveries
    reach the receiver.

    It creates one endpoint and broadcasts one event. Exit codes: 0 the target can be judged; 4 it
    cannot be reached; 64 something else has to be fixed.
    """
    flags = flags_of(options)
    if flags.url is None and flags.file is None:
        raise click.UsageError("give the target's URL, or --target", context)
    results: list[DoctorResult] = []
    show = results.append if options["as_json"] else print_result
    try:
        target = target_from(flags, os.environ)
        code = run_until_stopped(partial(report_examination, target, show)).code
    except (CommandError, ChildFailed) as refusal:
        print_text(f"hookproof doctor: {refusal}", err=True)
        code = ExitCode(refusal.exit_code or ExitCode.INTERNAL_ERROR)
    if options["as_json"]:
        print_document(json.dumps([result_json(result) for result in results], indent=1))
    context.exit(code)


@dataclass(slots=True)
class Examined:
    """The exit code of the first failure, and the first result without which no dialect helps."""

    code: ExitCode = ExitCode.CONFORMS
    missing: DoctorResult | None = None


def print_result(result: DoctorResult) -> None:
    print_line(line_of(result))


async def report_examination(
    target: Target, tell: Callable[[DoctorResult], None] = print_result
) -> Examined:
    """Tell what the doctor examines, one by one, and what is left at the target, however that ends;
    in a line each by default.
    """
    examined, clean_up = Examined(), CleanUp.of(target)

    def show(result: DoctorResult) -> None:
        tell(result)
        if result.advice and examined.code is ExitCode.CONFORMS:
            examined.code = result.exit_code
        if result.advice and result.needed:
            examined.missing = examined.missing or result

    try:
        async for result in examine(target, clean_up):
            show(result)
    finally:
        for result in clean_up.results():
            show(result)
    return examined


def result_json(result: DoctorResult) -> dict[str, str | None]:
    """A result as JSON; its word is that of `line_of`, in lower case."""
    return {
        "result": line_of(result).split(" ", 1)[0].lower(),
        "what": result.what,
        "advice": result.advice or None,
        "untried": result.untried or None,
    }


def line_of(result: DoctorResult) -> str:
    if result.untried:
        return f"skip  {result.what}: not tried, since {result.untried}"
    if result.ok:
        return f"ok    {result.what}"
    word = "note" if result.exit_code is ExitCode.CONFORMS else "FAIL"
    return f"{word}  {result.what}: {result.advice}"
