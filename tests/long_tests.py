"""Which tests `make test` leaves to `make test-all`: those with a case that takes over a second.

`long_tests.txt` names their functions. `make record-long-tests` writes it from what each test took;
nobody edits it. A test that is not named there may use no more than two seconds of a processor, so
that `make test` stays short: time that passes would say more about the machine than about the test.
On a machine that is slow at that moment these are longer seconds.
"""

import resource
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

RECORDED: Final = Path(__file__).with_name("long_tests.txt")
LONG_S: Final = 1.0
MOST_OF_A_PROCESSOR_S: Final = 2.0
# What `_piece_of_work_s` measures of a processor that is neither slow nor shared.
PIECE_OF_WORK_S: Final = 0.05
# Whichever test comes first in its process imports a library for all that follow.
MODULES_OF_A_LIBRARY: Final = 50
OPTION: Final = "--record-long-tests"
# These are part of `make test` all the same: a whole run, a mutant, a load run, a target that is
# learned, and a page in a browser.
_ALWAYS: Final = {
    "conformance/run/test_whole_runs.py": (
        "test_a_target_whose_two_projects_are_shared_by_all_experiments_conforms"
    ),
    "conformance/mutants/test_mutants_command.py": "test_a_fault_is_killed_by_its_check",
    "load/cli/test_load_command.py": "test_the_mix_of_a_service_in_use_sends_all_eight_operations",
    "conformance/learning/test_learn_command.py": (
        "test_the_files_are_written_without_the_key_and_serve_check"
    ),
    "pages/test_docs_page.py": "test_the_page_names_the_address_that_serves_it_and_has_an_icon",
}
ALWAYS: Final = frozenset(f"tests/{path}::{name}" for path, name in _ALWAYS.items())


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, action="store_true", help="write tests/long_tests.txt")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: takes more than a second, by tests/long_tests.txt")
    if config.getoption(OPTION) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    recorded = {*RECORDED.read_text().splitlines()} - ALWAYS
    for item in items:
        if function_name(item.nodeid) in recorded:
            item.add_marker("long")


@pytest.fixture(autouse=True)
def _a_test_is_short_or_recorded(request: pytest.FixtureRequest) -> Iterator[None]:
    began_s, modules = _of_a_processor_s(), len(sys.modules)
    yield
    took_s = _of_a_processor_s() - began_s
    is_free = (
        not request.config.pluginmanager.hasplugin("xdist")  # `make versions`, of others' speed
        or request.node.get_closest_marker("long")
        or function_name(request.node.nodeid) in ALWAYS
        or len(sys.modules) - modules >= MODULES_OF_A_LIBRARY
    )
    if took_s > MOST_OF_A_PROCESSOR_S and not is_free and took_s > _most_s():
        pytest.fail(f"it used {took_s:.1f} s of a processor: `make record-long-tests` names it")


def _most_s() -> float:
    """The most that a test may use, in seconds of the processor as fast as it is now."""
    return MOST_OF_A_PROCESSOR_S * max(1.0, _piece_of_work_s() / PIECE_OF_WORK_S)


def _piece_of_work_s() -> float:
    began_s = time.process_time()
    sum(number * number for number in range(1_000_000))
    return time.process_time() - began_s


def function_name(test: str) -> str:
    """The name of a test's function, without the parameters of a case, from the test's id.

    A class stands before a point. The location of what is inherited is elsewhere, and `--dist
    loadgroup` writes a test's group behind its id.
    """
    path, _, names = test.partition("[")[0].partition("@")[0].partition("::")
    return f"{path}::{names.replace('::', '.')}"


def _of_a_processor_s() -> float:
    """What this process and its children that have ended have used so far."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


class Recorder:
    """Writes the names of the functions of which a case took long, or shares what takes long to be
    set up with others of its module.
    """

    def __init__(self) -> None:
        self._took_s: dict[str, float] = defaultdict(float)
        self._modules: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._took_s[report.nodeid] += report.duration
        if report.when == "setup" and report.duration > LONG_S:
            self._modules.add(report.nodeid.partition("::")[0])

    def pytest_sessionfinish(self) -> None:
        long = {
            function_name(each)
            for each, took_s in self._took_s.items()
            if took_s > LONG_S or each.partition("::")[0] in self._modules
        }
        RECORDED.write_text("".join(f"{name}\n" for name in sorted(long)))
