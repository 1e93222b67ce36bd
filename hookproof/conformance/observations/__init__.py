"""What experiments of several subjects see, and how to read it; the registry of observations."""

import sys
from collections.abc import Iterator, Mapping
from functools import cache

from hookproof.conformance.model.evidence import Observation
from hookproof.process.submodules import import_all


@cache
def observation_types() -> Mapping[str, type[Observation]]:
    """Every class of observation, by name."""
    import_all(__name__)
    import_all("hookproof.conformance.subjects", "evidence")
    return {kind.__name__: kind for kind in _subclasses(Observation)}


def _subclasses(kind: type[Observation]) -> Iterator[type[Observation]]:
    # `dataclass(slots=True)` replaces the class, and the original may still be listed: the class in
    # the module is the right one.
    for subclass in kind.__subclasses__():
        if getattr(sys.modules[subclass.__module__], subclass.__name__, None) is subclass:
            yield subclass
            yield from _subclasses(subclass)
