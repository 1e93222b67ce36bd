"""Hookproof as users install it: the wheel alone, beside a project that has packages of its own
with the names of our folders.

The environments are cheap: the wheel is installed into a new one, and dependencies are links to
those of the environment that runs the tests.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from hookproof.conformance.generation.generators import KEPT_IN
from tests.source_tree import PACKAGES, ROOT

pytestmark = pytest.mark.xdist_group("installed_wheel")

# What `hookproof[load]` brings and `hookproof` does not.
ONLY_FOR_LOAD: Final = ("locust", "hdrh", "gevent")
TIMEOUT_S: Final = 180
LEADING_BACK: Final = ("PYTHONPATH", KEPT_IN)

TRAP: Final = 'raise ImportError("this package is the project\'s own")\n'
OWN_TEST: Final = """\
import importlib

import pytest


@pytest.mark.parametrize("name", ["spec", "load", "conformance", "receiver", "mockserver"])
def test_the_package_is_the_projects_own(name):
    with pytest.raises(ImportError, match="the project's own"):
        importlib.import_module(name)


def test_nothing_of_hookproof_is_at_the_top():
    import tests

    assert tests.OWN
"""

# Prints how many requests the generator makes of the contract, in the process that it starts.
GENERATING: Final = """\
import asyncio
from hookproof.conformance.generation.generators import RequestGenerators
from hookproof.spec.openapi_document import openapi_document

async def count():
    async with RequestGenerators() as generators:
        requests = generators.requests(openapi_document(), seed=0, examples=1)
        return len([each async for each in requests])

print(asyncio.run(count()))
"""


def tracked_files() -> list[str]:
    """Return the files of the repository that git tracks."""
    outcome = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in outcome.stdout.split("\0") if name and (ROOT / name).exists()]


def run(
    *command: str | Path, cwd: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, without the variables that would lead to the repository."""
    inherited = {name: value for name, value in os.environ.items() if name not in LEADING_BACK}
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**inherited, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def build_wheel(source: Path, folder: Path) -> Path:
    """Build the wheel of a source tree or of an sdist, with the setuptools that is installed."""
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder]
    outcome = run(sys.executable, "-m", "pip", "wheel", *options, source, cwd=folder)
    assert outcome.returncode == 0, outcome.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def files_of(wheel: Path) -> dict[str, bytes]:
    """Return the code and data in a wheel: the contents by name."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            name: archive.read(name)
            for name in archive.namelist()
            if not name.split("/")[0].endswith(".dist-info")
        }


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the files that git knows, and a report of `make check` beside them: nothing of the
    working tree but what git knows gets into a wheel.
    """
    folder = tmp_path_factory.mktemp("checkout")
    for name in tracked_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name, follow_symlinks=False)
    report = folder / "hookproof-report" / "report.json"
    report.parent.mkdir()
    report.write_text("{}")
    return folder


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(checkout, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    code = f"from setuptools.build_meta import build_sdist; build_sdist({str(folder)!r})"
    outcome = run(sys.executable, "-c", code, cwd=checkout)
    assert outcome.returncode == 0, outcome.stderr
    (archive,) = folder.glob("*.tar.gz")
    return archive


class Installation:
    """A virtual environment that holds the wheel, and the project in which it is used.

    It has all dependencies but those that are for load alone, which are in `for_load`.
    """

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.project = _project(folder / "project")
        self.environment = folder / "environment"
        outcome = run(sys.executable, "-m", "venv", "--without-pip", self.environment, cwd=folder)
        assert outcome.returncode == 0, outcome.stderr
        self.python = self.environment / "bin" / "python"
        pip = [sys.executable, "-m", "pip", "--python", self.python]
        outcome = run(*pip, "install", "--no-deps", "--no-index", wheel, cwd=folder)
        assert outcome.returncode == 0, outcome.stderr
        dependencies, self.for_load = _links_to_dependencies(folder)
        (self.site_packages / "dependencies.pth").write_text(f"{dependencies}\n")

    @property
    def site_packages(self) -> Path:
        variables = {"base": str(self.environment), "platbase": str(self.environment)}
        return Path(sysconfig.get_path("purelib", "venv", vars=variables))

    def hookproof(
        self, *arguments: str, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        command = self.environment / "bin" / "hookproof"
        return run(command, *arguments, cwd=self.project, environment=environment)

    def pytest(
        self, *arguments: str, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        command = (self.python, "-m", "pytest", *arguments)
        return run(*command, cwd=self.project, environment=environment)


def _project(folder: Path) -> Path:
    for name in PACKAGES:
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(TRAP)
    (folder / "tests").mkdir()
    (folder / "tests" / "__init__.py").write_text("OWN = True\n")
    (folder / "tests" / "test_own.py").write_text(OWN_TEST)
    return folder


def _links_to_dependencies(folder: Path) -> tuple[Path, Path]:
    """Two folders: of what hookproof needs, and of what it needs for load."""
    always, for_load = folder / "dependencies", folder / "for-load"
    for each in (always, for_load):
        each.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        ours = path.name.startswith(("hookproof", "__editable__")) or path.suffix == ".pth"
        if not ours:
            is_for_load = path.name.removesuffix(".py") in ONLY_FOR_LOAD
            ((for_load if is_for_load else always) / path.name).symlink_to(path)
    return always, for_load


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """`pip install hookproof`."""
    return Installation(tmp_path_factory.mktemp("installed"), wheel)


@pytest.fixture
def installed_with_load(installed: Installation) -> Iterator[Installation]:
    """`pip install 'hookproof[load]'`."""
    further = installed.site_packages / "for-load.pth"
    further.write_text(f"{installed.for_load}\n")
    yield installed
    further.unlink()


@pytest.fixture(params=[{}, {"PYTHONPATH": "."}], ids=["plain", "PYTHONPATH=."])
def environment(request: pytest.FixtureRequest) -> dict[str, str]:
    variables: dict[str, str] = request.param
    return variables


def test_the_wheel_holds_every_file_of_the_packages(wheel: Path) -> None:
    tracked = [name for name in tracked_files() if name.startswith("hookproof/")]
    assert sorted(files_of(wheel)) == sorted(tracked)


def test_the_sdist_holds_the_sources_and_makes_the_same_wheel(
    wheel: Path, sdist: Path, tmp_path: Path
) -> None:
    with tarfile.open(sdist) as archive:
        assert not [member.name for member in archive if member.islnk() or member.issym()]
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", "CHANGELOG.md"} <= names
    assert set(files_of(wheel)) <= names
    assert files_of(build_wheel(sdist, tmp_path)) == files_of(wheel)


def test_one_name_can_be_imported(installed: Installation) -> None:
    (information,) = installed.site_packages.glob("hookproof-*.dist-info")
    entries = {path.name for path in installed.site_packages.iterdir()}
    assert entries == {"hookproof", information.name, "dependencies.pth"}
    assert (information / "top_level.txt").read_text().split() == ["hookproof"]


def test_check_judges_the_embedded_server(
    installed: Installation, environment: dict[str, str]
) -> None:
    # What few experiments exercise: requests, generated sequences of them, and deliveries.
    only = ("--only", "1-1", "--only", "4.2-7", "--only", "4.6-10")
    outcome = installed.hookproof("check", "--profile", "quick", *only, environment=environment)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    report = json.loads((installed.project / "hookproof-report" / "report.json").read_text())
    assert report["verdict"] == "conforms"
    assert (installed.project / "hookproof-report" / "report.html").stat().st_size > 0


def test_schemathesis_generates_requests(
    installed: Installation, environment: dict[str, str]
) -> None:
    outcome = run(
        *(installed.python, "-P", "-c", GENERATING),
        cwd=installed.project,
        environment=environment,
    )
    assert outcome.returncode == 0, outcome.stderr
    assert int(outcome.stdout) > 0


@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("receive",)], ids=lambda c: c[0])
def test_servers_start_and_end_with_their_input(
    installed: Installation, environment: dict[str, str], command: tuple[str, ...]
) -> None:
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with subprocess.Popen(
        [installed.environment / "bin" / "hookproof", *command, "--json", "--until-stdin-closes"],
        cwd=installed.project,
        env={**inherited, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        _, errors = process.communicate(timeout=TIMEOUT_S)  # closes its input
    assert "control" in ready
    assert (process.returncode, errors) == (0, "")


def test_load_measures_the_embedded_server(
    installed_with_load: Installation, environment: dict[str, str]
) -> None:
    rate = ("--rate", "20", "--duration", "1", "--keep-up", "10")
    outcome = installed_with_load.hookproof("load", "smoke", *rate, environment=environment)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "lost 0" in outcome.stdout + outcome.stderr


def test_load_without_its_extra_says_what_to_install(installed: Installation) -> None:
    outcome = installed.hookproof("load", "smoke")
    assert outcome.returncode == 64, outcome.stdout + outcome.stderr
    assert "pip install 'hookproof[load]'" in outcome.stderr


def test_the_projects_own_tests_pass(installed: Installation, environment: dict[str, str]) -> None:
    outcome = installed.pytest("-p", "no:cacheprovider", environment=environment)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "6 passed" in outcome.stdout


def test_the_plugin_judges_beside_the_projects_own_tests(
    installed: Installation, environment: dict[str, str]
) -> None:
    options = ("--hookproof-embedded", "--hookproof-profile", "quick", "-k", "4.7-8 or test_own")
    outcome = installed.pytest("-v", "-p", "no:cacheprovider", *options, environment=environment)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    passed = [line for line in outcome.stdout.splitlines() if "PASSED" in line]
    assert any("test_own.py" in line for line in passed)
    assert any(line.startswith("hookproof::") for line in passed)
