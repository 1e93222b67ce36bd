"""What a pytest run of a user loads because hookproof is installed: next to nothing.

Other plugins are switched off, since schemathesis and locust have pytest plugins of their own,
which would load what is counted here.
"""

import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

import pytest

HEAVY: Final = ("schemathesis", "hypothesis", "locust", "gevent", "aiohttp", "jsonschema", "yaml")

# The module of the entry point and the packages above it. Each further module delays the start of
# every pytest run on the machine, whether it uses hookproof or not.
MOST_MODULES: Final = 4

RUN: Final = """\
import json, pathlib, sys, pytest
code = pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[2:]])
pathlib.Path(sys.argv[1]).write_text(json.dumps(sorted(sys.modules)))
sys.exit(code)
"""


def modules_of_a_run(folder: Path, *options: str) -> frozenset[str]:
    """Return the modules that a pytest run of one empty test has loaded at its end."""
    (folder / "test_empty.py").write_text("def test_empty():\n    pass\n")
    modules_file = folder / "modules.json"
    others = [
        plugin.name for plugin in entry_points(group="pytest11") if plugin.name != "hookproof"
    ]
    switches = [word for name in others for word in ("-p", f"no:{name}")]
    outcome = subprocess.run(
        [sys.executable, "-c", RUN, str(modules_file), *switches, *options],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return frozenset(json.loads(modules_file.read_text()))


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """The modules that are loaded with the plugin and not without it."""
    folder = tmp_path_factory.mktemp("user")
    return modules_of_a_run(folder) - modules_of_a_run(folder, "-p", "no:hookproof")


def test_the_plugin_loads_its_entry_point_alone(added: frozenset[str]) -> None:
    assert added, "the plugin was not loaded at all"
    assert len(added) <= MOST_MODULES, sorted(added)


def test_the_plugin_loads_nothing_heavy(added: frozenset[str]) -> None:
    assert [name for name in added if name.split(".")[0] in HEAVY] == []
