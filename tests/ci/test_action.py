"""The composite action, in jobs of its own: its steps run as a runner of GitHub runs them."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from hookproof.process.installed_version import installed_version
from tests.ci.action_runner import EXPRESSION, ActionRun
from tests.ci.workplace import (
    FAULT,
    LIKE_ONE,
    ONE,
    job_environment,
    server_address,
    start_command,
    until_nothing_listens,
)
from tests.source_tree import ROOT

pytestmark = pytest.mark.xdist_group("ci_jobs")

ACTION: Final[dict[str, Any]] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS: Final[list[dict[str, Any]]] = ACTION["runs"]["steps"]
ANNOTATION: Final = re.compile(r"^::error title=(.*?)::", re.MULTILINE)

# Runs the action with these inputs.
Job = Callable[..., ActionRun]


@pytest.fixture(scope="module")
def temp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runner's folder for temporary files, in which the first job installs hookproof."""
    return tmp_path_factory.mktemp("runner")


@pytest.fixture
def job(checkout: Path, temp: Path, tmp_path: Path) -> Job:
    environment = job_environment(tmp_path / "home") | {
        "HOOKPROOF_API_KEY": "key-1",
        "HOOKPROOF_PROJECT": "p1",
    }

    def run(**inputs: str) -> ActionRun:
        workspace = tmp_path / "workspace"
        workspace.mkdir()
        (workspace / LIKE_ONE).touch()
        return ActionRun(
            action=checkout,
            workspace=workspace,
            temp=temp,
            folder=tmp_path,
            environment=environment,
            inputs={name.replace("_", "-"): value for name, value in inputs.items()},
        ).run()

    return run


def test_a_conforming_server_passes_and_leaves_its_results(job: Job) -> None:
    address = server_address()
    done = job(
        url="http://{}:{}".format(*address),
        start=start_command(address),
        ca_dir="ca",
        profile="quick",
        args=ONE,
    )
    assert done.exit_code == 0, done.log
    assert done.outputs == {
        "exit-code": "0",
        "verdict": "conforms",
        "report": "hookproof-report",
        "sarif": "hookproof-report/report.sarif",
        "server-log": "hookproof-report/server.log",
    }
    assert f"version {installed_version()}" in done.log
    assert done.summary.startswith("## CONFORMS")
    assert ANNOTATION.findall(done.log) == []
    kept = {path.name for path in done.artifacts["hookproof-report"].iterdir()}
    assert kept >= {"run.jsonl", "report.html", "junit.xml", "report.sarif", "server.log"}
    until_nothing_listens(address)


def test_a_server_that_does_not_conform_fails_the_job_with_annotations(job: Job) -> None:
    address = server_address()
    done = job(
        url="http://{}:{}".format(*address),
        start=start_command(address, "--fault", FAULT),
        ca_dir="ca",
        profile="quick",
        args=ONE,
        out="results/first",
    )
    assert done.exit_code == 1, done.log
    assert (done.outputs["exit-code"], done.outputs["verdict"]) == ("1", "does_not_conform")
    assert {title.split()[0] for title in ANNOTATION.findall(done.log)} == {"5-4"}
    assert done.summary.startswith("## DOES NOT CONFORM")
    sarif = json.loads((done.workspace / done.outputs["sarif"]).read_text("utf-8"))
    assert {result["ruleId"] for result in sarif["runs"][0]["results"]} == {"5-4"}
    assert (done.artifacts["hookproof-report"] / "report.html").exists()


def test_a_server_that_does_not_start_leaves_its_log_and_an_annotation(job: Job) -> None:
    done = job(
        url="http://{}:{}".format(*server_address()), start="echo no port; false", wait="0.5"
    )
    assert done.exit_code == 4, done.log
    assert (done.outputs["exit-code"], done.outputs["verdict"], done.outputs["sarif"]) == (
        "4",
        "",
        "",
    )
    assert "target unreachable" in done.log
    assert ANNOTATION.findall(done.log) == ["Hookproof"]
    assert done.summary == ""
    log = done.artifacts["hookproof-report"] / "server.log"
    assert log.read_text("utf-8") == "no port\n"


def test_no_input_is_read_by_a_shell(job: Job) -> None:
    harm = "'\"; touch harmed; $(touch harmed) `touch harmed` *"
    done = job(url=harm, args=harm, profile=harm, out=f"out{harm}", ca_dir=f"ca{harm}", target=harm)
    assert done.exit_code == 64, done.log
    assert not list(done.workspace.rglob("harmed"))


def test_what_the_server_says_is_no_command_to_the_runner(job: Job) -> None:
    done = job(url="http://{}:{}".format(*server_address()), wait="0", artifact="")
    assert done.exit_code == 4
    assert done.artifacts == {}
    (token,) = re.findall(r"^::stop-commands::([0-9a-f]{32})$", done.log, re.MULTILINE)
    before, after = done.log.split(f"::{token}::\n")
    assert "target unreachable" in before.split("::stop-commands::")[1]
    assert "::error title=Hookproof::" in after


def test_the_shell_text_of_a_step_holds_no_expression() -> None:
    scripts = [step["run"] for step in STEPS if "run" in step]
    assert scripts
    assert [script for script in scripts if EXPRESSION.search(script)] == []


def test_every_input_and_output_is_described_and_every_input_is_used() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    for name, described in {**ACTION["inputs"], **ACTION["outputs"]}.items():
        assert described["description"].endswith("."), name
    used = set(re.findall(r"inputs\.([a-z-]+)", text))
    assert used == set(ACTION["inputs"])


def test_actions_of_others_have_a_version() -> None:
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert used
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", name) for name in used)
