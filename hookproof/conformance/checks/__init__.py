"""What is judged: one module per subject, each check a sentence bound to requirement ids."""

from hookproof.conformance.model.check_registry import Check, registered_checks
from hookproof.process.submodules import import_all


def all_checks() -> tuple[Check, ...]:
    """Every check of this package and of the subjects, in order of name."""
    import_all(__name__)
    import_all("hookproof.conformance.subjects", "laws")
    return registered_checks()
