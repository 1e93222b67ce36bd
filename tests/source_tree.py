"""Where the sources are, and copies of them that a test may break."""

import shutil
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
# Links at the top lead to these packages in hookproof/.
PACKAGES: Final = ("spec", "mockserver", "receiver", "conformance", "load")


def source_files() -> list[Path]:
    """Return the project's Python files, tests included, each once."""
    folders = ("hookproof", "docs/site", "tests")
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def copied_sources(folder: Path) -> Path:
    """Copy the sources, the links to them and pyproject.toml into `folder`, and return it.

    Bytecode comes along, which Python uses for the modules that are not changed after that.
    """
    ignore = shutil.ignore_patterns("*.pyc.*")  # bytecode that another process is writing
    shutil.copytree(ROOT / "hookproof", folder / "hookproof", ignore=ignore)
    for package in PACKAGES:
        (folder / package).symlink_to(Path("hookproof") / package)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder
