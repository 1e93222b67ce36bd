from collections.abc import Iterator

import pytest

from tests.quick_start.children import quick_children


@pytest.fixture(autouse=True, scope="module")
def _children_are_forked() -> Iterator[None]:
    """The servers and receivers that tests start by the names that hookproof.testing exports."""
    with quick_children():
        yield
