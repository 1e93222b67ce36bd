import os
from dataclasses import replace
from pathlib import Path

import pytest

from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.pytest_plugin.requirement_tests import collect_requirements
from tests.conformance.canned_run import failed, finding, not_exercised, passed


class OutcomePlugin:
    """A plugin that collects requirements and keeps how each test ended: in setup or call."""

    def __init__(self, *entries: Entry) -> None:
        self.outcomes: dict[str, tuple[str, str]] = {}
        self.texts: dict[str, str] = {}
        self._entries = {entry.requirement.id: entry for entry in entries}

    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        requirements = [entry.requirement for entry in self._entries.values()]
        items.extend(
            collect_requirements(session, requirements, lambda each: self._entries[each.id])
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            name = report.nodeid.partition("::")[2]
            self.outcomes[name] = (report.when or "", report.outcome)
            skipped = report.longrepr if isinstance(report.longrepr, tuple) else None
            self.texts[name] = skipped[2] if skipped else report.longreprtext


def run(folder: Path, *entries: Entry) -> tuple[OutcomePlugin, int]:
    recording = OutcomePlugin(*entries)
    return recording, run_plugins(folder, recording)


def run_plugins(folder: Path, *plugins: object) -> int:
    """Run pytest in this process, in a folder without tests."""
    options = ["-c", os.devnull, "--rootdir", str(folder), "--noconftest", "-p", "no:terminal"]
    options += ["-W", "ignore::pytest.PytestUnknownMarkWarning"]
    return int(pytest.main([*options, "-p", "no:cacheprovider", str(folder)], plugins=plugins))


BROKEN = Entry(
    requirement=passed("4.4-9").requirement, verdict=Verdict.ERROR, reasons=("The check broke.",)
)


def test_each_requirement_is_one_test_that_ends_as_its_verdict_says(tmp_path: Path) -> None:
    recording, code = run(tmp_path, passed(), failed(), not_exercised(), BROKEN)
    assert code == pytest.ExitCode.TESTS_FAILED
    assert recording.outcomes == {
        "4.1-1 Requirement 4.1-1 holds.": ("call", "passed"),
        "4.1-2 The name of a new endpoint is the one that was sent.": ("call", "failed"),
        "4.4-1 Requirement 4.4-1 holds.": ("call", "skipped"),
        "4.4-9 Requirement 4.4-9 holds.": ("setup", "failed"),
    }


def test_a_failure_shows_the_sentence_and_the_finding(tmp_path: Path) -> None:
    recording, _ = run(tmp_path, failed())
    (text,) = recording.texts.values()
    assert "The name of a new endpoint is the one that was sent." in text
    assert finding().message in text
    assert "expected: 'it'" in text


def test_no_control_character_of_a_target_reaches_the_terminal(tmp_path: Path) -> None:
    message, reason = "Name \x9b31m\u202e of it", "no \x1b[2J answer"
    odd = replace(failed(), findings=(replace(finding(), message=message),))
    for entry in (
        odd,
        replace(odd, findings=(replace(odd.findings[0], follows_from=("4.1-1",)),)),
        replace(not_exercised(), reasons=(reason,)),
        replace(BROKEN, reasons=(reason,)),
    ):
        recording, _ = run(tmp_path, entry)
        (text,) = recording.texts.values()
        assert not {"\x1b", "\x9b", "\u202e"} & set(text)
        assert "\\x9b31m\\u202e of it" in text or "no \\x1b[2J answer" in text


def test_what_only_follows_from_another_failure_is_skipped_and_says_so(tmp_path: Path) -> None:
    consequence = replace(failed(), findings=(replace(finding(), follows_from=("4.1-1",)),))
    recording, code = run(tmp_path, consequence)
    assert code == pytest.ExitCode.OK
    assert list(recording.outcomes.values()) == [("call", "skipped")]
    assert "fails, as follows from 4.1-1: The name" in next(iter(recording.texts.values()))


def test_a_failure_of_its_own_shows_which_of_its_findings_follow(tmp_path: Path) -> None:
    follows = replace(finding(), message="Another", follows_from=("4.1-1",))
    recording, _ = run(tmp_path, replace(failed(), findings=(finding(), follows)))
    (text,) = recording.texts.values()
    assert "follows: from 4.1-1" in text


def test_requirements_that_hold_are_a_passing_run(tmp_path: Path) -> None:
    assert run(tmp_path, passed())[1] == pytest.ExitCode.OK
