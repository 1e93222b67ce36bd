"""What the experiments of several subjects call a target with, and the registry of all of them.

Each experiment calls the target and yields evidence; none of them judges.
"""

from hookproof.conformance.model.experiment_registry import Experiment, registered_experiments
from hookproof.process.submodules import import_all


def all_experiments() -> tuple[Experiment, ...]:
    """Every experiment of the subjects, in order of name."""
    import_all("hookproof.conformance.subjects", "experiment")
    return registered_experiments()
