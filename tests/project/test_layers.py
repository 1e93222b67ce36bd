"""import-linter checks the layers of the design, and reports a violation of each."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
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


VIOLATIONS: Final = [
    (contract, *violation) for contract, planted in PLANTED.items() for violation in planted
]

# The tests share what import-linter says of a copy of the sources that has all violations.
pytestmark = pytest.mark.xdist_group("layers")


def lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter, whose output has room for its longest line."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    return subprocess.run(
        command,
        cwd=tree,
        env={**os.environ, "COLUMNS": "1000"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """What is said of each contract that is broken where all violations are planted."""
    tree = copied_sources(tmp_path_factory.mktemp("layers"))
    for _, module, statement in VIOLATIONS:
        with (tree / module).open("a") as source:
            source.write(f"\n{statement}\n")
    outcome = lint_imports(tree)
    assert outcome.returncode == 1, outcome.stdout
    parts = re.split(r"^(.+)\n-+\n", outcome.stdout, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_layers_hold() -> None:
    outcome = lint_imports(ROOT)
    assert outcome.returncode == 0, outcome.stdout


@pytest.mark.parametrize(("contract", "module", "statement"), VIOLATIONS)
def test_a_planted_violation_breaks_its_contract(
    broken: Mapping[str, str], contract: str, module: str, statement: str
) -> None:
    importer = module.removesuffix(".py").replace("/", ".")
    imported = statement.removeprefix("import ")
    package = importer.rpartition(".")[0]
    # Modules of a circle are named by what they are called within their package.
    beside = f"- {importer.removeprefix(package)} -> {imported.removeprefix(package)} ("
    said = broken[contract]
    assert f"{importer} -> {imported} (" in said or beside in said, said


def test_every_contract_has_a_planted_violation() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    assert PLANTED.keys() == {contract["name"] for contract in contracts}
