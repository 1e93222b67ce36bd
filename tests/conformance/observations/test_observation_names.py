"""Observations are stored under the name of their class, so no two classes may share one."""

import sys
from collections import Counter
from collections.abc import Iterator

from hookproof.conformance.model.evidence import Observation
from hookproof.conformance.observations import observation_types


def classes(kind: type[Observation] = Observation) -> Iterator[type[Observation]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from classes(subclass)


def test_no_two_classes_of_observation_have_the_same_name() -> None:
    assert observation_types()
    written = {
        (kind.__module__, kind.__name__)
        for kind in classes()
        if getattr(sys.modules[kind.__module__], kind.__name__, None) is kind
    }
    names = Counter(name for _, name in written)
    assert [name for name, count in names.items() if count > 1] == []
