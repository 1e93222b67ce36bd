"""The pytest host: one test per requirement, in the order of the document.

The node id of a test shows the requirement's id and sentence, so that pytest's own ways of selecting and stopping work.
A requirement that fails is a failed test, one that hookproof could not judge is an error in the test's setup, and one
that was not exercised or is not applicable is a skipped test.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import pytest

from conformance.ledger import Entry
from conformance.verdict import Verdict
from spec.catalogue import Requirement

SUITE: Final = "conformance.suite"
FOREIGN: Final = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")
NO_AUTOLOAD: Final = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"


class RequirementPlugin:
    """Feeds the suite with requirements, and keeps what became of each; `judge` may wait for evidence."""

    def __init__(self, requirements: Sequence[Requirement], judge: Callable[[Requirement], Entry]):
        self.entries: dict[str, Entry] = {}
        self._requirements = requirements
        self._judge = judge

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make one test of each requirement."""
        if "requirement" in metafunc.fixturenames:
            names = [f"{requirement.id} {requirement.text}" for requirement in self._requirements]
            metafunc.parametrize("requirement", self._requirements, ids=names)

    @pytest.fixture(name="entry")
    def judged_entry(self, requirement: Requirement) -> Entry:
        """The requirement's entry in the ledger; an error in it is an error of the setup."""
        entry = self._judge(requirement)
        self.entries[requirement.id] = entry
        if entry.verdict is Verdict.ERROR:
            pytest.fail("\n".join(entry.reasons), pytrace=False)
        return entry


def run_suite(plugin: RequirementPlugin, *, max_fail: int) -> pytest.ExitCode:
    """Run the suite in this process, apart from whatever pytest configuration the user has where they stand."""
    with _without_foreign_settings():
        code = pytest.main(
            [
                "--pyargs",
                SUITE,
                *("-c", os.devnull, "--rootdir", os.path.dirname(__file__), "--noconftest"),  # noqa: PTH120
                *("-p", "no:cacheprovider", "-p", "no:terminal", "-p", "no:logging", "-p", "no:faulthandler"),
                *("--assert=plain", "--capture=no", "--strict-markers", f"--maxfail={max_fail}"),
            ],
            plugins=[plugin],
        )
    return pytest.ExitCode(code)


@contextmanager
def _without_foreign_settings() -> Iterator[None]:
    kept = {name: os.environ.pop(name, None) for name in (*FOREIGN, NO_AUTOLOAD)}
    os.environ[NO_AUTOLOAD] = "1"
    try:
        yield
    finally:
        del os.environ[NO_AUTOLOAD]
        os.environ.update({name: value for name, value in kept.items() if value is not None})
