from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import Evidence, Exchange, Observation
from hookproof.conformance.model.experiment_registry import Experiment, Sharing
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.run.selection import Selection, needed_experiments, selectors
from hookproof.conformance.target.definition import Project
from hookproof.conformance.target.project_assignment import (
    ProjectAssignment,
    assign_projects,
    projects_needed,
)
from hookproof.process.exit_codes import CommandError
from hookproof.spec.catalogue import Catalogue, Level
from tests.conformance.canned_evidence import CannedObservation, OtherObservation
from tests.conformance.canned_run import requirement

ALL = [requirement("4.1-1"), requirement("4.1-2", Level.OPEN), requirement("4.4-1", Level.HYGIENE)]
CATALOGUE = Catalogue(sections={}, requirements={each.id: each for each in ALL}, gaps={})

KINDS = {"a": CannedObservation, "b": OtherObservation, "c": OtherObservation}


def judge(_observation: Observation, _context: CheckContext) -> Iterator[Judgement]:
    yield from ()


async def gather(_context: ExperimentContext) -> AsyncIterator[Evidence]:
    nothing: tuple[Evidence, ...] = ()
    for evidence in nothing:
        yield evidence


def experiments(**profiles: Profile) -> list[Experiment]:
    return [
        Experiment(
            name=name,
            gather=gather,
            observes=(KINDS[name],),
            profile=profile,
            sharing=dict.fromkeys(Profile, Sharing.BESIDE),
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
        (Selection(only=selectors(["4.1-*"])), ["4.1-1", "4.1-2"]),
        (Selection(only=selectors(["4.4", "4.1-1"])), ["4.1-1", "4.4-1"]),
        (Selection(exclude=selectors(["4.1-1"])), ["4.1-2", "4.4-1"]),
        (Selection(only=selectors(["4.1"]), exclude=selectors(["4.1-2"])), ["4.1-1"]),
        (Selection(level=Level.STATED), ["4.1-1"]),
        (Selection(level=Level.OPEN), ["4.1-1", "4.1-2"]),
    ],
)
def test_a_selection_keeps_the_order_of_the_document(
    selection: Selection, selected: list[str]
) -> None:
    assert [requirement.id for requirement in selection.requirements(CATALOGUE)] == selected
    assert selection.is_everything is (len(selected) == 3)


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(only=selectors(["4.3-*"])), "'4.3-\\*' selects no requirement"),
        (Selection(exclude=selectors(["nothing"])), "'nothing' selects no requirement"),
        (Selection(only=selectors(["4.4"]), level=Level.OPEN), "no requirement is left"),
    ],
)
def test_a_selection_of_nothing_is_refused(selection: Selection, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        selection.requirements(CATALOGUE)


def test_a_file_holds_selectors_and_reasons(tmp_path: Path) -> None:
    path = tmp_path / "left-out.txt"
    path.write_text("# what we do not do\n\n4.1-1  # HP-12: our lists are cached\n 4.4 \n")
    first, second = selectors([f"@{path}"])
    assert (first.text, first.reason) == ("4.1-1", "HP-12: our lists are cached")
    assert (second.text, second.reason) == ("4.4", "")
    left_out = Selection(exclude=(first, second))
    assert left_out.excluded(CATALOGUE) == {
        "4.1-1": "HP-12: our lists are cached",
        "4.4-1": "",
    }
    assert [each.id for each in left_out.requirements(CATALOGUE)] == ["4.1-2"]
    only = Selection(only=selectors(["4.1-2", f"@{path}"]))
    assert [each.id for each in only.requirements(CATALOGUE)] == ["4.1-1", "4.1-2", "4.4-1"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"4.1-1\n4.7-9  # no such one\n", r"left-out.txt:2: '4.7-9' selects no requirement"),
        (b"\xff\n", "left-out.txt"),
        (None, "left-out.txt.*No such file"),
    ],
)
def test_a_bad_line_of_a_file_is_named_with_its_place(
    content: bytes | None, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "left-out.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CommandError, match=message):
        Selection(exclude=selectors([f"@{path}"])).requirements(CATALOGUE)


def test_a_set_leaves_out_what_came_later() -> None:
    newest = replace(requirement("4.4-2", Level.STATED), since="2027.02")
    catalogue = replace(CATALOGUE, requirements={**CATALOGUE.requirements, newest.id: newest})
    assert Selection().requirements(catalogue)[-1] == newest
    assert Selection(requirement_set="2027.02").requirements(catalogue)[-1] == newest
    pinned = Selection(requirement_set="2026.11")
    assert pinned.newer(catalogue) == (newest,)
    assert pinned.requirements(catalogue) == tuple(CATALOGUE.requirements.values())
    assert pinned.is_everything
    with pytest.raises(CommandError, match=r"named '2026\.12'; there are 2026\.11, 2027\.02"):
        Selection(requirement_set="2026.12").requirements(catalogue)
    with pytest.raises(CommandError, match=r"there is 2026\.11"):
        Selection(requirement_set="2027.02").requirements(CATALOGUE)


def test_only_experiments_that_a_selected_check_judges_are_needed() -> None:
    needed = needed_experiments(
        ALL[:1],
        [bound("4.1-1", OtherObservation), bound("4.4-1", CannedObservation)],
        experiments(a=Profile.QUICK, b=Profile.QUICK),
        Profile.QUICK,
    )
    assert [experiment.name for experiment in needed] == ["b"]


def test_an_oracle_needs_every_experiment_of_the_profile() -> None:
    every = experiments(a=Profile.QUICK, b=Profile.STANDARD, c=Profile.DEEP)
    needed = needed_experiments(ALL[:1], [bound("4.1-1", Exchange)], every, Profile.STANDARD)
    assert [experiment.name for experiment in needed] == ["a", "b"]


def experiment(name: str, *, endpoints: int = 0, broadcasts: int = 0) -> Experiment:
    async def gather(_context: object) -> None: ...

    return Experiment(
        name=name,
        gather=gather,  # type: ignore[arg-type]
        observes=(),
        profile=Profile.QUICK,
        busy=False,
        sharing={},
        endpoints=endpoints,
        broadcasts=broadcasts,
    )


def project_ids(assignment: ProjectAssignment) -> dict[str, list[str]]:
    return {
        name: [project.id for project in projects] for name, projects in assignment.projects.items()
    }


def test_each_experiment_has_a_project_of_its_own_and_shares_a_second_one_with_all() -> None:
    names = ["a", "b", "c"]
    projects = [
        Project(id=f"p{number}", api_key="k") for number in range(projects_needed(len(names)))
    ]
    assignment = assign_projects(projects, [experiment(name) for name in names])
    assert project_ids(assignment) == {
        "a": ["p0", "p3"],
        "b": ["p1", "p3"],
        "c": ["p2", "p3"],
    }
    assert not assignment.shared


@pytest.mark.parametrize(
    ("count", "assigned"),
    [
        (1, {"a": ["p0"], "b": ["p0"], "c": ["p0"]}),
        (2, {"a": ["p0", "p1"], "b": ["p1", "p0"], "c": ["p0", "p1"]}),
        (3, {"a": ["p0", "p1"], "b": ["p1", "p2"], "c": ["p2", "p0"]}),
    ],
)
def test_too_few_projects_are_assigned_in_turn(count: int, assigned: dict[str, list[str]]) -> None:
    projects = tuple(Project(id=f"p{number}", api_key="k") for number in range(count))
    assignment = assign_projects(projects, [experiment(name) for name in "abc"])
    assert project_ids(assignment) == assigned
    assert assignment.shared


def test_what_broadcasts_much_is_kept_apart_from_many_endpoints() -> None:
    experiments = [
        experiment("many endpoints", endpoints=30, broadcasts=2),
        experiment("many broadcasts", endpoints=1, broadcasts=40),
        experiment("some endpoints", endpoints=12, broadcasts=1),
        experiment("some broadcasts", endpoints=1, broadcasts=9),
    ]
    projects = tuple(Project(id=f"p{number}", api_key="k") for number in range(2))
    for order in (experiments, experiments[::-1]):
        main = {name: ids[0] for name, ids in project_ids(assign_projects(projects, order)).items()}
        assert main["many endpoints"] == main["some endpoints"]
        assert main["many broadcasts"] == main["some broadcasts"]
        assert len(set(main.values())) == 2
