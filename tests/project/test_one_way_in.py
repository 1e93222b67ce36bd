"""Every file that a command is given is opened by `hookproof.spec.given_file`, and not otherwise.

What a module opens besides comes with the project, or was written by the process itself.
"""

import ast
from collections.abc import Iterator
from typing import Final

import pytest

from tests.project.test_one_way_out import product_files
from tests.source_tree import ROOT

READING: Final = frozenset({"read_text", "read_bytes"})
# Files of the project itself, and files and streams that a process made for itself.
OWN_FILES: Final = {
    "hookproof/spec/given_file.py": "the way in",
    "hookproof/conformance/generation/generators.py": "what an earlier run has generated",
    "hookproof/conformance/learning/candidates.py": "a table of the project",
    "hookproof/conformance/mutants/hiding/measurement.py": "a record of the project",
    "hookproof/conformance/mutants/kill_matrix.py": "a record of the project",
    "hookproof/conformance/mutants/schemathesis_baseline.py": "a record of the project",
    "hookproof/conformance/results/defects.py": "a record of the project",
    "hookproof/conformance/results/packed/reading.py": "a member of an archive; writes",
    "hookproof/conformance/results/packed/writing.py": "a member of an archive that is written",
    "hookproof/conformance/results/run_file.py": "what the run itself has written",
    "hookproof/conformance/run/composition_root.py": "writes",
    "hookproof/conformance/run/regrading.py": "writes",
    "hookproof/conformance/target/capabilities.py": "a table of the project",
    "hookproof/cli.py": "the standard streams",
    "hookproof/process/extras.py": "what an installer wrote of the project",
    "hookproof/process/folder_lock.py": "a lock, which follows no link",
    "hookproof/process/private_folder.py": "a folder that the process made",
    "hookproof/process/standard_streams.py": "the standard streams",
    "hookproof/testing/service.py": "a CA that the process made",
    "hookproof/load/single_process.py": "a pipe of the process",
    "hookproof/load/locust_plugin/messages.py": "a file of the operating system",
    "hookproof/load/sidecar/api.py": "a file of the operating system",
    "hookproof/mockserver/api/docs.py": "pages of the project",
    "hookproof/spec/openapi_document.py": "a document of the project",
    "hookproof/receiver/client/forked_process.py": "the standard streams, and a pipe",
    "hookproof/receiver/cli/receive.py": "writes",
    "hookproof/receiver/dashboard/routes.py": "pages of the project",
    "hookproof/receiver/http/authority.py": "writes a private file",
    "hookproof/receiver/sending/tables.py": "tables of the project",
    "hookproof/receiver/signatures/schemes/catalogue.py": "a table of the project",
    "hookproof/receiver/vectors/corpus.py": "vectors of the project",
    "hookproof/receiver/vectors/grading.py": "vectors of the project",
    "hookproof/receiver/vectors/vector.py": "vectors of the project",
}
# Calls of this name that open no file.
OTHERS: Final = frozenset(
    {"runner.open", "self._runner.open", "breaker.open", "self.sessions.open"}
    | {"self.closed_ports.open"}
)


def openings(source: str) -> Iterator[str]:
    """What opens or reads a file in a module, each with its line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and _opens(ast.unparse(node.func)):
            yield f"{node.lineno}: {ast.unparse(node.func)}"


def _opens(name: str) -> bool:
    of, _, last = name.rpartition(".")
    if name in OTHERS or (last in READING and not of):
        return False
    return last in {*READING, "open", "fdopen"}


def found() -> dict[str, list[str]]:
    return {
        str(path.relative_to(ROOT)): ways
        for path in product_files()
        if (ways := list(openings(path.read_text("utf-8"))))
    }


def test_every_file_that_is_given_is_opened_in_one_place() -> None:
    assert {name: ways for name, ways in found().items() if name not in OWN_FILES} == {}


def test_the_exceptions_are_needed() -> None:
    assert OWN_FILES.keys() - found().keys() == set()


@pytest.mark.parametrize(
    "way", ["open('x')", "path.open('rb')", "path.read_text()", "os.open('x', 0)", "os.fdopen(9)"]
)
def test_such_a_way_is_found(way: str) -> None:
    assert list(openings(way))
