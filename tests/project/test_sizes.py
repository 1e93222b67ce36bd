"""No module is too long to read, and no package is too wide to survey."""

from pathlib import Path
from typing import Final

from tests.source_tree import ROOT, source_files

LONGEST_MODULE: Final = 600
MOST_MODULES: Final = 20

# Tables of observations with the judgement expected of each: data, without logic.
TABLES: Final = "examples_*.py"

MODULES: Final = [path for path in source_files() if not path.match(TABLES)]
PACKAGES: Final = sorted(
    {path.parent for path in MODULES if "tests" not in path.relative_to(ROOT).parts}
)


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_no_module_is_too_long() -> None:
    lines = {relative(path): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert lines
    assert {name: count for name, count in lines.items() if count > LONGEST_MODULE} == {}


def test_no_package_is_too_wide() -> None:
    modules = {
        relative(folder): [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
        for folder in PACKAGES
    }
    assert modules
    assert {name: found for name, found in modules.items() if len(found) > MOST_MODULES} == {}
