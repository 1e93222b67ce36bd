"""The command `hookproof init`: ask what testing a server takes, and write it down."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from hookproof.conformance.doctor.command import report_examination
from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.learning.learner import learn_target
from hookproof.conformance.learning.probes.access import KEY_FORMAT, find_key_format
from hookproof.conformance.learning.report import summary
from hookproof.conformance.learning.session import ProbeSession, with_key_format
from hookproof.conformance.learning.written_files import (
    DIALECT,
    PAGE,
    TARGET,
    target_text,
    variable,
    write_learned_dialect,
)
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.reports.progress import step_progress
from hookproof.conformance.target.command_options import address_options, flags_of, profile_option
from hookproof.conformance.target.definition import Target
from hookproof.conformance.target.file import named_dialect, target_from
from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.folder_lock import locked_folder
from hookproof.process.messages import ask, confirm, print_line, print_text
from hookproof.process.stop_signals import run_until_stopped
from hookproof.process.written_file import FileNotWritten, write_files
from hookproof.receiver.http.address import Address, listener_names
from hookproof.receiver.http.authority import (
    CERTIFICATE_FILE,
    KEY_FILE,
    Authority,
    AuthorityProblem,
)
from hookproof.spec.contract.schemathesis_settings import schemathesis_settings
from hookproof.spec.strict_yaml.editor_schema import naming_comment, write_schema_beside
from hookproof.target.editor_schema import target_schema
from hookproof.target.settings import UNDECIDED_DIALECT, Flags, ReceiverSettings

CA_FOLDER: Final = "ca"
SCHEMATHESIS: Final = "schemathesis.toml"
# What is asked for in this order: the option's name, and the question.
REQUIRED: Final = {
    "url": ("URL", "Base URL of the server"),
    "projects": ("--project", "Project to work in"),
    "api_keys": ("--api-key", "API key of the project (it is written into no file)"),
}


@click.command(
    epilog=examples(
        ("hookproof init", "Ask for everything."),
        ("hookproof init http://127.0.0.1:5005 --project p1 --ca-dir ca", "Ask for what is left."),
    )
)
@address_options
@click.option(
    "--learn/--no-learn",
    "learn",
    default=None,
    help="Find out the dialect too, which takes about a minute.  [default: asked; else no]",
)
@profile_option("How much of the dialect to find out.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("hookproof"),
    show_default=True,
    help="Folder for target.yaml, schemathesis.toml, dialect.yaml, learned.html and the CA.",
)
@click.option("--force", is_flag=True, help="Overwrite files that exist.")
@click.option(
    "--ask/--no-ask",
    "ask",
    default=None,
    help="Ask for what no option says.  [default: in a terminal]",
)
@click.pass_context
def init(context: click.Context, /, **options: Any) -> None:
    """Set up the test of a server: ask for its URL, project, key and where the receiver listens,
    examine it as `hookproof doctor` does, find out its dialect, and write target.yaml and, for
    `schemathesis run`, schemathesis.toml.

    Every answer can be given as an option or in the environment. Without a terminal nothing is
    asked. The key is written into no file. It creates endpoints and broadcasts events. Exit codes:
    0 written; 4 target unreachable; 64 something is missing or has to be fixed.
    """
    asks = sys.stdin.isatty() if options["ask"] is None else options["ask"]
    try:
        setup = _Setup(asks=asks, out=options["out"], force=options["force"])
        flags = setup.flags(options)
        with locked_folder(setup.out):
            code = _set_up(setup, flags, options)
    except CommandError as error:
        print_text(f"hookproof init: {error}", err=True)
        code = error.exit_code
    context.exit(code)


def _set_up(setup: "_Setup", flags: Flags, options: Mapping[str, Any]) -> int:
    """Go through the steps and return the exit code; raises CommandError."""
    target = setup.target(flags)
    learns = setup.learns(options["learn"])
    setup.allow_writing(learns=learns)
    target = run_until_stopped(partial(_with_key_format, target))
    code = setup.examine(target, learns=learns)
    if learns:
        learned = setup.learn(target, Profile[options["profile"].upper()])
        if code is not ExitCode.CONFORMS:
            code = run_until_stopped(partial(report_examination, learned)).code
    setup.write(target, learned=learns)
    return code


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setup:
    """The steps of the command; each raises CommandError where it cannot go on."""

    asks: bool
    out: Path
    force: bool

    def flags(self, options: Mapping[str, Any]) -> Flags:
        """What the options and the answers say of the target; nothing is written yet."""
        answers = {**options, **{name: self._required(name, options) for name in REQUIRED}}
        if self.asks and not options["projects"]:
            self._ask_for_second_project(answers)
        if answers["receiver_bind"] is None and self.asks:
            answers["receiver_bind"] = ask(
                "Where the receiver listens, as HOST:PORT; port 0 is any free one",
                default=ReceiverSettings().bind,
            )
        if answers["ca_dir"] is None:
            answers["ca_dir"] = self.out / CA_FOLDER
        flags = replace(flags_of(answers), dialect=UNDECIDED_DIALECT)
        _without_ca(flags)  # mistakes are refused before anything is made
        return flags

    def target(self, flags: Flags) -> Target:
        """The target that they describe; makes a CA if there is none."""
        assert flags.ca_dir is not None
        self._make_authority(flags.ca_dir, _without_ca(flags).receiver)
        return target_from(flags, os.environ)

    def _required(self, name: str, options: Mapping[str, Any]) -> Any:
        given = options[name]
        if given:
            return given
        word, question = REQUIRED[name]
        if not self.asks:
            raise CommandError(f"{word} is missing: give it, or run this in a terminal to be asked")
        answer = ask(question, hide_input=name == "api_keys")
        return answer if name == "url" else (answer,)

    def _ask_for_second_project(self, answers: dict[str, Any]) -> None:
        """Add it and its key to the answers, if there is one."""
        second = ask(
            "A second project, to judge that projects are isolated (Enter: there is none)",
            default="",
            show_default=False,
        )
        if second:
            key = ask(f"API key of {second}", hide_input=True)
            answers["projects"] = (*answers["projects"], second)
            answers["api_keys"] = (*answers["api_keys"], key)

    def _make_authority(self, folder: Path, receiver: ReceiverSettings) -> None:
        """Make the CA in this folder, unless it holds one."""
        if (folder / CERTIFICATE_FILE).exists() or (folder / KEY_FILE).exists():
            return
        names = listener_names(Address.parse(receiver.bind), receiver.public_url)
        try:
            certificate = Authority(folder, names).certificate_path
        except AuthorityProblem as problem:
            raise CommandError(str(problem)) from None
        print_line(f"Made {certificate}: let the server trust it, as endpoint URLs must be https.")
        if self.asks:  # nobody can trust what was made just now
            ask(
                "Let the server trust it, restart it if it needs that, and press Enter",
                default="",
                show_default=False,
            )

    def learns(self, asked_for: bool | None) -> bool:
        if asked_for is None and self.asks:
            question = "Find out its dialect? That creates endpoints and takes about a minute"
            return confirm(question, default=True)
        return bool(asked_for)

    def allow_writing(self, *, learns: bool) -> None:
        """Let no file be overwritten that was not agreed to."""
        names = (TARGET, SCHEMATHESIS, *((DIALECT, PAGE) if learns else ()))
        for path in (self.out / name for name in names):
            if self.force or not path.exists():
                continue
            if not self.asks:
                raise CommandError(f"{path} exists: give --force to overwrite it, or another --out")
            if not confirm(f"{path} exists. Overwrite it", default=False):
                raise CommandError(f"{path} is kept, and no other file was written")

    def examine(self, target: Target, *, learns: bool) -> ExitCode:
        """Examine the target, and go on despite what is wrong only if that is agreed to, or if it
        may be for a dialect that is not known yet.
        """
        examined = run_until_stopped(partial(report_examination, target))
        code = examined.code
        if code is ExitCode.CONFORMS:
            return code
        if missing := examined.missing:
            raise CommandError(f"{missing.advice}. Then run this again; {TARGET} was not written")
        if code is ExitCode.UNREACHABLE or not (self.asks or learns):
            raise CommandError(f"fix that first; {TARGET} was not written", code)
        if learns:
            print_line("Some of that may be for what the server chose; that is found out now.")
        elif not confirm("Go on all the same", default=False):
            raise CommandError(f"{TARGET} was not written", code)
        return code

    def learn(self, target: Target, profile: Profile) -> Target:
        """Learn the dialect, write it down, and return the target with it."""
        undecided = replace(target, dialect=named_dialect(UNDECIDED_DIALECT))
        with step_progress("hookproof init", sys.stderr) as note:
            learned = learn_target(undecided, UNDECIDED_DIALECT, profile, note)
        print_line(
            f"Written: {write_learned_dialect(learned, target, self.out)}, {self.out / PAGE}"
        )
        print_text(summary(learned))
        return replace(target, dialect=learned.answers.dialect)

    def write(self, target: Target, *, learned: bool) -> None:
        """Write the target's file and the settings of Schemathesis, and say what comes next."""
        dialect = DIALECT if learned else _undecided(target)
        path = self.out / TARGET
        text = naming_comment("target") + target_text(
            target, self.out, dialect=dialect, command="hookproof init"
        )
        try:
            self.out.mkdir(parents=True, exist_ok=True)
            write_files(
                {path: text, self.out / SCHEMATHESIS: schemathesis_settings(target.dialect)}
            )
            write_schema_beside(path, "target", target_schema())
        except OSError as error:
            raise FileNotWritten(Path(error.filename or path), error) from None
        print_line(f"Written: {path}, {self.out / SCHEMATHESIS}")
        print_text("\n".join(_next_steps(path, len(target.projects), learned=learned)))


def _without_ca(flags: Flags) -> Target:
    return target_from(replace(flags, ca_dir=None), os.environ)


async def _with_key_format(target: Target) -> Target:
    """The target with the form in which it accepts its key, if one is found."""
    answers = LearnedAnswers(UNDECIDED_DIALECT, target.dialect)
    session = ProbeSession(target=target, answers=answers)
    try:
        await find_key_format(session)
    except CommandError:  # the examination says what is wrong
        return target
    finally:
        await session.close()
    return replace(target, dialect=with_key_format(target.dialect, answers.value(KEY_FORMAT)))


def _undecided(target: Target) -> str | dict[str, Any]:
    """The dialect of a target of which nothing is known but the form of its key."""
    key_format = target.dialect.authentication.key_format
    if key_format == named_dialect(UNDECIDED_DIALECT).authentication.key_format:
        return UNDECIDED_DIALECT
    return {
        "extends": UNDECIDED_DIALECT,
        "name": "ours",
        "summary": "Our service.",
        "authentication": {"key_format": key_format},
    }


def _next_steps(target: Path, projects: int, *, learned: bool) -> list[str]:
    names = [variable(number) for number in range(1, projects + 1)]
    exports = [f"  export {name}=..." for name in names]
    lines = ["", "Next:", *exports, f"  hookproof check --target {target}"]
    if not learned:
        lines.append(f"  hookproof learn --target {target}    # finds out what it chose")
    secrets = [f"      {name}: ${{{{ secrets.{name} }}}}" for name in names]
    keys = "key as a secret" if projects == 1 else "keys as secrets"
    step = [f"  - run: hookproof check --target {target}", "    env:", *secrets]
    return [*lines, "", f"As a step of CI (GitHub Actions), with the {keys}:", *step]
