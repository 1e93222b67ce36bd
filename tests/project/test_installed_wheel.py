"""Hookproof as users install it: the wheel with each extra, beside a project that has packages of
its own with the names of our folders.

The environments are cheap: the wheel is installed into a new one, and what it and the extras need
are links to distributions of the environment that runs the tests, and to no others.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path
from typing import Any, Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from hookproof.cli import NEEDED_EXTRAS, SUBCOMMANDS
from hookproof.conformance.generation.generators import KEPT_IN
from hookproof.process.extras import EXTRAS
from tests.source_tree import PACKAGES, ROOT

pytestmark = pytest.mark.xdist_group("installed_wheel")

# What is in no environment without the extras, beside the modules that they are told by.
ONLY_IN_EXTRAS: Final = frozenset({"gevent", "pytest", "xdist", "swagger_ui"}).union(
    *EXTRAS.values()
)
TIMEOUT_S: Final = 180
# The packages of the user's project come before all others, in what a command starts as well.
IN_THE_WAY: Final = {"PYTHONPATH": "."}
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


def test_a_fixture_receives(webhook_receiver, webhook_service):
    assert webhook_receiver.url.startswith("https://")
    assert webhook_service.url.startswith("http://")
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


def build_sdist(source: Path, folder: Path) -> Path:
    """Build the sdist of a source tree, with the setuptools that is installed."""
    code = f"from setuptools.build_meta import build_sdist; build_sdist({str(folder)!r})"
    outcome = run(sys.executable, "-c", code, cwd=source)
    assert outcome.returncode == 0, outcome.stderr
    (archive,) = folder.glob("*.tar.gz")
    return archive


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
    return build_sdist(checkout, tmp_path_factory.mktemp("sdist"))


class Installation:
    """A virtual environment with `pip install 'hookproof[extra]'`, and the project in which it is
    used. `further` names distributions that its user has installed as well.
    """

    def __init__(self, folder: Path, wheel: Path, extra: str = "", *further: str) -> None:
        self.project = _project(folder / "project")
        self.environment = folder / "environment"
        outcome = run(sys.executable, "-m", "venv", "--without-pip", self.environment, cwd=folder)
        assert outcome.returncode == 0, outcome.stderr
        self.python = self.environment / "bin" / "python"
        outcome = self.pip("install", "--no-deps", "--no-index", wheel)
        assert outcome.returncode == 0, outcome.stderr
        (hookproof,) = distributions(name="hookproof", path=[str(self.site_packages)])
        needed = _needed_distributions(hookproof, extra)
        for each in needed + [other for name in further for other in _with_needed(name)]:
            _link(each, self.site_packages)

    @property
    def site_packages(self) -> Path:
        variables = {"base": str(self.environment), "platbase": str(self.environment)}
        return Path(sysconfig.get_path("purelib", "venv", vars=variables))

    def pip(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        pip = (sys.executable, "-m", "pip", "--python", self.python)
        return run(*pip, *arguments, cwd=self.project)

    def hookproof(
        self, *arguments: str | Path, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        command = self.environment / "bin" / "hookproof"
        variables = {**IN_THE_WAY, **(environment or {})}
        return run(command, *arguments, cwd=self.project, environment=variables)

    def pytest(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = (self.python, "-m", "pytest", *arguments)
        return run(*command, cwd=self.project, environment=IN_THE_WAY)

    @contextmanager
    def server(self, *command: str) -> Iterator[dict[str, Any]]:
        """What a server prints as it is ready; it has to end with its input."""
        with subprocess.Popen(
            [self.environment / "bin" / "hookproof", *command, "--json", "--until-stdin-closes"],
            cwd=self.project,
            env={**os.environ, **IN_THE_WAY},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())
            _, errors = process.communicate(timeout=TIMEOUT_S)  # closes its input
        assert process.returncode == 0, errors


def _project(folder: Path) -> Path:
    for name in PACKAGES:
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(TRAP)
    (folder / "tests").mkdir()
    (folder / "tests" / "__init__.py").write_text("OWN = True\n")
    (folder / "tests" / "test_own.py").write_text(OWN_TEST)
    return folder


def _needed_distributions(of: Distribution, *extras: str) -> list[Distribution]:
    """The distributions that one needs with these extras, and those that they need."""
    found: dict[tuple[str, str], Distribution] = {}
    waiting = [(of, extra) for extra in {"", *extras}]
    while waiting:
        needing, extra = waiting.pop()
        for requirement in map(Requirement, needing.requires or ()):
            if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
                continue
            name = canonicalize_name(requirement.name)
            needed = of if name == "hookproof" else distribution(name)
            for each in {"", *requirement.extras} - {
                known[1] for known in found if known[0] == name
            }:
                found[name, each] = needed
                waiting.append((needed, each))
    return [each for (name, extra), each in found.items() if name != "hookproof" and not extra]


def _with_needed(name: str) -> list[Distribution]:
    return [distribution(name), *_needed_distributions(distribution(name))]


def _link(linked: Distribution, folder: Path) -> None:
    """Link what a distribution has in the folder of packages, its metadata as well."""
    for name in {file.parts[0] for file in linked.files or ()} - {"..", "__pycache__"}:
        place = folder / name
        if not place.is_symlink():
            place.symlink_to(linked.locate_file(name))


@pytest.fixture(scope="module")
def installation(
    wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Installation]:
    """Makes the environment for an extra, once for all tests."""
    made: dict[tuple[str, ...], Installation] = {}

    def installation_with(*extra_and_further: str) -> Installation:
        if extra_and_further not in made:
            folder = tmp_path_factory.mktemp("installed")
            made[extra_and_further] = Installation(folder, wheel, *extra_and_further)
        return made[extra_and_further]

    return installation_with


@pytest.fixture
def bare(installation: Callable[..., Installation]) -> Installation:
    """`pip install hookproof`, in an environment whose tests are run by pytest."""
    return installation("", "pytest")


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


def test_an_index_takes_the_archives_and_shows_no_link_that_leads_nowhere(
    wheel: Path, sdist: Path, installation: Callable[..., Installation]
) -> None:
    outcome = run(
        sys.executable, "-m", "twine", "check", "--strict", wheel, sdist, cwd=wheel.parent
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    (hookproof,) = distributions(name="hookproof", path=[str(installation("").site_packages)])
    text = str(hookproof.metadata)
    assert text.count("\n## ") == (ROOT / "README.md").read_text().count("\n## ")
    assert re.findall(r"\]\((?!https?://|#)[^)]*\)", text) == []


def test_one_name_can_be_imported(bare: Installation) -> None:
    (information,) = bare.site_packages.glob("hookproof-*.dist-info")
    own = {path.name for path in bare.site_packages.iterdir() if not path.is_symlink()}
    assert own == {"hookproof", information.name}
    assert (information / "top_level.txt").read_text().split() == ["hookproof"]


@pytest.mark.parametrize("extra", ["", "check", "load", "mcp", "pytest", "all"])
def test_an_environment_has_what_the_extra_says(
    extra: str, installation: Callable[..., Installation]
) -> None:
    installed = installation(extra)
    outcome = installed.pip("check")
    assert outcome.returncode == 0, outcome.stdout
    there = {path.name.removesuffix(".py") for path in installed.site_packages.iterdir()}
    expected = {
        "": set(),
        "all": ONLY_IN_EXTRAS - {"xdist", "swagger_ui"},
        "mcp": {"mcp", *EXTRAS["check"]},
        "pytest": {"pytest", *EXTRAS["check"]},
    }
    brought = expected.get(extra, set(EXTRAS.get(extra, ())))
    assert there & ONLY_IN_EXTRAS >= brought
    assert extra or not there & ONLY_IN_EXTRAS


@pytest.mark.parametrize("command", sorted(SUBCOMMANDS))
def test_a_command_runs_or_says_in_one_line_what_to_install(
    command: str, bare: Installation, wheel: Path
) -> None:
    outcome = bare.hookproof(command, "--help")
    if extra := NEEDED_EXTRAS.get(command):
        needs = f"hookproof: `hookproof {command}` needs packages that are not installed: "
        assert outcome.returncode == 64
        assert outcome.stderr == f"{needs}pip install '{wheel}[{extra}]'\n"
    else:
        assert outcome.returncode == 0, outcome.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "4.3-1"),
        ("explain",),
        ("dialect", "show", "reference"),
        ("schema", "target"),
        ("schema", "openapi"),
        ("schema", "schemathesis"),
        ("vectors",),
        ("scheme", "list"),
        ("completion", "bash"),
        ("ca", "made"),
    ],
    ids=" ".join,
)
def test_commands_that_call_nobody_work(arguments: tuple[str, ...], bare: Installation) -> None:
    outcome = bare.hookproof(*arguments)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout


def test_a_receiver_that_is_to_accept_mail_says_what_to_install(
    bare: Installation, wheel: Path
) -> None:
    outcome = bare.hookproof("receive", "--mail", "127.0.0.1:0")
    assert outcome.returncode == 64
    assert outcome.stderr.endswith(f": pip install '{wheel}[check]'\n")


def test_events_are_sent_received_and_verified(bare: Installation, tmp_path: Path) -> None:
    body, secret = tmp_path / "event.json", {"HOOKPROOF_SECRET": "a secret"}
    body.write_text('{"order": 7}')
    with bare.server("receive", "--http", "--bind", "127.0.0.1:0") as receiver:
        url, signed = f"{receiver['url']}/hooks", ("--scheme", "slack", "--body", body)
        sent = bare.hookproof("send", url, *signed, environment=secret)
        assert sent.returncode == 0, sent.stdout + sent.stderr
        judged = bare.hookproof("check-consumer", url, *signed, environment=secret)
    assert "ok    takes-right" in judged.stdout, judged.stderr
    headers = bare.hookproof("sign", *signed, environment=secret)
    (tmp_path / "headers").write_text(headers.stdout)
    given = ("--header", f"@{tmp_path / 'headers'}")
    verified = bare.hookproof("verify", *signed, *given, environment=secret)
    assert verified.returncode == 0, verified.stdout + verified.stderr


@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("receive",)], ids=lambda c: c[0])
def test_servers_start_and_end_with_their_input(
    bare: Installation, command: tuple[str, ...]
) -> None:
    with bare.server(*command) as ready:
        assert "control" in ready


def test_check_judges_the_embedded_server_and_the_run_is_read_without_it(
    installation: Callable[..., Installation], bare: Installation
) -> None:
    # What few experiments exercise: requests, generated sequences of them, and deliveries.
    only = ("--only", "1-1", "--only", "4.2-7", "--only", "4.6-10")
    installed = installation("check")
    outcome = installed.hookproof("check", "--profile", "quick", *only)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    folder = installed.project / "hookproof-report"
    assert json.loads((folder / "report.json").read_text())["verdict"] == "conforms"
    assert (folder / "report.html").stat().st_size > 0
    commands = (
        ("report", folder, "--format", "junit"),
        ("regrade", folder, "--out", "again"),
        ("compare", folder, folder),
    )
    for command in commands:
        outcome = bare.hookproof(*command)
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_schemathesis_generates_requests(installation: Callable[..., Installation]) -> None:
    installed = installation("check")
    outcome = run(
        *(installed.python, "-P", "-c", GENERATING),
        cwd=installed.project,
        environment=IN_THE_WAY,
    )
    assert outcome.returncode == 0, outcome.stderr
    assert int(outcome.stdout) > 0


def test_load_measures_the_embedded_server(installation: Callable[..., Installation]) -> None:
    rate = ("--rate", "20", "--duration", "1", "--keep-up", "10")
    outcome = installation("load").hookproof("load", "smoke", *rate)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "lost 0" in outcome.stdout + outcome.stderr


def test_the_projects_own_tests_pass_with_our_fixtures(bare: Installation) -> None:
    outcome = bare.pytest("-p", "no:cacheprovider")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "7 passed" in outcome.stdout


def test_the_plugin_says_what_to_install_to_judge(bare: Installation, wheel: Path) -> None:
    outcome = bare.pytest("--hookproof-embedded")
    assert outcome.returncode == pytest.ExitCode.USAGE_ERROR
    assert outcome.stderr.count("\n") <= 2
    assert f"pip install '{wheel}[pytest]'" in outcome.stderr


@pytest.mark.parametrize("extra", ["pytest", "all"])
def test_the_plugin_judges_beside_the_projects_own_tests(
    extra: str, installation: Callable[..., Installation]
) -> None:
    options = ("--hookproof-embedded", "--hookproof-profile", "quick", "-k", "4.7-8 or test_own")
    outcome = installation(extra).pytest("-v", "-p", "no:cacheprovider", *options)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    passed = [line for line in outcome.stdout.splitlines() if "PASSED" in line]
    assert any("test_own.py" in line for line in passed)
    assert any(line.startswith("hookproof::") for line in passed)
