"""Which projects of the target each experiment works in.

A broadcast reaches every active endpoint of its project, so experiments disturb one another unless
each has a project of its own. A target with fewer projects is still judged: those that broadcast
much are kept apart from those with many endpoints, so that less is delivered for nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hookproof.conformance.model.experiment_registry import Experiment
from hookproof.conformance.target.definition import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectAssignment:
    """The projects of each experiment by its name; `shared` is whether experiments share them."""

    projects: Mapping[str, tuple[Project, ...]]
    shared: bool


def projects_needed(experiments: int) -> int:
    """One project for each experiment, and one more as the foreign project of all of them."""
    return experiments + 1


def assign_projects(
    projects: Sequence[Project], experiments: Sequence[Experiment]
) -> ProjectAssignment:
    """Assign two different projects to each experiment, or one if there is no other.

    `experiments` are all of them, so that a selection does not change the assignment.
    """
    shared = len(projects) < projects_needed(len(experiments))
    if shared:
        places = _divided(experiments, len(projects))
    else:
        places = {experiment.name: place for place, experiment in enumerate(experiments)}
    pairs = {
        name: (projects[place], projects[(place + 1) % len(projects) if shared else -1])
        for name, place in places.items()
    }
    return ProjectAssignment(
        projects={name: tuple(dict.fromkeys(pair)) for name, pair in pairs.items()}, shared=shared
    )


def _divided(experiments: Sequence[Experiment], count: int) -> dict[str, int]:
    """In which of so many projects each experiment works: where it adds the fewest deliveries of
    one experiment's broadcasts to the endpoints of others, or else where the fewest are.
    """
    endpoints, broadcasts, assigned = [0] * count, [0] * count, [0] * count
    places: dict[str, int] = {}
    heaviest_first = sorted(experiments, key=lambda each: -each.endpoints - each.broadcasts)
    for experiment in heaviest_first:
        added = [
            experiment.endpoints * there + experiment.broadcasts * receiving
            for there, receiving in zip(broadcasts, endpoints, strict=True)
        ]
        *_, place = min(zip(added, assigned, range(count), strict=True))
        places[experiment.name] = place
        endpoints[place] += experiment.endpoints
        broadcasts[place] += experiment.broadcasts
        assigned[place] += 1
    return places
