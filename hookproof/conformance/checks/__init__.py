"""What the laws of several subjects judge with, and the registry of all checks."""

from hookproof.conformance.model.check_registry import Check, registered_checks
from hookproof.process.submodules import import_all


def all_checks() -> tuple[Check, ...]:
    """Every check of the subjects, in order of name."""
    import_all("hookproof.conformance.subjects", "laws")
    return registered_checks()
