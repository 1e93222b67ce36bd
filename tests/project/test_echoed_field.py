"""A new field of createEndpoint that is shown as it was sent, in a copy of the sources.

It takes two files, the contract and the requirements: experiments try the field, a check judges it,
the reference server stores it, and faults change it.
"""

import re
from pathlib import Path
from typing import Final

import pytest

from tests.project.test_worked_example import check_requirements, hookproof
from tests.source_tree import copied_sources

pytestmark = pytest.mark.xdist_group("echoed_field")

REQUIREMENT: Final = "4.1-99"
CHECK: Final = "a_created_endpoint_shows_what_was_sent"
FAULT: Final = "text_lowered@createEndpoint.taken.team"

IN_ANSWERS: Final = """        team:
          type: [string, "null"]
          description: Who looks after it.
          x-role: given
"""
IN_REQUESTS: Final = f"""        team:
          type: string
          description: Who looks after the endpoint.
          x-shown-as-sent: "{REQUIREMENT}"
"""
SENTENCE: Final = f"""    - id: "{REQUIREMENT}"
      level: stated
      operations: [createEndpoint]
      text: The team of a created endpoint is the one sent.
      about: {{law: echoed, fields: [team]}}
      common_mistakes: ["4.1-4"]
"""


def insert(path: Path, pattern: str, text: str) -> None:
    """Put a text behind the one place that a pattern matches up to."""
    edited, count = re.subn(f"({pattern})", lambda match: match[1] + text, path.read_text())
    assert count == 1, pattern
    path.write_text(edited)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = copied_sources(tmp_path_factory.mktemp("echoed") / "edited")
    spec = copy / "hookproof" / "spec"
    insert(spec / "openapi.yaml", r"\n    Endpoint:\n.*\n.*\n      properties:\n", IN_ANSWERS)
    insert(
        spec / "openapi.yaml", r"\n    CreateEndpoint:\n.*\n.*\n      properties:\n", IN_REQUESTS
    )
    insert(spec / "requirements.yaml", r"\n(?=    - id: \"4\.1-5\"\n)", SENTENCE)
    return copy


def test_the_reference_server_shows_it_as_it_was_sent(tree: Path, tmp_path: Path) -> None:
    judged = check_requirements(tree, tmp_path, REQUIREMENT)[REQUIREMENT]
    assert judged["verdict"] == "pass"
    assert judged["exercised"] > 0
    assert judged["checks"] == [CHECK]


def test_a_server_that_changes_it_is_detected(tree: Path, tmp_path: Path) -> None:
    arguments = ("--fault", FAULT, "--dialect", "reference", "--profile", "quick")
    hookproof(tree, tmp_path, "mutants", *arguments, "--out", str(tmp_path / "mutants"))
    assert REQUIREMENT in (tmp_path / "mutants" / "mutants.json").read_text()
