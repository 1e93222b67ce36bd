"""Every class of the project has a name of its own, so that a search finds one definition."""

import ast
from collections import defaultdict

from tests.source_tree import ROOT, source_files

# Written as if this project did not exist.
SERVICES_OF_STRANGERS = ROOT / "tests" / "strangers" / "ledgerline"


def class_definitions() -> dict[str, list[str]]:
    """Return where each class of the project is defined, by its name."""
    places = defaultdict(list)
    for path in source_files():
        if path.is_relative_to(SERVICES_OF_STRANGERS):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    return places


def test_no_two_classes_share_a_name() -> None:
    shared = {name: places for name, places in class_definitions().items() if len(places) > 1}
    assert shared == {}
