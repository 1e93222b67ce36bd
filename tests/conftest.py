"""Settings of all tests, a folder for what the runs of all tests generate, and no other CA than
those that tests make.
"""

import asyncio
import inspect
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePath

import pytest
from hypothesis import HealthCheck, settings

# The variable of hookproof.conformance.generation.generators, which most tests do not need.
KEPT_IN = "HOOKPROOF_GENERATED"

pytest_plugins = ["tests.long_tests"]

# Folders of the longest tests: one that begins last would keep a single processor busy.
BEGIN_FIRST = ("tests/strangers", "tests/conformance/run", "tests/conformance/learning")

# Examples may take their time: how long one takes says more about the machine than about the code.
settings.register_profile(
    "patient", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")


def pytest_configure(config: pytest.Config) -> None:
    """Let all runs share what is generated for the same seed and contract.

    The workers of xdist inherit the folder from the process that starts them.
    """
    if KEPT_IN not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="hookproof-generated-")
        config.add_cleanup(folder.cleanup)
        os.environ[KEPT_IN] = folder.name
    # aiohttp reads all certificates of the machine as it is imported, in each of the hundreds of
    # processes that are started, and each server in a test does as well; what tests connect to has
    # a certificate of theirs.
    os.environ["SSL_CERT_FILE"] = os.devnull
    os.environ["SSL_CERT_DIR"] = os.devnull


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(BEGIN_FIRST))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Show beside the slowest tests what the tests of each folder take: their number, seconds."""
    if config.option.durations is None:
        return
    seconds: dict[str, float] = defaultdict(float)
    tests: dict[str, set[str]] = defaultdict(set)
    for report in _reports(terminalreporter):
        folder = "/".join(PurePath(report.nodeid.partition("::")[0]).parts[:2])
        seconds[folder] += report.duration
        tests[folder].add(report.nodeid)
    terminalreporter.section("time by folder")
    for folder in sorted(seconds, key=seconds.__getitem__, reverse=True):
        terminalreporter.write_line(
            f"{seconds[folder]:8.1f} s {len(tests[folder]):6} tests  {folder}"
        )


def _reports(terminalreporter: pytest.TerminalReporter) -> Iterator[pytest.TestReport]:
    for reports in terminalreporter.stats.values():
        yield from (each for each in reports if isinstance(each, pytest.TestReport))
