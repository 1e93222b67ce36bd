"""What commands write for programs: one JSON document, whatever else they would have said."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import pytest
from click.testing import CliRunner

from hookproof.cli import SUBCOMMANDS, cli
from tests.conformance.command import check, run_command
from tests.conformance.every_line import write_run
from tests.conformance.reference_server import (
    reference_server,
    write_target_file,
)
from tests.source_tree import ROOT

# Those that write files, pages or scripts, start what runs on, or are for developers of hookproof.
# `sign` prints headers, and `scheme show` a file.
WITHOUT: Final = frozenset(
    {"ca", "completion", "init", "mcp", "mutants", "schema", "sign"}
    | {"dialect", "scheme", "scheme show"}
)
LOADED: Final = {name: cli.get_command(click.Context(cli), name) for name in SUBCOMMANDS}


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        for inner, each in command.commands.items():
            yield from commands(each, f"{name} {inner}")


def test_every_command_that_tells_something_has_json() -> None:
    without = {
        name
        for top, each in LOADED.items()
        if each is not None
        for name, command in commands(each, top)
        if not any("--json" in parameter.opts for parameter in command.params)
    }
    assert without == WITHOUT


@pytest.mark.parametrize(
    ("words", "member"),
    [
        (("report", "RUN", "--json"), "requirements"),
        (("regrade", "RUN", "--json"), "same"),
        (("compare", "RUN", "RUN", "--json"), "verdicts"),
        (("compare", "RUN", "--over-time", "--json"), "check"),
        (("compare", "RUN", "--page", "--json"), "requirements"),
    ],
)
def test_what_reads_a_run_writes_an_object(
    words: tuple[str, ...], member: str, tmp_path: Path
) -> None:
    place = str(write_run(tmp_path))
    outcome = CliRunner().invoke(cli, [place if word == "RUN" else word for word in words])
    assert member in json.loads(outcome.stdout)
    assert outcome.stderr == ""


def test_check_writes_what_report_json_holds(tmp_path: Path) -> None:
    done = check(tmp_path, "--only", "2.2-9", "--profile", "quick", "--json")
    assert json.loads(done.out) == json.loads(
        (tmp_path / "hookproof-report/report.json").read_text()
    )
    assert done.code == json.loads(done.out)["exit_code"] == 0


def test_doctor_and_learn_write_what_they_would_have_said(tmp_path: Path) -> None:
    with reference_server(tmp_path, ROOT, "p1") as ready:
        target = str(write_target_file(tmp_path, ready["api"], "p1"))
        doctor = run_command(tmp_path, "doctor", "--target", target, "--json")
        words = (ready["api"], "--project", "p1", "--api-key", "key-p1", "--profile", "quick")
        learn = run_command(tmp_path, "learn", *words, "--json")
    results = json.loads(doctor.out)
    assert {each["result"] for each in results} == {"ok", "note"}
    assert doctor.code == 0
    learned = json.loads(learn.out)
    answers = {each["field"]: each["certainty"] for each in learned["answers"]}
    assert answers["authentication.key_format"].startswith("seen")
    assert (learned["complete"], learned["incomplete"], learn.code) == (True, "", 0)
    assert learned["next"].startswith("hookproof check --target ")
    assert (tmp_path / learned["files"][0]).exists()
