"""`from hookproof import ...`: light until a name is used, and typed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hookproof
from tests.source_tree import ROOT

# What a user's test looks like to a type checker; mypy prints the type of each expression.
TYPED = """\
from hookproof import {names}


def test_mine(webhook_receiver: Receiver) -> None:
    webhook_receiver.reply_with(503, Reply(status=200))
    reveal_type(webhook_receiver.wait_for(2)[0])
"""


def test_importing_the_package_imports_nothing_else_of_it() -> None:
    code = (
        "import sys, hookproof\n"
        "print(*(name for name in sys.modules if name.startswith(('hookproof.', 'aiohttp'))))"
    )
    command = [sys.executable, "-c", code]
    imported = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert imported.split() == []


@pytest.mark.parametrize("name", hookproof.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(hookproof, name).__name__ == name


def test_another_name_is_refused_as_usual() -> None:
    with pytest.raises(ImportError, match="cannot import name 'Mailer' from 'hookproof'"):
        exec("from hookproof import Mailer")  # noqa: S102 - as a user writes it


@pytest.mark.parametrize(
    ("names", "code", "words"),
    [
        ("Receiver, Reply", 0, 'type is "hookproof.testing.delivery.WebhookDelivery"'),
        ("Receiver, Reply, Mailer", 1, 'Module "hookproof" has no attribute "Mailer"'),
    ],
)
def test_type_checkers_know_the_names(tmp_path: Path, names: str, code: int, words: str) -> None:
    (tmp_path / "test_mine.py").write_text(TYPED.format(names=names))
    outcome = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "test_mine.py"],
        cwd=tmp_path,
        # An editable installation is found by Python alone.
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert outcome.returncode == code, outcome.stdout + outcome.stderr
    assert words in outcome.stdout
