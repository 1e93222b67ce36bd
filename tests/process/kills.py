"""Stops commands at random moments, and looks for what that leaves behind.

Run it as `python -m tests.process.kills [KILLS] [--seed N]`. Each kill starts check, load, learn,
mutants, serve or receive, sends it SIGTERM, SIGHUP, SIGINT or SIGKILL at a random moment, and then
expects that

- none of its processes is left (they are recognised by a variable in their environment);
- no temporary folder is left: after SIGKILL, once the next run has ended;
- a signal before the end is not lost: the command ends within a grace time, or with 3, 130 or the
  signal itself;
- every file can be read: run.jsonl by `hookproof report --partial`;
- the exit code says what the files hold: that of the verdict where there is one, 130 where nothing
  was gathered, the signal itself before the command could handle it.

A line for each kill goes to standard error. The exit code is 1 if anything is wrong.
"""

import argparse
import json
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml
from click.testing import CliRunner

from hookproof.conformance.cli.report import report
from hookproof.process.exit_codes import ExitCode
from tests.conformance.command import with_signals
from tests.conformance.reference_server import reference_server, write_target_file
from tests.source_tree import ROOT

DEFAULT_KILLS: Final = 100
SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL)
# The variable by which the processes of one kill are recognised.
MARK: Final = "HOOKPROOF_KILLS_MARK"
# Far more than is needed, so that only a hang is caught.
ENDS_WITHIN_S: Final = 240.0
CHILDREN_END_WITHIN_S: Final = 60.0
# What a command may take to end whose work was done when the signal came.
GRACE_S: Final = 5.0
PROJECT: Final = "p1"
# In characters: what is shown of a log, which is gone with its folder.
MOST_SHOWN: Final = 4000
# What Python says where an interrupt comes before it runs anything of ours; it ends with 1 then.
NOT_YET_OURS: Final = "init_import_site"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """How a command ended that was sent a signal; `out` is the folder of its files.

    It ended `after_s` seconds after the signal, None if it had ended before.
    """

    number: signal.Signals
    code: int
    out: Path
    after_s: float | None

    @property
    def was_too_early(self) -> bool:
        """Whether it ended by the signal itself, before it could handle it, or was interrupted."""
        # Python ends itself by SIGINT where an interrupt came amid the making of a data class;
        # for a shell that is 130, too.
        return self.code in (-self.number, -signal.SIGINT, ExitCode.INTERRUPTED)

    @property
    def has_lost_the_signal(self) -> bool:
        if self.after_s is None or self.after_s < GRACE_S:
            return False
        return not self.was_too_early and self.code != ExitCode.INCOMPLETE


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command to stop, with the latest moment for that; `wrong` judges what it leaves.

    `shorter` are the arguments of the next run, which only has to end. A server writes no files.
    """

    name: str
    arguments: Sequence[str]
    shorter: Sequence[str]
    latest_s: float
    wrong: Callable[[Stopped], Iterator[str]]
    is_server: bool = False

    def writing(self, arguments: Sequence[str], out: Path) -> Sequence[str]:
        """These arguments with the folder for files."""
        return arguments if self.is_server else (*arguments, "--out", str(out))


def wrong_run(stopped: Stopped) -> Iterator[str]:
    """What is wrong with the files of `check`, and with the exit code that goes with them."""
    file = stopped.out / "run.jsonl"
    lines = file.read_text().splitlines(keepends=True) if file.exists() else []
    if not lines or not lines[0].endswith("\n"):
        if not stopped.was_too_early:
            yield f"exit code {stopped.code} although nothing was gathered"
        return
    shown = CliRunner().invoke(report, [str(stopped.out), "--partial", "--format", "json"])
    if shown.exit_code != ExitCode.OK:
        yield f"run.jsonl cannot be read: {shown.output}"
        return
    said = json.loads(shown.output)
    if not lines[-1].startswith('{"event":"footer"'):
        if stopped.number is not signal.SIGKILL:
            yield f"run.jsonl is cut off, exit code {stopped.code}"
        said["exit_code"] = -signal.SIGKILL
    elif not all((stopped.out / name).exists() for name in ("report.json", "junit.xml")):
        if stopped.number is not signal.SIGKILL:
            yield "a report is missing"
        said["exit_code"] = -signal.SIGKILL
    if stopped.code not in (said["exit_code"], *killed(stopped)):
        yield f"exit code {stopped.code} in place of {said['exit_code']}"
    if said["exit_code"] not in (-signal.SIGKILL, ExitCode.CONFORMS, ExitCode.INCOMPLETE):
        yield f"the verdict is {said['verdict']}"


def wrong_load(stopped: Stopped) -> Iterator[str]:
    file = stopped.out / "report.json"
    if not file.exists():
        if not stopped.was_too_early:
            yield f"exit code {stopped.code} without a report"
        return
    said = json.loads(file.read_text())
    if stopped.code not in (said["exit_code"], *killed(stopped)):
        yield f"exit code {stopped.code} in place of {said['exit_code']}"
    if said["verdict"] not in ("pass", "incomplete"):
        yield f"the verdict is {said['verdict']}: {said['complaints']}"


def wrong_learning(stopped: Stopped) -> Iterator[str]:
    file = stopped.out / "dialect.yaml"
    if not file.exists():
        if not stopped.was_too_early:
            yield f"exit code {stopped.code} without a dialect"
        return
    if yaml.safe_load(file.read_text())["name"] != "learned":
        yield "dialect.yaml is none that was learned"
    if stopped.code not in (ExitCode.OK, ExitCode.INCOMPLETE, *killed(stopped)):
        yield f"exit code {stopped.code} with a dialect"


def wrong_campaign(stopped: Stopped) -> Iterator[str]:
    """What is wrong with the files of `mutants`, and with the exit code."""
    file = stopped.out / "mutants.json"
    if not file.exists():
        if not stopped.was_too_early and stopped.code not in killed(stopped):
            yield f"exit code {stopped.code} without a report"
        return
    json.loads(file.read_text())
    if stopped.code not in (ExitCode.CONFORMS, ExitCode.INCOMPLETE, *killed(stopped)):
        yield f"exit code {stopped.code} with a report"


def wrong_server(stopped: Stopped) -> Iterator[str]:
    """A server ends with 0 however it is told to."""
    if not stopped.was_too_early and stopped.code not in (ExitCode.OK, *killed(stopped)):
        yield f"exit code {stopped.code}"


def killed(stopped: Stopped) -> tuple[int, ...]:
    """The exit code of a process that could not end by itself."""
    return (-signal.SIGKILL,) if stopped.number is signal.SIGKILL else ()


def own_code(code: int, log: Path) -> int:
    """The exit code, that of the signal where Python itself was interrupted while it started."""
    return -signal.SIGINT if code == 1 and NOT_YET_OURS in log.read_text() else code


@dataclass(slots=True, kw_only=True)
class Kills:
    """Stops commands one after the other, in a folder with temporary files of its own."""

    folder: Path
    random: random.Random
    commands: Sequence[Command]
    codes: Counter[str] = field(default_factory=Counter)

    def one(self, command: Command, number: signal.Signals) -> list[str]:
        """Stop a command once; what was wrong."""
        moment_s = self.random.uniform(0, command.latest_s)
        name = secrets.token_hex(4)
        out, temporary = self.folder / f"out-{name}", self.folder / f"tmp-{name}"
        temporary.mkdir()
        process = self._start(command.writing(command.arguments, out), temporary)
        try:
            process.wait(moment_s)  # the moment is what is random here
            sent_at = None
        except subprocess.TimeoutExpired:
            process.send_signal(number)
            sent_at = time.monotonic()
        code = own_code(process.wait(ENDS_WITHIN_S), log_of(temporary))
        after_s = None if sent_at is None else time.monotonic() - sent_at
        problems = list(self._left_processes(temporary))
        stopped = Stopped(number=number, code=code, out=out, after_s=after_s)
        problems += command.wrong(stopped)
        if stopped.has_lost_the_signal and not command.is_server:
            problems.append(f"the signal was lost: it ended {after_s:.1f} s later with {code}")
        log = log_of(temporary).read_text()
        if (code >= 0 and "Traceback" in log) or code == ExitCode.INTERNAL_ERROR:
            problems.append(f"there is an error of ours: {log[-MOST_SHOWN:]}")
        if number is signal.SIGKILL:
            problems += self._next_run(command, out, temporary)
        problems += [f"{path} is left" for path in left_files(out, temporary)]
        self.codes[f"{number.name} {code}"] += 1
        what = "; ".join(problems) or "as it should be"
        say(f"{command.name} {number.name} after {moment_s:.2f} s: exit code {code}: {what}")
        return [f"{command.name} {number.name}: {problem}" for problem in problems]

    def _start(self, arguments: Sequence[str], temporary: Path) -> subprocess.Popen[bytes]:
        with log_of(temporary).open("ab") as errors:
            return subprocess.Popen(
                with_signals([sys.executable, "-P", "-m", "hookproof", *arguments]),
                cwd=self.folder,
                env={**os.environ, "TMPDIR": str(temporary), MARK: str(temporary)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )

    def _next_run(self, command: Command, out: Path, temporary: Path) -> Iterator[str]:
        code = self._start(command.writing(command.shorter, out), temporary).wait(ENDS_WITHIN_S)
        if code not in (ExitCode.OK, ExitCode.INCOMPLETE):
            yield f"the next run ended with {code}"
        yield from self._left_processes(temporary)

    def _left_processes(self, temporary: Path) -> Iterator[str]:
        """The processes of a kill that have not ended in time, or at all."""
        deadline = time.monotonic() + CHILDREN_END_WITHIN_S
        while (left := marked_processes(str(temporary))) and time.monotonic() < deadline:
            time.sleep(0.05)  # the end of a grandchild is announced by no event
        yield from (f"a process is left: {words}" for words in left)


def log_of(temporary: Path) -> Path:
    """The file with the errors that the processes of a kill have shown."""
    return temporary.with_name(f"{temporary.name}.log")


def marked_processes(mark: str) -> list[str]:
    """The command lines of the processes whose environment has this mark."""
    wanted, found = f"{MARK}={mark}".encode(), []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in environment.read_bytes().split(b"\0"):
                words = (environment.parent / "cmdline").read_bytes().split(b"\0")
                found.append(b" ".join(words).decode(errors="replace"))
        except OSError:  # it has ended, or belongs to another user
            continue
    return found


def left_files(out: Path, temporary: Path) -> list[Path]:
    """Temporary files and folders, and files that were not written to their end."""
    return [*temporary.iterdir(), *out.glob(".working"), *out.glob("*.new"), *out.glob("*.part")]


def commands_for(folder: Path, url: str) -> tuple[Command, ...]:
    """The commands to stop; `learn` asks the server at this URL."""
    target = str(write_target_file(folder, url, PROJECT))
    learn = ("learn", "--target", target, "--profile", "quick")
    check = ("check", "--profile", "quick")
    mutants = ("mutants", "--fault", "nothing_before_the_first", "--dialect", "reference")
    serve, receive = ("serve", "--port", "0"), ("receive", "--bind", "127.0.0.1:0")
    load = ("load", "smoke", "--drain", "1", "--keep-up", "600")
    return (
        Command(
            name="check",
            arguments=check,
            shorter=(*check, "--only", "4.2-1"),
            latest_s=14.0,
            wrong=wrong_run,
        ),
        Command(
            name="load",
            arguments=(*load, "--duration", "4"),
            shorter=(*load, "--duration", "1"),
            latest_s=9.0,
            wrong=wrong_load,
        ),
        Command(name="learn", arguments=learn, shorter=learn, latest_s=7.0, wrong=wrong_learning),
        Command(
            name="mutants",
            arguments=mutants,
            shorter=mutants,
            latest_s=9.0,
            wrong=wrong_campaign,
        ),
        *(
            Command(
                name=server[0],
                arguments=server,
                shorter=(*server, "--until-stdin-closes"),
                latest_s=4.0,
                wrong=wrong_server,
                is_server=True,
            )
            for server in (serve, receive)
        ),
    )


def run_kills(
    folder: Path, count: int, seed: int, order: Sequence[signal.Signals] = ()
) -> tuple[list[str], Counter[str]]:
    """Stop commands so often, by signals in this order or random ones.

    What was wrong, and how often a signal led to an exit code.
    """
    chosen = random.Random(seed)
    problems: list[str] = []
    with reference_server(folder, ROOT, PROJECT, stderr=subprocess.DEVNULL) as ready:
        commands = commands_for(folder, ready["api"])
        kills = Kills(folder=folder, random=chosen, commands=commands)
        for index in range(count):
            number = order[index] if order else chosen.choice(SIGNALS)
            problems += kills.one(commands[index % len(commands)], number)
    return problems, kills.codes


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def main() -> int:
    options = argparse.ArgumentParser(description="Stop commands at random moments.")
    options.add_argument("kills", type=int, nargs="?", default=DEFAULT_KILLS)
    options.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    given = options.parse_args()
    say(f"seed {given.seed}")
    with tempfile.TemporaryDirectory(prefix="hookproof-kills-") as folder:
        problems, codes = run_kills(Path(folder), given.kills, given.seed)
    for kind, count in sorted(codes.items()):
        say(f"{count:4} {kind}")
    for problem in problems:
        say(problem)
    say(f"{given.kills} kills with seed {given.seed}: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
