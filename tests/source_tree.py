"""Where the sources are, and copies of them that a test may break."""

import shutil
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGES: Final = ("spec", "mockserver", "receiver", "conformance", "load")


def copied_sources(folder: Path) -> Path:
    """Copy the packages, the links to them and pyproject.toml into `folder`, and return it."""
    ignore = shutil.ignore_patterns("__pycache__")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=ignore)
    shutil.copytree(ROOT / "hookproof", folder / "hookproof", symlinks=True, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder
