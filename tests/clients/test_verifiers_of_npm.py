"""Packages of npm that verify Standard Webhooks get wrong what the notes on the vectors say."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.clients.tools import ADVICE, PACKAGES
from tests.receiver.receiver_process import COMMAND
from tests.receiver.vectors.test_grading import EXAMPLE, noted
from tests.source_tree import ROOT


@pytest.mark.parametrize("package", ["standardwebhooks", "svix"])
def test_a_package_for_javascript_is_wrong_where_the_notes_say_so(
    package: str, tmp_path: Path
) -> None:
    if not (PACKAGES / package).exists():
        pytest.skip(f"{package} for JavaScript is not installed: {ADVICE}")
    program = tmp_path / "verify_standard_webhooks.mjs"
    shutil.copy(EXAMPLE.parent / program.name, program)
    (tmp_path / "node_modules").symlink_to(PACKAGES)
    outcome = subprocess.run(
        [
            *(*COMMAND, "vectors", "--dialect", "standard-webhooks", "--json"),
            *("--against", f"node {program} {package}"),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    wrong = json.loads(outcome.stdout)["wrong"]
    assert {each["name"].rpartition(": ")[2] for each in wrong} == noted("JavaScript")
    version = json.loads((PACKAGES / package / "package.json").read_text())["version"]
    page = (ROOT / "docs" / "verifiers.md").read_text()
    assert f"| `{package}` {version} for JavaScript |" in page
