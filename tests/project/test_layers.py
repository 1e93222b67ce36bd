"""The layers of the design are held by import-linter, and it does see a violation."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.source_tree import copied_sources


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the packages and of the contracts."""
    return copied_sources(tmp_path)


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
        ("spec/catalogue.py", "import hookproof.receiver.inbox.delivery"),
        (
            "receiver/signatures/verification.py",
            "import hookproof.mockserver.delivery.attempt.signing",
        ),
        (
            "mockserver/delivery/attempt/signing.py",
            "import hookproof.receiver.signatures.verification",
        ),
        (
            "mockserver/delivery/http_client/tls.py",
            "import hookproof.mockserver.delivery.attempt.body",
        ),
        ("conformance/model/evidence.py", "import hookproof.mockserver.app"),
        ("mockserver/api/listener.py", "import hookproof.mockserver.faults.live"),
        ("mockserver/delivery/store_port.py", "import hookproof.mockserver.store.database"),
        ("load/ledger/balance.py", "import hookproof.conformance.model.evidence"),
        ("receiver/inbox/store.py", "import hookproof.receiver.session"),
        ("conformance/model/evidence.py", "import locust"),
        ("conformance/model/evidence.py", "import schemathesis"),
        ("hookproof/process/exit_codes.py", "import hookproof.spec.catalogue"),
        ("hookproof/target/target_file.py", "import hookproof.conformance.target.definition"),
        ("mockserver/app.py", "import hookproof.target.target_file"),
        ("load/target/settings.py", "import hookproof.load.run.outcome"),
        ("load/run/driver.py", "import locust"),
        ("load/sidecar/arrivals.py", "import gevent"),
        ("spec/dialect/model.py", "import hookproof.spec.catalogue"),
    ],
)
def test_a_planted_violation_is_caught(tree: Path, module: str, planted: str) -> None:
    path = tree / module
    path.write_text(f"{path.read_text()}\n{planted}\n")
    outcome = lint_imports(tree)
    assert outcome.returncode == 1, outcome.stdout
    assert "BROKEN" in outcome.stdout
