"""The pytest plugin as a user runs it: in a folder of theirs, beside tests of theirs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from hookproof.conformance.pytest_plugin.host import group_of, markers_of
from hookproof.spec.catalogue import load_catalogue
from tests.conformance.command import environment
from tests.conformance.scripted_target import closed_port, empty_page, stand_in

KEY = {"HOOKPROOF_API_KEY": "secret-key", "HOOKPROOF_PROJECT": "p1"}
# The user's own test, and the requirements 5-4 and 5-7: both fail where no key is needed for lists.
FEW = ("--hookproof-profile", "quick", "-k", "mine or (listing and authorization)")

# The entry point itself and the packages around it may be imported, and nothing else.
LISTS_IMPORTS = """
import sys

ENTRY = "hookproof.conformance.pytest_plugin.entry"

def test_modules():
    roots = ("hookproof", "yaml", "jinja2", "aiohttp", "rich")
    imported = {name for name in sys.modules if name.partition(".")[0] in roots}
    assert ENTRY in imported
    assert not {name for name in imported if not f"{ENTRY}.".startswith(f"{name}.")}
"""


def user_pytest(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_mine.py").write_text("def test_mine():\n    assert True\n")
    other_plugins = ["-p", "no:schemathesis", "-p", "no:locust"]
    command = [sys.executable, "-P", "-m", "pytest", *other_plugins, *words]
    return subprocess.run(
        command,
        cwd=folder,
        env=environment(**{**KEY, **variables}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def outcome_counts(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """The number of tests by outcome, in the last line of the output."""
    last = done.stdout.strip().splitlines()[-1]
    return {
        word: int(count)
        for count, word in re.findall(r"(\d+) (passed|failed|skipped|errors?|deselected)", last)
    }


def test_without_an_option_nothing_is_added(tmp_path: Path) -> None:
    done = user_pytest(tmp_path, "-q")
    assert (done.returncode, outcome_counts(done)) == (0, {"passed": 1})
    assert "hookproof:" not in done.stdout


def test_without_an_option_nothing_of_the_project_is_imported(tmp_path: Path) -> None:
    (tmp_path / "test_modules.py").write_text(LISTS_IMPORTS)
    done = user_pytest(tmp_path, "-q", "-p", "no:hypothesispytest")
    assert done.returncode == 0, done.stdout


def test_requirements_are_tests_beside_the_users_own(tmp_path: Path) -> None:
    with stand_in(empty_page) as url:
        done = user_pytest(tmp_path, "--hookproof-url", url, *FEW)
    assert done.returncode == 1
    assert f"hookproof: {url}, dialect reference, quick profile" in done.stdout
    counts = outcome_counts(done)
    assert (counts["passed"], counts["failed"]) == (1, 2)
    assert "5-4 Listing portal links without an Authorization header is refused." in done.stdout
    assert "curl -i" in done.stdout
    assert "secret-ke" not in done.stdout


def test_the_first_failure_ends_the_run_and_the_last_failed_run_again(tmp_path: Path) -> None:
    with stand_in(empty_page) as url:
        first = user_pytest(tmp_path, "--hookproof-url", url, *FEW, "-x")
        assert outcome_counts(first)["failed"] == 1
        again = user_pytest(
            tmp_path, "--hookproof-url", url, "--hookproof-profile", "quick", "--lf"
        )
    assert outcome_counts(again)["failed"] == 1
    assert "passed" not in outcome_counts(again)


def test_workers_share_the_experiments(tmp_path: Path) -> None:
    heads: list[bytes] = []

    def answer(head: bytes) -> bytes | None:
        heads.append(head)
        return empty_page(head)

    with stand_in(answer) as url:
        alone = user_pytest(tmp_path, "--hookproof-url", url, *FEW)
        requests_alone = len(heads)
        both = user_pytest(tmp_path, "--hookproof-url", url, *FEW, "-n", "2", "--dist", "loadgroup")
    assert {name: outcome_counts(both)[name] for name in ("passed", "failed")} == {
        name: outcome_counts(alone)[name] for name in ("passed", "failed")
    }
    assert len(heads) - requests_alone < 1.5 * requests_alone


def test_markers_choose_requirements(tmp_path: Path) -> None:
    words = ("--hookproof-embedded", "--collect-only", "-q", "--strict-markers")
    done = user_pytest(tmp_path, *words, "-m", "stated and section_4_3")
    listed = [line for line in done.stdout.splitlines() if line.startswith("hookproof::")]
    assert [line.partition("::")[2].split()[0] for line in listed] == [
        each.id for each in load_catalogue().select("4.3") if each.level == "stated"
    ]


def test_an_unreachable_target_ends_the_session_with_one_line(tmp_path: Path) -> None:
    with closed_port() as url:
        done = user_pytest(tmp_path, "--hookproof-url", url, *FEW)
        several = user_pytest(tmp_path, "--hookproof-url", url, *FEW, "-n", "2")
    assert done.returncode == 4
    assert f"hookproof: target unreachable: {url}" in done.stdout
    assert several.returncode != 0
    assert "target unreachable" in several.stdout
    assert "Traceback" not in done.stdout + several.stdout
    assert "During handling" not in several.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--hookproof-target", "gone.yaml"), "gone.yaml"),
        (
            ("--hookproof-embedded", "--hookproof-profile", "slow"),
            "'slow' is not one of quick, standard, deep",
        ),
        (("--hookproof-embedded", "--hookproof-seed", "-1"), "--hookproof-seed"),
        (("--hookproof-embedded", "--hookproof-dialect", "refrence"), "did you mean"),
        (
            ("--hookproof-embedded", "--hookproof-baseline", "stale.yaml"),
            "9-99: no such requirement",
        ),
    ],
)
def test_wrong_options_are_usage_errors(
    tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    (tmp_path / "stale.yaml").write_text("- {id: 9-99, expected: fail, reason: r}\n")
    done = user_pytest(tmp_path, *words)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_baseline_makes_failures_expected_and_reports_a_stale_entry(tmp_path: Path) -> None:
    (tmp_path / "baseline.yaml").write_text(
        "- {id: 5-4, expected: fail, reason: We know.}\n"
        "- {id: 4.4-1, expected: fail, reason: We knew.}\n"
    )
    with stand_in(empty_page) as url:
        words = ("--hookproof-profile", "quick", "--hookproof-baseline", "baseline.yaml", "-rxE")
        done = user_pytest(
            tmp_path,
            "--hookproof-url",
            url,
            *words,
            "-k",
            "(5-4 and listing) or (4.4-1 and succeeds)",
        )
    assert "1 xfailed" in done.stdout
    assert "the baseline accepts it: We know." in done.stdout
    assert "The baseline is stale: 4.4-1 is expected to be fail, but is pass now" in done.stdout


def test_every_requirement_has_the_markers_of_its_level_and_sections() -> None:
    requirements = load_catalogue().requirements
    assert markers_of(requirements["4.3-2"]) == ["hookproof", "stated", "section_4", "section_4_3"]
    assert group_of(requirements["4.3-2"]) == "roll"
    assert group_of(requirements["2.1-2"]) == "every exchange"
