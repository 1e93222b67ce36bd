"""Projects and their keys on the command line of `check` and `doctor`."""

import json
from typing import Any

import click
import pytest
from click.testing import CliRunner

from hookproof.conformance.target.command_options import flags_of, target_options
from hookproof.process.exit_codes import CommandError
from hookproof.target.settings import Flags, api_keys_of
from hookproof.target.target_file import NO_FILE

URL = "http://127.0.0.1:9"
TWO = ["--project", "p1", "--project", "p2"]


@click.command()
@target_options
def show_keys(**options: Any) -> None:
    click.echo(json.dumps(api_keys_of(flags_of(options), NO_FILE)))


def keys_for(*words: str, **environment: str) -> dict[str, str]:
    result = CliRunner().invoke(show_keys, [URL, *words], env=environment)
    assert result.exit_code == 0, result.output
    keys: dict[str, str] = json.loads(result.output)
    return keys


def refusal_of(*words: str) -> str:
    result = CliRunner().invoke(show_keys, [URL, *words])
    assert result.exit_code == 2
    return result.output


def test_each_project_has_the_key_at_its_place() -> None:
    keys = keys_for(*TWO, "--api-key", "first", "--api-key", "second")
    assert list(keys.items()) == [("p1", "first"), ("p2", "second")]


def test_one_key_may_open_all_projects() -> None:
    assert keys_for(*TWO, "--api-key", "both") == {"p1": "both", "p2": "both"}
    assert keys_for(*TWO, HOOKPROOF_API_KEY="both") == {"p1": "both", "p2": "both"}


def test_an_environment_variable_holds_one_text_with_its_spaces() -> None:
    keys = keys_for(HOOKPROOF_API_KEY="a key", HOOKPROOF_PROJECT="one project")
    assert keys == {"one project": "a key"}


def test_keys_that_fit_no_project_are_refused() -> None:
    keys = ["--api-key", "a", "--api-key", "b"]
    assert "2 times --api-key, and 1 times --project" in refusal_of("--project", "p1", *keys)
    assert "2 times --api-key, and 0 times --project" in refusal_of(*keys)
    assert "names one project twice" in refusal_of("--project", "p", "--project", "p", *keys)
    assert "give --api-key for the projects" in refusal_of(*TWO)


def test_a_key_that_no_header_can_hold_is_refused_for_each_project() -> None:
    flags = Flags(url=URL, project="p1", api_key="k", further_projects=(("p2", "clé"),))
    with pytest.raises(CommandError, match="the project 'p2' cannot stand in a header"):
        api_keys_of(flags, NO_FILE)
