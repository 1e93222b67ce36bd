"""What a run is to gather, and the types of the work that it does at the target."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.model.experiment_registry import Experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.target.definition import Project, Target
from hookproof.conformance.target.environment import Embedded
from hookproof.spec.contract.service_contract import Contract
from hookproof.spec.dialect.model import Dialect

ContextFactory = Callable[[Project], ExperimentContext]

# Work at the target once all experiments have ended.
FollowUp = Callable[[ContextFactory], Coroutine[Any, Any, None]]

# About how many requests a run of all experiments sends.
REQUESTS: Final = {Profile.QUICK: 2800, Profile.STANDARD: 5200, Profile.DEEP: 9000}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """The experiments of a run, out of all that are registered (`every_experiment`).

    `nonce` goes into the names of resources, so that a run does not mistake what an earlier one
    created for its own.
    """

    subject: Target | Embedded
    experiments: Sequence[Experiment]
    every_experiment: Sequence[Experiment]
    dialect: Dialect
    contract: Contract
    profile: Profile
    seed: int
    nonce: str

    @property
    def part(self) -> float:
        return len(self.experiments) / len(self.every_experiment)

    @property
    def requests(self) -> float:
        return self.part * REQUESTS[self.profile]

    @property
    def generates(self) -> bool:
        return any(experiment.generates for experiment in self.experiments)
