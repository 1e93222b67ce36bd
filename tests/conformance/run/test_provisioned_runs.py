"""Whole runs against servers that need a hook: they have no portal links, and deliver only to
endpoints with a subscription.
"""

from pathlib import Path

from tests.conformance.bare_server import HOOKS, bare_server
from tests.conformance.command import CommandResult, check, reported_requirements
from tests.conformance.reference_server import write_target_file


def run_check(folder: Path, url: str, **further: object) -> CommandResult:
    write_target_file(folder, url, "p1", **further)
    names = ("1-1", "4.4-8", "4.5-1", "4.7-9", "2.6-2")
    only = [word for name in names for word in ("--only", name)]
    return check(folder, "--target", "target.yaml", "--profile", "quick", *only)


def verdicts(folder: Path) -> dict[str, str]:
    requirements = reported_requirements(folder)
    return {name: requirement["verdict"] for name, requirement in requirements.items()}


def test_hooks_make_requirements_testable_that_are_not_exercised_without_them(
    tmp_path: Path,
) -> None:
    (tmp_path / "hooks.py").write_text(HOOKS)
    with bare_server(tmp_path) as url:
        without = run_check(tmp_path, url, budgets={"delivery_s": 3})
        assert without.code == 1, without.out
        assert verdicts(tmp_path) == {
            "1-1": "fail",
            "4.4-8": "not_exercised",
            "4.5-1": "not_exercised",
            "4.7-9": "not_exercised",
            "2.6-2": "not_exercised",
        }
        assert "give target.yaml a provision hook create_portal_link" in without.out
        done = run_check(tmp_path, url, provision="./hooks.py:Provisioner")
    assert done.code == 0, done.out
    assert set(verdicts(tmp_path).values()) == {"pass"}


def test_a_hook_that_fails_is_an_error_of_what_needs_it_alone(tmp_path: Path) -> None:
    broken = HOOKS.replace(
        "def create_source(self, project, source):",
        "def create_source(self, project, source):\n        1 / 0\n",
    )
    (tmp_path / "hooks.py").write_text(broken)
    with bare_server(tmp_path) as url:
        done = run_check(tmp_path, url, provision="./hooks.py:Provisioner")
    assert done.code == 70, done.out
    judged = verdicts(tmp_path)
    assert (judged["4.7-9"], judged["1-1"], judged["2.6-2"]) == ("error", "pass", "pass")
    assert (
        "the provision hook create_source failed: ZeroDivisionError: division by zero" in done.out
    )
