from collections.abc import Iterator

import pytest

from hookproof.conformance.generation.generators import KEPT_IN
from tests.quick_start.children import quick_children


@pytest.fixture(autouse=True, scope="module")
def _children_are_forked() -> Iterator[None]:
    """The embedded servers and receivers of runs that are made in the process of the tests."""
    with quick_children():
        yield


@pytest.fixture(scope="module")
def nothing_kept() -> Iterator[None]:
    """Generators run, whatever they wrote before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(KEPT_IN, raising=False)
        yield
