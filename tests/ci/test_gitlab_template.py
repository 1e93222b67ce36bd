"""The job template for GitLab: its scripts run as GitLab Runner runs them, in one shell."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import pytest
import yaml

from hookproof.process.installed_version import installed_version
from tests.ci.workplace import (
    FAULT,
    LIKE_ONE,
    ONE,
    Address,
    job_environment,
    server_address,
    start_command,
    until_nothing_listens,
)
from tests.source_tree import ROOT

pytestmark = pytest.mark.xdist_group("ci_jobs")

TEMPLATE: Final[dict[str, Any]] = yaml.safe_load(
    (ROOT / "ci" / "hookproof.gitlab-ci.yml").read_text("utf-8")
)
JOB: Final[dict[str, Any]] = TEMPLATE[".hookproof"]
DEADLINE_S: Final = 300
INSTALLED: Final = ".hookproof"


class GitLabJob:
    """A job that extends the template, in a project of its own."""

    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        (self.folder / LIKE_ONE).touch()
        self.environment = {**job_environment(folder / "home"), **JOB["variables"], **variables}

    def run(self, *sections: str, interpreter: str = "sh") -> subprocess.CompletedProcess[str]:
        strict = "set -eo pipefail" if interpreter == "bash" else "set -e"
        script = "\n".join([strict, *(line for section in sections for line in JOB[section])])
        return subprocess.run(
            [interpreter, "-c", script],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )

    def cases(self) -> dict[str, list[str]]:
        """The cases of the report that GitLab reads, each with its outcomes."""
        path = self.folder / JOB["artifacts"]["reports"]["junit"]
        root = ET.fromstring(path.read_text("utf-8"))  # noqa: S314
        return {
            case.attrib["name"].split()[0]: [child.tag for child in case]
            for case in root.iter("testcase")
        }


@pytest.fixture(scope="module")
def installed(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the first script of a job installs."""
    folder = tmp_path_factory.mktemp("installing")
    job = GitLabJob(folder, {"HOOKPROOF_SOURCE": checkout.as_uri()})
    done = job.run("before_script")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"hookproof, version {installed_version()}")
    return job.folder / INSTALLED


def job_for(
    folder: Path, installed: Path, *options: str, address: Address | None = None, **variables: str
) -> GitLabJob:
    """A job that starts the reference server with these options, and tests it."""
    address = address or server_address()
    job = GitLabJob(
        folder,
        {
            "HOOKPROOF_START": start_command(address, *options),
            "HOOKPROOF_CA_DIR": "ca",
            "HOOKPROOF_URL": "http://{}:{}".format(*address),
            "HOOKPROOF_PROJECT": "p1",
            "HOOKPROOF_API_KEY": "key-1",
            "HOOKPROOF_PROFILE": "quick",
            "HOOKPROOF_ARGS": ONE,
        }
        | variables,
    )
    (job.folder / INSTALLED).symlink_to(installed)
    return job


def test_a_conforming_server_passes_with_a_report(installed: Path, tmp_path: Path) -> None:
    address = server_address()
    job = job_for(tmp_path, installed, address=address)
    done = job.run("script")
    assert done.returncode == 0, done.stdout + done.stderr
    assert job.cases() == {"5-4": []}
    kept = {path.name for path in (job.folder / JOB["artifacts"]["paths"][0]).iterdir()}
    assert kept >= {"run.jsonl", "report.html", "junit.xml", "server.log"}
    until_nothing_listens(address)


def test_a_server_that_does_not_conform_fails_the_job(installed: Path, tmp_path: Path) -> None:
    job = job_for(tmp_path, installed, "--fault", FAULT)
    done = job.run("script", interpreter="bash")
    assert done.returncode == 1, done.stdout + done.stderr
    assert job.cases() == {"5-4": ["failure"]}


def test_the_exit_code_of_the_check_is_that_of_the_job(installed: Path, tmp_path: Path) -> None:
    job = job_for(tmp_path, installed, HOOKPROOF_START="echo no port; false", HOOKPROOF_WAIT="0.5")
    done = job.run("script")
    assert done.returncode == 4, done.stdout + done.stderr
    log = job.folder / "hookproof-report" / "server.log"
    assert log.read_text("utf-8") == "no port\n"


def test_no_variable_is_read_by_a_shell(installed: Path, tmp_path: Path) -> None:
    harm = "'\"; touch harmed; $(touch harmed) `touch harmed` *"
    settings = ("URL", "ARGS", "PROFILE", "TARGET", "CA_DIR", "WAIT")
    variables = {f"HOOKPROOF_{name}": harm for name in settings}
    job = job_for(tmp_path, installed, HOOKPROOF_START="", **variables)
    assert job.run("script").returncode == 64
    assert not list(job.folder.rglob("harmed"))


def test_a_job_without_a_source_says_what_is_missing(tmp_path: Path) -> None:
    done = GitLabJob(tmp_path, {}).run("before_script")
    assert done.returncode == 64
    assert done.stderr.startswith("HOOKPROOF_SOURCE is empty: ")
    assert done.stderr.count("\n") == 1


def test_the_results_are_kept_however_the_job_ends() -> None:
    assert JOB["artifacts"]["when"] == "always"
    assert list(TEMPLATE) == [".hookproof"]  # a job of its own begins in no pipeline
