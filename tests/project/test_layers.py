"""import-linter checks the layers of the design, and reports a violation of each."""

import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.source_tree import ROOT, copied_sources

# What breaks each contract of pyproject.toml: a module, and the import that is added to it.
PLANTED: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    "spec and process lie below all, the receiver below the suites and the load profiles": (
        ("hookproof/spec/catalogue.py", "import hookproof.receiver.inbox.delivery"),
        ("hookproof/conformance/model/evidence.py", "import hookproof.mockserver.app"),
        ("hookproof/load/ledger/balance.py", "import hookproof.conformance.model.evidence"),
        ("hookproof/process/exit_codes.py", "import hookproof.spec.catalogue"),
        ("hookproof/control/same_origin.py", "import hookproof.process.exit_codes"),
        ("hookproof/target/target_file.py", "import hookproof.conformance.target.definition"),
        ("hookproof/testing/receiver.py", "import hookproof.conformance.model.evidence"),
        ("hookproof/conformance/cli/listing.py", "import hookproof.commands.dialect.command"),
    ),
    "the receiver and the mock server share vectors and no code": (
        (
            "hookproof/receiver/signatures/verification.py",
            "import hookproof.mockserver.delivery.attempt.signing",
        ),
        (
            "hookproof/mockserver/delivery/attempt/signing.py",
            "import hookproof.receiver.signatures.verification",
        ),
    ),
    "no imports in a circle, in any package": (
        ("hookproof/spec/dialect/answer.py", "import hookproof.spec.dialect.model"),
    ),
    "layers of conformance": (
        ("hookproof/conformance/model/evidence.py", "import hookproof.conformance.grading.grader"),
    ),
    "within a subject": (
        (
            "hookproof/conformance/subjects/lists/evidence.py",
            "import hookproof.conformance.subjects.lists.laws",
        ),
        (
            "hookproof/conformance/subjects/lists/laws.py",
            "import hookproof.conformance.subjects.lists.experiment",
        ),
    ),
    "subjects share evidence, and neither experiments nor laws": (
        (
            "hookproof/conformance/subjects/isolation/laws.py",
            "import hookproof.conformance.subjects.keys.laws",
        ),
    ),
    "layers of the mock server": (
        (
            "hookproof/mockserver/delivery/store_port.py",
            "import hookproof.mockserver.store.database",
        ),
    ),
    "layers of the mock server's deliveries": (
        (
            "hookproof/mockserver/delivery/http_client/tls.py",
            "import hookproof.mockserver.delivery.attempt.body",
        ),
    ),
    "clean code of the mock server knows nothing of faults": (
        ("hookproof/mockserver/api/listener.py", "import hookproof.mockserver.faults.live"),
    ),
    "only load imports locust": (("hookproof/conformance/model/evidence.py", "import locust"),),
    "what `pip install hookproof` is for runs without the extras": (
        ("hookproof/receiver/session.py", "import aiosmtpd"),
        ("hookproof/testing/receiver.py", "import pytest"),
    ),
    "only requests of the contract and the plugin import schemathesis": (
        ("hookproof/conformance/model/evidence.py", "import schemathesis"),
    ),
    "layers of the receiver": (
        ("hookproof/receiver/inbox/store.py", "import hookproof.receiver.session"),
    ),
    "the mock server knows nothing of the suites' and the load run's view of a target": (
        ("hookproof/mockserver/app.py", "import hookproof.target.target_file"),
    ),
    "layers of load": (("hookproof/load/target/settings.py", "import hookproof.load.run.outcome"),),
    "layers of spec": (("hookproof/spec/dialect/model.py", "import hookproof.spec.catalogue"),),
    "only the generating processes of load are patched by gevent": (
        ("hookproof/load/run/driver.py", "import locust"),
        ("hookproof/load/sidecar/arrivals.py", "import gevent"),
    ),
}


# The tests share a copy of the sources, and what import-linter has read of it.
pytestmark = pytest.mark.xdist_group("layers")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages and of the contracts of import-linter."""
    return copied_sources(tmp_path_factory.mktemp("layers"))


@contextmanager
def added(path: Path, statement: str) -> Iterator[None]:
    """The module ends with one more statement within the block."""
    source = path.read_text()
    path.write_text(f"{source}\n{statement}\n")
    try:
        yield
    finally:
        path.write_text(source)


def lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter, which reads again what has changed since its last run."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--cache-dir", ".cache"]
    return subprocess.run(
        command, cwd=tree, capture_output=True, text=True, timeout=120, check=False
    )


def test_the_layers_hold(tree: Path) -> None:
    outcome = lint_imports(tree)
    assert outcome.returncode == 0, outcome.stdout


@pytest.mark.parametrize(
    ("contract", "module", "statement"),
    [(contract, *violation) for contract, planted in PLANTED.items() for violation in planted],
)
def test_a_planted_violation_breaks_its_contract(
    tree: Path, contract: str, module: str, statement: str
) -> None:
    with added(tree / module, statement):
        outcome = lint_imports(tree)
    assert outcome.returncode == 1, outcome.stdout
    # Long names are wrapped, within words too.
    assert "".join(f"{contract} BROKEN".split()) in "".join(outcome.stdout.split())


def test_every_contract_has_a_planted_violation() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    assert PLANTED.keys() == {contract["name"] for contract in contracts}
