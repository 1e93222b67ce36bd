"""The layers of the design are held by import-linter, and it does see a violation."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGES: Final = ("spec", "mockserver", "receiver", "conformance", "load")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the packages and of the contracts."""
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    return subprocess.run(
        command, cwd=tree, capture_output=True, text=True, timeout=120, check=False
    )


def test_the_layers_hold(tree: Path) -> None:
    outcome = lint_imports(tree)
    assert outcome.returncode == 0, outcome.stdout


@pytest.mark.parametrize(
    ("module", "planted"),
    [
        ("spec/catalogue.py", "import receiver.delivery"),
        ("receiver/verification.py", "import mockserver.delivery.signing"),
        ("mockserver/delivery/signing.py", "import receiver.verification"),
        ("conformance/evidence.py", "import mockserver.app"),
        ("load/balance.py", "import conformance.evidence"),
        ("conformance/evidence.py", "import locust"),
        ("conformance/evidence.py", "import schemathesis"),
    ],
)
def test_a_planted_violation_is_caught(tree: Path, module: str, planted: str) -> None:
    path = tree / module
    path.write_text(f"{path.read_text()}\n{planted}\n")
    outcome = lint_imports(tree)
    assert outcome.returncode == 1, outcome.stdout
    assert "BROKEN" in outcome.stdout
