"""The pytest11 entry point: options and fixtures, and nothing else until one of them is used.

    pytest --hookproof-target=target.yaml

pytest imports this module at each start, so it imports nothing else of the project.
"""

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from hookproof.testing.receiver import Receiver
    from hookproof.testing.service import Service
    from hookproof.testing.shared_processes import SharedProcesses

# Name, placeholder and help of each option that takes a value.
OPTIONS = (
    (
        "target",
        "FILE",
        "Judge the server of this target file; a Python file that its provision names is run.",
    ),
    ("url", "URL", "Judge the server at this address; the key comes from HOOKPROOF_API_KEY."),
    ("project", "ID", "Project to work in; HOOKPROOF_PROJECT by default."),
    ("ca-dir", "DIR", "Folder of the CA that the target trusts, made by `hookproof ca`."),
    ("dialect", "NAME", "Name or file of the target's dialect."),
    ("profile", "NAME", "How much to try: quick, standard (default) or deep."),
    ("level", "NAME", "Judge up to this level: stated, then open, then hygiene (default)."),
    ("seed", "N", "Seed of the random choices; 0 by default."),
    (
        "baseline",
        "FILE",
        "File of known verdicts that are accepted: these tests are expected failures.",
    ),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hookproof", "judge a webhook delivery service")
    for name, placeholder, words in OPTIONS:
        group.addoption(f"--hookproof-{name}", metavar=placeholder, help=words)
    group.addoption(
        "--hookproof-embedded",
        action="store_true",
        help="Judge the reference server that comes with hookproof.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin if an option names a server to judge."""
    wanted = ("hookproof_target", "hookproof_url", "hookproof_embedded")
    if any(config.getoption(name) for name in wanted) and not config.getoption("version", 0):
        from hookproof.process.extras import how_to_install, is_installed

        if not is_installed("check"):
            raise pytest.UsageError(
                "the options --hookproof-... need packages that are not installed: "
                + how_to_install("pytest")
            )
        from hookproof.conformance.pytest_plugin.host import host_for

        config.pluginmanager.register(host_for(config), "hookproof-host")


@pytest.fixture(scope="session")
def _hookproof_processes() -> "Iterator[SharedProcesses]":
    from hookproof.testing.shared_processes import SharedProcesses

    with SharedProcesses() as processes:
        yield processes


@pytest.fixture
def webhook_receiver(_hookproof_processes: "SharedProcesses") -> "Receiver":
    """A URL that receives webhooks, the test's own; a failure shows what arrived there."""
    return _hookproof_processes.new_receiver()


@pytest.fixture
def webhook_dialect() -> str:
    """The dialect of `webhook_service`: override or parametrize it."""
    return "reference"


@pytest.fixture
def webhook_service(
    _hookproof_processes: "SharedProcesses", webhook_dialect: str
) -> "Iterator[Service]":
    """The reference server, which is emptied after each test; a failure shows what it did."""
    service = _hookproof_processes.service(webhook_dialect)
    yield service
    service.reset()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: "pytest.CallInfo[None]"
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show beside a failure what arrived, and what the reference server did."""
    report = yield
    fixtures = getattr(item, "funcargs", {})
    if report.failed and report.when != "teardown" and "_hookproof_processes" in fixtures:
        from hookproof.testing.failure_report import fixture_sections

        message = str(call.excinfo.value) if call.excinfo else ""
        report.sections.extend(fixture_sections(fixtures, message))
    return report
