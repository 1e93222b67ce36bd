"""No module is too long to read, and no package is too wide to survey."""

from pathlib import Path
from typing import Final

import pytest

from tests.source_tree import ROOT, source_files

LONGEST_MODULE: Final = 400
MOST_MODULES: Final = 12

# Tables of observations with the judgement expected of each: data, without logic.
TABLES: Final = "examples_*.py"

MODULES: Final = [path for path in source_files() if not path.match(TABLES)]
PACKAGES: Final = sorted({path.parent for path in MODULES if "tests" not in path.parts})


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_a_module_is_not_too_long(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= LONGEST_MODULE


@pytest.mark.parametrize("folder", PACKAGES, ids=relative)
def test_a_package_is_not_too_wide(folder: Path) -> None:
    modules = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= MOST_MODULES
