import os
from pathlib import Path

import pytest

from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.run.requirement_tests import RequirementPlugin, run_suite
from hookproof.spec.catalogue import Requirement
from tests.conformance.canned_run import failed, finding, idle, passed


class Recorder:
    """A plugin that keeps how each test ended: its name, and the outcome of its setup or call."""

    def __init__(self) -> None:
        self.outcomes: dict[str, tuple[str, str]] = {}
        self.texts: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid.partition("::")[2]] = (report.when or "", report.outcome)
            self.texts[report.nodeid.partition("::")[2]] = report.longreprtext


class RecordingPlugin(RequirementPlugin, Recorder):
    def __init__(self, *entries: Entry) -> None:
        Recorder.__init__(self)
        self.judged: list[str] = []
        by_id = {entry.requirement.id: entry for entry in entries}

        def judge(requirement: Requirement) -> Entry:
            self.judged.append(requirement.id)
            return by_id[requirement.id]

        RequirementPlugin.__init__(self, [entry.requirement for entry in entries], judge)


BROKEN = Entry(
    requirement=passed("4.4-9").requirement, verdict=Verdict.ERROR, reasons=("The check broke.",)
)


def test_each_requirement_is_one_test_that_ends_as_its_verdict_says() -> None:
    plugin = RecordingPlugin(passed(), failed(), idle(), BROKEN)
    assert run_suite(plugin, max_fail=0) is pytest.ExitCode.TESTS_FAILED
    assert plugin.outcomes == {
        "4.1-1 Requirement 4.1-1 holds.": ("call", "passed"),
        "4.1-2 The name of a new endpoint is the one that was sent.": ("call", "failed"),
        "4.4-1 Requirement 4.4-1 holds.": ("call", "skipped"),
        "4.4-9 Requirement 4.4-9 holds.": ("setup", "failed"),
    }
    assert plugin.judged == list(plugin.entries) == ["4.1-1", "4.1-2", "4.4-1", "4.4-9"]


def test_a_failure_tells_the_sentence_and_the_finding() -> None:
    plugin = RecordingPlugin(failed())
    run_suite(plugin, max_fail=0)
    (text,) = plugin.texts.values()
    assert "The name of a new endpoint is the one that was sent." in text
    assert finding().message in text
    assert "expected: 'it'" in text


def test_the_suite_stops_after_as_many_failures_as_it_may_have() -> None:
    plugin = RecordingPlugin(failed("4.1-1"), failed("4.1-2"), passed("4.1-3"))
    run_suite(plugin, max_fail=1)
    assert plugin.judged == ["4.1-1"]


def test_a_suite_that_passes_says_so() -> None:
    assert run_suite(RecordingPlugin(passed()), max_fail=0) is pytest.ExitCode.OK


def test_pytest_settings_around_the_user_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --nonsense\n")
    (tmp_path / "conftest.py").write_text("raise RuntimeError('read')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_ADDOPTS", "--more-nonsense")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    assert run_suite(RecordingPlugin(passed()), max_fail=0) is pytest.ExitCode.OK
    assert sorted(path.name for path in tmp_path.iterdir()) == ["conftest.py", "pytest.ini"]


def test_the_environment_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-q")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "0")
    before = dict(os.environ)
    run_suite(RecordingPlugin(passed()), max_fail=0)
    assert {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"} == {
        name: value for name, value in before.items() if name != "PYTEST_CURRENT_TEST"
    }


def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    run_suite(RecordingPlugin(failed(), passed()), max_fail=0)
    assert capsys.readouterr() == ("", "")
