"""Which projects of the target each experiment works in.

A broadcast reaches every active endpoint of its project, so experiments disturb one another unless
each has a project of its own. A target with fewer projects is still judged: they are assigned in
turn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hookproof.conformance.target.definition import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectAssignment:
    """The projects of each experiment by its name; `shared` is whether experiments share them."""

    projects: Mapping[str, tuple[Project, ...]]
    shared: bool


def projects_needed(experiments: int) -> int:
    """One project for each experiment, and one more as the foreign project of all of them."""
    return experiments + 1


def assign_projects(projects: Sequence[Project], experiments: Sequence[str]) -> ProjectAssignment:
    """Assign two different projects to each experiment, or one if there is no other.

    `experiments` names all of them, so that a selection does not change the assignment.
    """
    shared = len(projects) < projects_needed(len(experiments))
    pairs = {
        name: (
            projects[place % len(projects)],
            projects[(place + 1) % len(projects) if shared else -1],
        )
        for place, name in enumerate(experiments)
    }
    return ProjectAssignment(
        projects={name: tuple(dict.fromkeys(pair)) for name, pair in pairs.items()}, shared=shared
    )
