"""The hooks for pre-commit: which files they take, and what their commands say of them."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.source_tree import ROOT

HOOKS: Final[dict[str, dict[str, Any]]] = {
    hook["id"]: hook
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
}
GOOD: Final = {
    "hookproof-dialect": "extends: undecided\nname: ours\nsummary: Ours.\n",
    "hookproof-target": "base_url: http://127.0.0.1:5005\n"
    'projects: [{id: p1, api_key: "${NOT_SET}"}]\n',
}


def run_hook(identifier: str, *names: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a hook as pre-commit does, with the command of the environment that it has installed."""
    program, *words = shlex.split(HOOKS[identifier]["entry"])
    assert program == "hookproof"
    return subprocess.run(
        [sys.executable, "-m", "hookproof", *words, *names],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("identifier", sorted(HOOKS))
def test_a_hook_has_what_pre_commit_requires(identifier: str) -> None:
    hook = HOOKS[identifier]
    assert hook.keys() == {"id", "name", "description", "entry", "language", "files", "types"}
    assert (hook["language"], hook["types"]) == ("python", ["yaml"])


@pytest.mark.parametrize("identifier", sorted(HOOKS))
@pytest.mark.parametrize("place", ["{}.yaml", "{}.yml", "hookproof/{}.yaml", "ci/our-{}.yaml"])
def test_a_hook_takes_the_files_of_its_kind(identifier: str, place: str) -> None:
    kind = identifier.removeprefix("hookproof-")
    path = place.format(kind)
    taken = [name for name, hook in HOOKS.items() if re.search(hook["files"], path)]
    assert taken == [identifier]


@pytest.mark.parametrize(
    "path", ["targets.yaml", "subtarget.yaml", "target.yaml.j2", "target/a.yaml"]
)
def test_a_hook_takes_no_other_file(path: str) -> None:
    assert not [name for name, hook in HOOKS.items() if re.search(hook["files"], path)]


@pytest.mark.parametrize("identifier", sorted(HOOKS))
def test_a_hook_accepts_good_files_and_refuses_a_bad_one_in_a_line(
    identifier: str, tmp_path: Path
) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(GOOD[identifier])
    done = run_hook(identifier, "a.yaml", "b.yaml", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")

    (tmp_path / "b.yaml").write_text(f"{GOOD[identifier]}nmae: x\n")
    done = run_hook(identifier, "a.yaml", "b.yaml", folder=tmp_path)
    assert done.returncode == 64
    assert re.fullmatch(r"b\.yaml:\d+: .*'?nmae'?.*\n", done.stderr)
