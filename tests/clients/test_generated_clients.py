"""Clients that others generate from the two documents are typed throughout, and work."""

import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.clients.tools import PACKAGES, tool
from tests.conformance.reference_server import reference_server
from tests.source_tree import ROOT

HERE: Final = Path(__file__).parent
PROJECT: Final = "p1"
STRICT: Final = ("--strict", "--target", "es2022", "--module", "nodenext")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("server")
    with reference_server(folder, ROOT, PROJECT) as addresses:
        yield addresses


@pytest.fixture(params=["spec", "served"])
def document(request: pytest.FixtureRequest, tmp_path: Path, server: Any) -> Path:
    if request.param == "spec":
        return ROOT / "hookproof" / "spec" / "openapi.yaml"
    path = tmp_path / "served.json"
    path.write_bytes(urllib.request.urlopen(f"{server['api']}/openapi.json").read())
    return path


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_openapi_python_client_types_everything(
    document: Path, tmp_path: Path, server: Any
) -> None:
    generator, python = tool("openapi-python-client"), tool("python")
    (tmp_path / "settings.yaml").write_text("post_hooks: []\n")
    options = ("--config", "settings.yaml", "--meta", "none", "--fail-on-warning")
    place = ("--path", str(document), "--output-path", "generated_client")
    run(tmp_path, generator, "generate", *place, *options)
    script = shutil.copy(HERE / "round_trip.py", tmp_path)
    checker = (sys.executable, "-m", "mypy", "--strict", "--python-executable", python)
    run(tmp_path, *checker, "--follow-imports", "silent", script)
    if document.stem == "served":
        assert run(tmp_path, python, script, server["api"], PROJECT, f"key-{PROJECT}") == "done\n"


def test_openapi_typescript_types_everything(document: Path, tmp_path: Path, server: Any) -> None:
    generator, compiler = tool("openapi-typescript"), tool("tsc")
    (tmp_path / "node_modules").symlink_to(PACKAGES)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    # What has a default may be left out of a request.
    optional = ("--default-non-nullable", "false")
    run(tmp_path, generator, str(document), *optional, "-o", "document.d.ts")
    shutil.copy(HERE / "round_trip.ts", tmp_path)
    run(tmp_path, compiler, *STRICT, "round_trip.ts")
    if document.stem == "served":
        key = f"key-{PROJECT}"
        assert run(tmp_path, "node", "round_trip.js", server["api"], PROJECT, key) == "done\n"
