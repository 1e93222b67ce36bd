"""Whole runs against servers that need a hook: they have no portal links, and deliver only to
endpoints with a subscription.
"""

import json
from pathlib import Path

from hookproof.target.hooks.provision import LONGEST_QUOTED
from tests.conformance.bare_server import HOOKS, bare_server
from tests.conformance.command import CommandResult, check, reported_requirements, run_command
from tests.conformance.reference_server import write_target_file
from tests.conformance.scripted_target import response, stand_in


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


def test_a_hook_that_fails_is_the_users_and_keeps_what_needs_it_from_being_judged(
    tmp_path: Path,
) -> None:
    broken = HOOKS.replace(
        "def create_source(self, project, source):",
        "def create_source(self, project, source):\n        1 / 0\n",
    )
    (tmp_path / "hooks.py").write_text(broken)
    with bare_server(tmp_path) as url:
        done = run_check(tmp_path, url, provision="./hooks.py:Provisioner")
    assert done.code == 3, done.out
    judged = verdicts(tmp_path)
    assert (judged["4.7-9"], judged["1-1"], judged["2.6-2"]) == ("not_exercised", "pass", "pass")
    what = "create_source failed: ZeroDivisionError: division by zero (hooks.py, line "
    assert done.out.count(f"Your provision hook {what}") == 1
    (failure,) = json.loads((tmp_path / "hookproof-report" / "report.json").read_text())[
        "hook_failures"
    ]
    assert failure.startswith(what)
    assert "hookproof itself" not in done.out


def test_an_endpoint_whose_hook_fails_convicts_nobody(tmp_path: Path) -> None:
    broken = HOOKS.replace(
        "def after_endpoint_created(self, project, endpoint):",
        "def after_endpoint_created(self, project, endpoint):\n        return {}['subscription']\n",
    )
    assert broken != HOOKS
    (tmp_path / "hooks.py").write_text(broken)
    with bare_server(tmp_path) as url:
        done = run_check(tmp_path, url, provision="./hooks.py:Provisioner")
    assert done.code == 3, done.out
    judged = verdicts(tmp_path)
    assert (judged["1-1"], judged["4.7-9"], judged["4.5-1"]) == ("not_exercised", "pass", "pass")
    assert "after_endpoint_created failed" in done.out
    assert "KeyError: 'subscription' (hooks.py, line " in done.out


def test_a_hook_without_which_nothing_can_begin_ends_the_run_with_64(tmp_path: Path) -> None:
    (tmp_path / "hooks.py").write_text(
        "class Provisioner:\n    def fresh_project(self):\n        raise LookupError('no quota')\n"
    )
    with bare_server(tmp_path) as url:
        done = run_check(tmp_path, url, provision="./hooks.py:Provisioner")
    assert done.code == 64
    *others, said = done.err.splitlines()
    assert others == [line for line in others if "as --only is given" in line]
    assert said == (
        "hookproof check: the provision hook fresh_project failed:"
        " LookupError: no quota (hooks.py, line 3)"
    )


def test_no_report_shows_the_beginning_of_a_credential_at_the_cut_of_an_answer(
    tmp_path: Path,
) -> None:
    key, shown = "key-p1", 4
    # As a word of its own, since the beginning of a longer one is not masked where it is short.
    answer = "x" * (LONGEST_QUOTED - shown - 1) + f" {key}"
    with bare_server(tmp_path) as url, stand_in(lambda _: response(500, answer.encode())) as admin:
        hooks = {name: [{"url": admin}] for name in ("after_endpoint_created", "create_source")}
        done = run_check(tmp_path, url, provision=hooks)
        examined = run_command(tmp_path, "doctor", "--target", "target.yaml")
    assert "was answered 500: xxx" in done.out, done.err
    assert "was answered 500: xxx" in examined.out, examined.err
    folder = tmp_path / "hookproof-report"
    written = [path.read_text() for path in folder.iterdir() if path.is_file()]
    assert len(written) > 4
    texts = [done.out, examined.out, *written]
    assert not any(f"x{key[:shown]}" in "".join(text.split()) for text in texts)
