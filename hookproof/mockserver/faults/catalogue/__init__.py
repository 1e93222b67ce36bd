"""The faults that were written by hand, most of them seen in real services, and the variants."""

from collections.abc import Mapping

from hookproof.mockserver.faults.registry import Fault, registered_faults
from hookproof.process.submodules import import_all


def catalogue() -> Mapping[str, Fault]:
    """Every fault and variant of this package, by name."""
    import_all(__name__)
    return registered_faults()
