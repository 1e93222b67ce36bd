"""The command line as a whole: help loads no subcommand, a wrong call ends in one line."""

import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from hookproof.cli import GROUPS, SUBCOMMANDS, cli


def hookproof(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hookproof", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_help_names_every_subcommand() -> None:
    text = CliRunner().invoke(cli, ["--help"]).output
    assert all(name in text for name in SUBCOMMANDS)


def test_help_is_four_groups_of_lines_that_fit_into_80_columns() -> None:
    text = CliRunner().invoke(cli, ["--help"]).output
    groups = text.partition("Test a server:")[2].partition("\nAlso: ")[0].split(":\n")
    assert len(groups) == len(GROUPS) == 4
    rows = [line for line in text.splitlines() if re.match(r"  [a-z][a-z, -]+  \S", line)]
    assert len(rows) == sum(map(len, GROUPS.values())) == 16
    assert all(line.endswith(".") and len(line) <= 80 for line in rows)


@pytest.mark.parametrize("name", sorted(SUBCOMMANDS))
def test_every_subcommand_has_help(name: str) -> None:
    outcome = CliRunner().invoke(cli, [name, "--help"])
    assert outcome.exit_code == 0
    assert "Usage:" in outcome.output


@pytest.mark.parametrize("stdin", ["< /dev/null", "<&-"], ids=["at its end", "closed"])
@pytest.mark.parametrize("command", ["serve --port 0", "receive --bind 127.0.0.1:0"])
def test_a_server_whose_standard_input_is_not_open_ends_at_once(command: str, stdin: str) -> None:
    line = f'exec "$0" -m hookproof {command} --until-stdin-closes {stdin}'
    outcome = subprocess.run(
        ["sh", "-c", line, sys.executable], capture_output=True, text=True, timeout=60, check=False
    )
    assert (outcome.returncode, outcome.stderr) == (0, "")


@pytest.mark.parametrize("arguments", [(), ("dialect",)], ids=["hookproof", "hookproof dialect"])
def test_a_group_alone_prints_its_help(arguments: tuple[str, ...]) -> None:
    alone, asked = hookproof(*arguments), hookproof(*arguments, "--help")
    assert (alone.returncode, alone.stderr) == (0, "")
    assert alone.stdout == asked.stdout
    assert "Usage: hookproof" in alone.stdout


@pytest.mark.parametrize(
    ("arguments", "question"),
    [
        (("chekc",), "Did you mean 'check'?"),
        (("dialect", "shwo"), "Did you mean 'show'?"),
        (("serve", "--dilaect", "reference"), "Did you mean '--dialect'?"),
        (("check", "--profile", "quik"), "Did you mean 'quick'?"),
        (("schema", "dialet"), "Did you mean 'dialect'?"),
        (("explain", "--level", "opne"), "Did you mean 'open'?"),
        (("check", "--only", "4.33-1"), "did you mean 4.3-1?"),
        (("explain", "4.33-1"), "did you mean 4.3-1?"),
        (("load", "smok"), "did you mean smoke?"),
        (("serve", "--fault", "lat"), "did you mean late?"),
        (("dialect", "show", "refrence"), "did you mean reference?"),
    ],
)
def test_a_misspelt_word_is_answered_with_the_one_that_was_meant(
    arguments: tuple[str, ...], question: str
) -> None:
    outcome = hookproof(*arguments)
    assert (outcome.returncode, outcome.stdout) == (64, "")
    assert question in outcome.stderr
    assert outcome.stderr.count("\n") == 1


def test_a_word_like_no_choice_is_answered_with_the_choices_alone() -> None:
    outcome = hookproof("check", "--profile", "zzz")
    assert "'quick', 'standard', 'deep'" in outcome.stderr
    assert "mean" not in outcome.stderr


def test_help_loads_no_subcommand() -> None:
    code = (
        "import sys, hookproof.cli\n"
        "try: hookproof.cli.main()\n"
        "except SystemExit: print(sorted(sys.modules))"
    )
    command = [sys.executable, "-c", code, "--help"]
    modules = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert "'click'" in modules
    assert not any(
        f"'{name}'" in modules
        for name in ("locust", "schemathesis", "aiohttp", "jinja2", "hookproof.conformance")
    )


def test_no_subcommand_loads_locust_into_its_own_process() -> None:
    code = (
        "import sys\n"
        "import hookproof.conformance.cli.check, hookproof.load.cli.load\n"
        "import hookproof.mockserver.cli, hookproof.receiver.cli.receive\n"
        "sys.exit('locust' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


@pytest.mark.parametrize("missing", ["locust", "hdrh"])
def test_load_without_its_extra_names_the_extra_in_one_line(missing: str) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from hookproof.cli import main\nsys.argv = ['hookproof', 'load', 'smoke']\nmain()"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert outcome.returncode == 64, outcome.stderr
    assert outcome.stderr.startswith("hookproof: `hookproof load` needs packages that are not ")
    assert outcome.stderr.endswith("[load]'\n")
    assert outcome.stderr.count("\n") == 1


def test_no_other_subcommand_needs_the_extra_of_load() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('locust', 'gevent', 'hdrh', 'zmq')))\n"
        "from hookproof.cli import SUBCOMMANDS, LazyGroup\n"
        "for name in SUBCOMMANDS.keys() - {'load'}: LazyGroup().get_command(None, name)"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert outcome.returncode == 0, outcome.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("no-such-command",),
        ("check", "--no-such-option"),
        ("check", "--dialect", "no-such-dialect"),
        ("serve", "--dialect", "no-such-dialect"),
        ("serve", "--port", "seventy"),
        ("receive", "--bind", "nowhere"),
        ("load", "no-such-profile"),
    ],
)
def test_a_wrong_call_is_reported_in_one_line_with_exit_64(arguments: tuple[str, ...]) -> None:
    outcome = hookproof(*arguments)
    assert outcome.returncode == 64, outcome.stderr
    assert len(outcome.stderr.strip().splitlines()) == 1
    assert "Traceback" not in outcome.stderr
