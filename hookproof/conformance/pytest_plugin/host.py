"""The suites as part of a user's own pytest run: `pytest --hookproof-target=target.yaml`.

Each requirement is a test with the markers `hookproof`, its level (`stated`, `open`, `hygiene`) and
its section (`section_4_3`, `section_4`), so that `-k`, `-m`, `-x`, `--lf` and `-n` work as on any
other test. Experiments start with the first of these tests that is run, and only those that the
selected tests need.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, NoReturn

import pytest

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.grading.grader import Grader
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.experiment_registry import experiments_of
from hookproof.conformance.model.judgement import quoting
from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.pytest_plugin.evidence_source import (
    Gathering,
    OwnGathering,
    RemoteGathering,
    SharedGathering,
)
from hookproof.conformance.pytest_plugin.requirement_tests import (
    NAME,
    RequirementItem,
    collect_requirements,
)
from hookproof.conformance.pytest_plugin.settings import SessionSettings, read_settings
from hookproof.conformance.results.baseline import apply_baseline
from hookproof.process.exit_codes import CommandError
from hookproof.spec.catalogue import Level, Requirement
from hookproof.spec.contract.service_contract import contract_for

# The member of a worker's input that says how it reaches the controller.
INPUT: Final = "hookproof_evidence"


class Host:
    """The plugin in the process that collects and runs the tests: the only one, or a worker of
    pytest-xdist.
    """

    def __init__(self, settings: SessionSettings, gathering: Gathering):
        self._settings = settings
        self._gathering = gathering
        self._selected: tuple[Requirement, ...] = ()
        self._grader: Grader | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        """Add the requirements before anything is deselected."""
        requirement_items = collect_requirements(session, self._settings.requirements, self._entry)
        for item in requirement_items:
            assert isinstance(item, RequirementItem)
            for name in markers_of(item.requirement):
                item.add_marker(getattr(pytest.mark, name))
            item.add_marker(pytest.mark.xdist_group(name=group_of(item.requirement)))
        items.extend(requirement_items)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._selected = tuple(
            item.requirement for item in session.items if isinstance(item, RequirementItem)
        )

    def pytest_report_header(self) -> str:
        return header_of(self._settings)

    def pytest_unconfigure(self) -> None:
        self._gathering.close()

    def _entry(self, requirement: Requirement) -> Entry:
        """The requirement's entry after the baseline is applied; keys are masked in it."""
        with quoting(self._gathering.quoted):
            grader = self._grader or self._begin()
            entries = [self._gathering.masked(grader.entry(requirement))]
        # What a finding follows from may be accepted by the baseline, or follow from more itself.
        if any(finding.follows_from for finding in entries[0].findings):
            upstream = self._settings.catalogue.upstream(requirement.id)
            with quoting(self._gathering.quoted):
                entries += [grader.entry(each) for each in self._selected if each.id in upstream]
        expectations = {each.id: each for each in self._settings.baseline}
        known = apply_baseline(
            entries,
            [
                expectations[entry.requirement.id]
                for entry in entries
                if entry.requirement.id in expectations
            ],
            self._settings.catalogue,
            datetime.now(UTC).date(),
        )
        entry = known.entries[0]
        stale = [words for words in known.stale if words.startswith(f"{requirement.id} ")]
        if stale:
            words = f"The baseline is stale: {stale[0]}."
            return replace(
                entry, verdict=max(entry.verdict, Verdict.ERROR), reasons=(words, *entry.reasons)
            )
        return entry

    def _begin(self) -> Grader:
        refusal: CommandError | None = None
        try:
            self._gathering.begin([requirement.id for requirement in self._selected])
        except CommandError as error:
            refusal = error
        if refusal is not None:  # outside of the except block, so that pytest shows one line
            self._give_up(refusal)
        dialect = self._settings.subject.dialect
        needed = self._settings.experiments(self._selected)
        self._grader = Grader(
            checks=all_checks(),
            context=CheckContext(dialect=dialect, contract=contract_for(dialect)),
            catalogue=self._settings.catalogue,
            experiments=[experiment.name for experiment in needed],
            every_experiment=all_experiments(),
            profile=self._settings.profile,
            gathered=self._gathering.gathered,
            reported=[requirement.id for requirement in self._selected],
        )
        return self._grader

    def _give_up(self, refusal: CommandError) -> NoReturn:
        """End the session: without a target that can be called there is nothing to judge."""
        if isinstance(self._gathering, OwnGathering):
            pytest.exit(f"hookproof: {refusal}", returncode=int(refusal.exit_code))
        pytest.fail(f"hookproof: {refusal}", pytrace=False)


class Controller:
    """The plugin in the controller of pytest-xdist: experiments run here, tests in the workers."""

    def __init__(self, settings: SessionSettings, config: pytest.Config):
        self._settings = settings
        self._config = config
        self._gathering = SharedGathering(OwnGathering(settings))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[INPUT] = self._gathering.address

    def pytest_report_header(self) -> str:
        return header_of(self._settings)

    def pytest_runtest_logreport(self) -> None:
        """Stop distributing tests once it is known that the target cannot be called."""
        scheduler = self._config.pluginmanager.get_plugin("dsession")
        if self._gathering.refusal is not None and scheduler is not None:
            scheduler.shouldstop = f"hookproof: {self._gathering.refusal}"

    def pytest_unconfigure(self) -> None:
        self._gathering.close()


def host_for(config: pytest.Config) -> Host | Controller:
    """The plugin for this process; raises pytest.UsageError if its options make no sense."""
    settings = read_settings(config)
    for name, words in marker_words(settings.requirements).items():
        config.addinivalue_line("markers", f"{name}: {words}")
    known = settings.catalogue.requirements
    unknown = [each.id for each in settings.baseline if each.id not in known]
    if unknown:
        raise pytest.UsageError(
            f"hookproof: the baseline is stale: {', '.join(unknown)}: no such requirement"
        )
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        return Host(settings, RemoteGathering(worker[INPUT]))
    if config.getoption("tx", None) or config.getoption("numprocesses", None):
        return Controller(settings, config)
    return Host(settings, OwnGathering(settings))


def markers_of(requirement: Requirement) -> list[str]:
    parts = requirement.section.split(".")
    sections = ["_".join(["section", *parts[: place + 1]]) for place in range(len(parts))]
    return [NAME, requirement.level.value, *sections]


def marker_words(requirements: tuple[Requirement, ...]) -> dict[str, str]:
    """The description of every marker, by its name."""
    words = {NAME: "a requirement that hookproof judges"}
    words |= {level.value: f"a requirement of the level {level}" for level in Level}
    for requirement in requirements:
        for name in markers_of(requirement):
            words.setdefault(
                name,
                f"a requirement of {name.replace('_', ' ', 1).replace('_', '.')} of the document",
            )
    return words


def group_of(requirement: Requirement) -> str:
    """The experiments that show a requirement, so that tests of the same evidence can share a
    worker.
    """
    checks = [check for check in all_checks() if requirement.id in check.requirements]
    if any(check.is_oracle for check in checks):
        return "every exchange"
    experiments = all_experiments()
    return "+".join(
        sorted({name for check in checks for name in experiments_of(check, experiments)})
    )


def header_of(settings: SessionSettings) -> str:
    target = getattr(settings.subject, "base_url", "the embedded server")
    return (
        f"{NAME}: {target}, dialect {settings.subject.dialect.name},"
        f" {settings.profile.key} profile, seed {settings.seed}"
    )
