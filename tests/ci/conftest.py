"""What the jobs of all CI systems have in common."""

from pathlib import Path

import pytest

from tests.ci.workplace import checked_out


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as git has it, from which jobs install it."""
    return checked_out(tmp_path_factory.mktemp("checkout"))
