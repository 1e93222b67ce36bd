"""The registry of experiments: which there are, and what each observes.

@experiment("rate_limit", observes=(RateLimitBurst,))
async def rate_limit(context: ExperimentContext) -> AsyncIterator[Evidence]: ...
"""

import importlib
import pkgutil
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.evidence import Evidence, Observation
from hookproof.conformance.model.profile import Profile

Gather = Callable[[Any], AsyncIterator[Evidence]]
_Gather = TypeVar("_Gather", bound=Gather)


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One experiment, the classes that it observes, and the lightest profile that runs it.

    An experiment that is `alone` shares its project with no other at the same time; it may run
    after all others. An experiment that is `busy` never waits, so that it may as well run later.
    """

    name: str
    gather: Gather
    observes: tuple[type[Observation], ...]
    profile: Profile
    alone: bool
    busy: bool


_experiments: dict[str, Experiment] = {}


def experiment(
    name: str,
    *,
    observes: Sequence[type[Observation]] = (),
    profile: Profile = Profile.QUICK,
    alone: bool = False,
    busy: bool = False,
) -> Callable[[_Gather], _Gather]:
    """Register an async generator function as the experiment of this name.

    Without `observes` it only gathers exchanges, for the oracles.
    """

    def register(gather: _Gather) -> _Gather:
        if name in _experiments:
            raise ValueError(f"two experiments are named {name}")
        _experiments[name] = Experiment(
            name=name,
            gather=gather,
            observes=tuple(observes),
            profile=profile,
            alone=alone,
            busy=busy,
        )
        return gather

    return register


def all_experiments() -> tuple[Experiment, ...]:
    """Every experiment of the modules in hookproof.conformance.experiments, in order of name."""
    package = importlib.import_module("hookproof.conformance.experiments")
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    return tuple(_experiments[name] for name in sorted(_experiments))


def experiments_of(check: Check, experiments: Sequence[Experiment]) -> tuple[str, ...]:
    """The names of the experiments whose observations a check judges."""
    return tuple(
        experiment.name
        for experiment in experiments
        if check.is_oracle or any(map(check.judges, experiment.observes))
    )
