"""Former names of commands: each works as it did, says its new name, and is shown nowhere."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import click
import pytest
from click.testing import CliRunner, Result

from hookproof.cli import SUBCOMMANDS, cli
from hookproof.commands.former_names import FORMER_NAMES
from tests.conformance.canned_run import failed, finished_run, passed
from tests.load.reports.test_load_page import report

PROGRAM: Final = "hookproof"
# What a call with a former name prints: its arguments, exit code, and the beginning of its output.
# {before} and {after} are folders of runs, {load} is that of a load run, {dir} one to write into.
CALLS: Final = {
    "list": (("4.1", "--level", "stated"), 0, "4.1  "),
    "trend": (("{runs}",), 0, "check http://target.invalid: 2 runs\n"),
    "matrix": (("a={before}", "b={after}", "--format", "json"), 0, '{\n "tool"'),
    "load compare": (("{load}", "{load}"), 0, "                           smoke"),
    "pack": (("{before}", "-o", "{dir}/run.zip"), 0, "{dir}/run.zip: "),
    "unpack": (("{pack}", "-o", "{dir}/unpacked"), 0, "{dir}/unpacked: run.jsonl"),
    "dialect check": (("reference",), 0, "reference: the dialect reference can be used"),
    "target check": (("{target}",), 0, "{target}: the target file can be used\n"),
    "target": (("--help",), 0, "Usage: hookproof validate"),
}


def call(words: list[str]) -> Result:
    return CliRunner().invoke(cli, words, prog_name=PROGRAM)


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    runs = tmp_path / "runs"
    for name, entry in (("before", passed("4.1-1")), ("after", failed("4.1-1"))):
        (runs / name).mkdir(parents=True)
        finished_run(runs / name, entry)
    (tmp_path / "load").mkdir()
    (tmp_path / "load" / "report.json").write_text(json.dumps(report()))
    (tmp_path / "target.yaml").write_text("base_url: http://127.0.0.1:5005\n")
    pack = tmp_path / "packed.zip"
    assert (
        call(["report", str(runs / "before"), "--format", "pack", "-o", str(pack)]).exit_code == 0
    )
    return {
        "runs": str(runs),
        "before": str(runs / "before"),
        "after": str(runs / "after"),
        "load": str(tmp_path / "load"),
        "target": str(tmp_path / "target.yaml"),
        "pack": str(pack),
        "dir": str(tmp_path),
    }


def filled(text: str, places: dict[str, str]) -> str:
    for name, place in places.items():
        text = text.replace(f"{{{name}}}", place)
    return text


def test_a_call_of_every_former_name_is_tried() -> None:
    assert {" ".join(name) for name in FORMER_NAMES} == CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
def test_it_still_works_and_says_its_new_name(name: str, places: dict[str, str]) -> None:
    words, code, beginning = CALLS[name]
    arguments = [filled(word, places) for word in words]
    outcome = call([*name.split(), *arguments])
    new = FORMER_NAMES[tuple(name.split())]
    assert (outcome.exit_code, outcome.stdout.startswith(filled(beginning, places))) == (
        code,
        True,
    ), outcome.output
    note = f"hookproof: `hookproof {name}` is now `hookproof {' '.join(new)}`"
    assert outcome.stderr.startswith(note)
    assert outcome.stderr.count("\n") == 1


@pytest.mark.parametrize("name", CALLS)
def test_it_ends_wrong_calls_as_a_command_does(name: str) -> None:
    outcome = subprocess.run(
        [sys.executable, "-m", PROGRAM, *name.split(), "--no-such-option"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (outcome.returncode, outcome.stdout) == (64, "")
    assert "No such option" in outcome.stderr


def test_none_is_shown() -> None:
    shown = call(["--help"]).stdout
    tops = {name[0] for name in FORMER_NAMES} - SUBCOMMANDS.keys()
    assert tops == {"list", "trend", "matrix", "pack", "unpack", "target"}
    rows, _, others = shown.partition("Also:")
    named = [*re.findall(r"^  ([\w, -]+?)  ", rows, re.MULTILINE), others.partition(".")[0]]
    assert "check" in named
    assert not tops & {name.strip() for row in named for name in row.split(",")}
    assert not tops & set(cli.list_commands(click.Context(cli)))
    dialect = cli.get_command(click.Context(cli), "dialect")
    assert isinstance(dialect, click.Group)
    assert "check" not in dialect.commands


def test_every_new_form_is_a_command_with_these_options() -> None:
    for new in FORMER_NAMES.values():
        command = cli.get_command(click.Context(cli), new[0])
        assert command is not None
        options = {each for parameter in command.params for each in parameter.opts}
        assert {word for word in new if word.startswith("-")} <= options
