"""`make test` leaves out what tests/long_tests.txt names, and stays short."""

import ast
from collections import defaultdict
from functools import lru_cache

import pytest

from tests import long_tests
from tests.long_tests import ALWAYS, RECORDED
from tests.source_tree import ROOT

pytest_plugins = ["pytester"]

BUSY = "def test_a(): sum(range(1000))\ndef test_b(): pass\n"
IMPORTS_A_LIBRARY = """
def test_c():
    import sys
    for number in range(60):
        sys.modules[f"a_library.{number}"] = sys
"""


@lru_cache
def defined_in(path: str) -> set[str]:
    """The functions of a module, and the classes that it gives a name."""
    body = ast.parse((ROOT / path).read_text("utf-8")).body
    names = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assigned = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    return names | {target.id for target in assigned if isinstance(target, ast.Name)}


def test_each_name_is_that_of_a_test() -> None:
    names: dict[str, set[str]] = defaultdict(set)
    for line in (*RECORDED.read_text("utf-8").splitlines(), *ALWAYS):
        path, _, function = line.partition("::")
        names[path].add(function.partition(".")[0])
    gone = {path: each - defined_in(path) for path, each in names.items()}
    assert {path: names for path, names in gone.items() if names} == {}


@pytest.mark.parametrize("end", ["", "[a case]", "@a group", "[a@b::c]@a group"])
def test_the_name_of_a_function_has_neither_case_nor_group(end: str) -> None:
    assert long_tests.function_name(f"tests/test_a.py::test_b{end}") == "tests/test_a.py::test_b"
    of_class = long_tests.function_name(f"tests/test_a.py::TestA::test_b{end}")
    assert of_class == "tests/test_a.py::TestA.test_b"


def test_a_test_that_is_not_named_may_not_use_a_processor_for_long(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Importing the plugins of all packages takes seconds.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setattr(long_tests, "MOST_OF_A_PROCESSOR_S", -1.0)
    pytester.makepyfile(test_some=BUSY + IMPORTS_A_LIBRARY)
    recorded = pytester.makefile(".txt", "test_some.py::test_a")
    monkeypatch.setattr(long_tests, "RECORDED", recorded)
    result = pytester.runpytest_inprocess("-p", "xdist", "-p", "tests.long_tests")
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines("*`make record-long-tests` names it*")


def test_what_takes_long_is_recorded_and_left_out(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setattr(long_tests, "LONG_S", -1.0)
    pytester.makepyfile(test_some=BUSY)
    recorded = pytester.makefile(".txt", "")
    monkeypatch.setattr(long_tests, "RECORDED", recorded)
    pytester.runpytest_inprocess("-p", "tests.long_tests", "--record-long-tests", "-k", "test_a")
    assert recorded.read_text() == "test_some.py::test_a\n"
    result = pytester.runpytest_inprocess("-p", "tests.long_tests", "-m", "not long")
    result.assert_outcomes(passed=1, deselected=1)
