"""Where `make client-tools` installs programs and packages of other projects."""

from typing import Final

import pytest

from tests.source_tree import ROOT

FOLDER: Final = ROOT / ".clients"
PACKAGES: Final = FOLDER / "node_modules"
ADVICE: Final = "run `make client-tools`, which needs a network, Node.js and npm"


def tool(name: str) -> str:
    """The path of a program; a test that asks for one that is not installed is skipped."""
    for folder in (FOLDER / "bin", PACKAGES / ".bin"):
        if (folder / name).exists():
            return str(folder / name)
    pytest.skip(f"{name} is not installed: {ADVICE}")
