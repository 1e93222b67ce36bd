"""Runs a composite action, as far as this project's needs it: see "Metadata syntax" in the
documentation of GitHub Actions.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

EXPRESSION: Final = re.compile(r"\$\{\{ *(.*?) *\}\}")
COMPARISON: Final = re.compile(r"(\S+) (==|!=) '([^']*)'")
# How GitHub starts the script of a step with `shell: bash`.
BASH: Final = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
DEADLINE_S: Final = 300

Values = Mapping[str, Any]


@dataclass(kw_only=True)
class ActionRun:
    """One use of the action in a job; `run` fills what it leaves.

    `temp` is the runner's folder for temporary files, `folder` that of this use.
    """

    action: Path
    workspace: Path
    temp: Path
    folder: Path
    environment: Mapping[str, str]
    inputs: Mapping[str, str]
    exit_code: int = 0
    log: str = ""
    summary: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    artifacts: dict[str, Path] = field(default_factory=dict)
    steps: dict[str, Any] = field(default_factory=dict)

    def run(self) -> "ActionRun":
        described = yaml.safe_load((self.action / "action.yml").read_text("utf-8"))
        known = described["inputs"]
        assert set(self.inputs) <= set(known), "a runner only warns of an input that is not known"
        self.inputs = {name: each["default"] for name, each in known.items()} | dict(self.inputs)
        for step in described["runs"]["steps"]:
            if self._is_due(step.get("if", "success()")):
                self._run_step(step)
        self.outputs = {
            name: self._filled(each["value"]) for name, each in described["outputs"].items()
        }
        return self

    def _run_step(self, step: Values) -> None:
        outputs = self._run_script(step) if "run" in step else self._use(step)
        if "id" in step:
            self.steps[step["id"]] = {"outputs": outputs}

    def _run_script(self, step: Values) -> dict[str, str]:
        assert step["shell"] == "bash"
        files = {name: self.folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.write_text("")
        script = self.folder / "script.sh"
        script.write_text(self._filled(step["run"]), "utf-8")
        step_variables = {name: self._filled(value) for name, value in step.get("env", {}).items()}
        outcome = subprocess.run(
            [*BASH, str(script)],
            cwd=self.workspace,
            env={**self.environment, **{name: str(path) for name, path in files.items()}}
            | step_variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        self.log += outcome.stdout
        self.exit_code = self.exit_code or outcome.returncode
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text("utf-8")
        pairs = files["GITHUB_OUTPUT"].read_text("utf-8").splitlines()
        return dict(pair.split("=", 1) for pair in pairs)

    def _use(self, step: Values) -> dict[str, str]:
        name = step["uses"].partition("@")[0]
        inputs = {key: self._filled(str(value)) for key, value in step["with"].items()}
        return USED[name](self, inputs)

    def set_up_python(self, inputs: Mapping[str, str]) -> dict[str, str]:
        assert inputs.keys() == {"python-version", "update-environment"}
        assert inputs["update-environment"] == "False", "the job keeps its own Python"
        return {"python-path": sys.executable}

    def upload_artifact(self, inputs: Mapping[str, str]) -> dict[str, str]:
        kept = self.folder / "artifacts" / inputs["name"]
        path = self.workspace / inputs["path"]
        if path.exists():
            shutil.copytree(path, kept)
            self.artifacts[inputs["name"]] = kept
        return {}

    def _is_due(self, condition: str) -> bool:
        parts = condition.split(" && ")
        if not self.exit_code or "always()" in parts:
            return all(self._holds(part) for part in parts)
        return False

    def _holds(self, condition: str) -> bool:
        if condition in {"always()", "success()"}:
            return True
        match = COMPARISON.fullmatch(condition)
        assert match is not None, condition
        return (self._value(match[1]) == match[3]) == (match[2] == "==")

    def _filled(self, text: str) -> str:
        return EXPRESSION.sub(lambda match: self._value(match[1]), text)

    def _value(self, name: str) -> str:
        """The value of a context; that of a step that did not run is empty."""
        context, *rest = name.split(".")
        contexts: dict[str, Any] = {
            "inputs": self.inputs,
            "steps": self.steps,
            "github": {"action_path": str(self.action)},
            "runner": {"temp": str(self.temp)},
        }
        value = contexts[context]
        for key in rest:
            value = value.get(key, {}) if context == "steps" else value[key]
        return value if isinstance(value, str) else ""


USED: Final[Mapping[str, Callable[[ActionRun, Mapping[str, str]], dict[str, str]]]] = {
    "actions/setup-python": ActionRun.set_up_python,
    "actions/upload-artifact": ActionRun.upload_artifact,
}
