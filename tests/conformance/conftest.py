from collections.abc import Iterator

import pytest

from hookproof.conformance.generation.generators import KEPT_IN


@pytest.fixture(scope="module")
def nothing_kept() -> Iterator[None]:
    """Generators run, whatever they wrote before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(KEPT_IN, raising=False)
        yield
