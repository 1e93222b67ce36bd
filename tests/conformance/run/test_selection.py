from collections.abc import Iterator

import pytest

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.model.experiment_registry import Experiment
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.run.selection import Selection, needed_experiments
from hookproof.conformance.target.definition import Project
from hookproof.conformance.target.project_assignment import assign_projects, projects_needed
from hookproof.process.exit_codes import CommandError
from hookproof.spec.catalogue import Catalogue, Level
from tests.conformance.canned_evidence import CannedObservation, OtherObservation
from tests.conformance.canned_run import requirement

ALL = [requirement("4.1-1"), requirement("4.1-2", Level.OPEN), requirement("4.4-1", Level.HYGIENE)]
CATALOGUE = Catalogue(sections={}, requirements={one.id: one for one in ALL}, gaps={})


KINDS = {"a": CannedObservation, "b": OtherObservation, "c": OtherObservation}


def judge(_observation: Observation, _context: CheckContext) -> Iterator[Judgement]:
    yield from ()


def gather(_context: ExperimentContext) -> Iterator[Observation]:
    yield from ()


def experiments(**profiles: Profile) -> list[Experiment]:
    return [
        Experiment(
            name=name,
            gather=gather,
            observes=(KINDS[name],),
            profile=profile,
            alone=False,
            busy=False,
        )
        for name, profile in profiles.items()
    ]


def bound(requirement_id: str, evidence: type) -> Check:
    return Check(name="c", requirements=(requirement_id,), evidence=(evidence,), judge=judge)


@pytest.mark.parametrize(
    ("selection", "selected"),
    [
        (Selection(), ["4.1-1", "4.1-2", "4.4-1"]),
        (Selection(only=("4.1-*",)), ["4.1-1", "4.1-2"]),
        (Selection(only=("4.4", "4.1-1")), ["4.1-1", "4.4-1"]),
        (Selection(exclude=("4.1-1",)), ["4.1-2", "4.4-1"]),
        (Selection(only=("4.1",), exclude=("4.1-2",)), ["4.1-1"]),
        (Selection(level=Level.STATED), ["4.1-1"]),
        (Selection(level=Level.OPEN), ["4.1-1", "4.1-2"]),
    ],
)
def test_a_selection_keeps_the_order_of_the_document(
    selection: Selection, selected: list[str]
) -> None:
    assert [one.id for one in selection.requirements(CATALOGUE)] == selected
    assert selection.is_everything is (len(selected) == 3)


@pytest.mark.parametrize(
    ("selection", "told"),
    [
        (Selection(only=("4.3-*",)), "'4.3-\\*' selects no requirement"),
        (Selection(exclude=("nothing",)), "'nothing' selects no requirement"),
        (Selection(only=("4.4",), level=Level.OPEN), "no requirement is left"),
    ],
)
def test_a_selection_of_nothing_is_refused(selection: Selection, told: str) -> None:
    with pytest.raises(CommandError, match=told):
        selection.requirements(CATALOGUE)


def test_only_experiments_that_are_judged_are_run() -> None:
    found = needed_experiments(
        ALL[:1],
        [bound("4.1-1", OtherObservation), bound("4.4-1", CannedObservation)],
        experiments(a=Profile.QUICK, b=Profile.QUICK),
        Profile.QUICK,
    )
    assert [one.name for one in found] == ["b"]


def test_an_oracle_needs_every_experiment_of_the_profile() -> None:
    every = experiments(a=Profile.QUICK, b=Profile.STANDARD, c=Profile.DEEP)
    found = needed_experiments(ALL[:1], [bound("4.1-1", Exchange)], every, Profile.STANDARD)
    assert [one.name for one in found] == ["a", "b"]


def test_each_experiment_has_a_project_of_its_own_and_one_to_be_kept_apart_from() -> None:
    names = ["a", "b", "c"]
    projects = [
        Project(id=f"p{number}", api_key="k") for number in range(projects_needed(len(names)))
    ]
    assignment = assign_projects(projects, names)
    assert {name: [one.id for one in assignment.projects[name]] for name in names} == {
        "a": ["p0", "p3"],
        "b": ["p1", "p3"],
        "c": ["p2", "p3"],
    }
    assert not assignment.shared


@pytest.mark.parametrize(
    ("count", "dealt"),
    [
        (1, {"a": ["p0"], "b": ["p0"], "c": ["p0"]}),
        (2, {"a": ["p0", "p1"], "b": ["p1", "p0"], "c": ["p0", "p1"]}),
        (3, {"a": ["p0", "p1"], "b": ["p1", "p2"], "c": ["p2", "p0"]}),
    ],
)
def test_too_few_projects_are_dealt_out_in_turn(count: int, dealt: dict[str, list[str]]) -> None:
    projects = tuple(Project(id=f"p{number}", api_key="k") for number in range(count))
    assignment = assign_projects(projects, ["a", "b", "c"])
    assert {name: [one.id for one in given] for name, given in assignment.projects.items()} == dealt
    assert assignment.shared
