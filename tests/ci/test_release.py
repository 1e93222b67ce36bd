"""What `make release` refuses, and the table of the action's inputs."""

import re
import tomllib

import pytest
import yaml

from tests.ci import release
from tests.source_tree import ROOT


def test_the_changelog_begins_with_the_version_of_the_package() -> None:
    described = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = release.newest_release(changelog)
    assert newest in {described["project"]["version"], "Unreleased"}
    assert described["project"]["version"] in re.findall(
        r"^## \[([^\]]+)\]", changelog, re.MULTILINE
    )


@pytest.mark.parametrize(
    ("changelog", "newest"),
    [
        ("# Changelog\n\n## [1.1.0] - 2027-01-01\n\n## [1.0.0] - 2026-01-01\n", "1.1.0"),
        ("# Changelog\n\n## [Unreleased]\n\n## [1.0.0] - 2026-01-01\n", "Unreleased"),
        ("# Changelog\n", "no release"),
    ],
)
def test_the_newest_release_is_the_first_heading(changelog: str, newest: str) -> None:
    assert release.newest_release(changelog) == newest


@pytest.mark.parametrize(
    ("git_says", "problem"),
    [
        ({}, None),
        ({"status": " M README.md\n?? new.py"}, "not committed: README.md, new.py"),
        ({"tag": "v1.0.0"}, "v1.0.0 is tagged already"),
    ],
)
def test_what_is_not_committed_or_is_tagged_is_not_released(
    git_says: dict[str, str], problem: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "git", lambda command, *_: git_says.get(command, ""))
    monkeypatch.setattr(release, "newest_release", lambda _: "1.0.0")
    found = list(release.problems("1.0.0"))
    assert len(found) == (problem is not None)
    assert all(problem is not None and problem in each for each in found)


def test_a_version_that_the_changelog_does_not_have_is_not_released() -> None:
    assert any("CHANGELOG.md begins with" in each for each in release.problems("99.0.0"))


def test_the_table_of_inputs_is_that_of_the_action() -> None:
    inputs = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["inputs"]
    table = (ROOT / "docs" / "ci.md").read_text("utf-8").partition("| Input |")[2]
    rows = re.findall(
        r"^\| `([a-z-]+)` \| (?:`(.*?)` )?\| ", table.partition("| Output |")[0], re.MULTILINE
    )
    assert rows == [(name, each["default"]) for name, each in inputs.items()]
