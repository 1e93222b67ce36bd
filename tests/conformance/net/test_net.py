"""Two checkouts that judge alike are told from two that do not, with what differs."""

from pathlib import Path

import pytest

from tests.conformance.command import check
from tests.conformance.net.command import compare, make
from tests.source_tree import copied_sources

CHANGED = Path("hookproof/conformance/subjects/responses/laws.py")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("runs")
    done = check(folder, "--profile", "quick", "--only", "4.6-5")
    assert done.code == 0, done.out
    return [folder / "hookproof-report" / "run.jsonl"]


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A checkout that is like this one."""
    return copied_sources(tmp_path)


def test_checkouts_that_are_alike_judge_alike(
    other: Path, files: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(other, files) == 0
    counted = capsys.readouterr().out.split()
    assert (counted[0], counted[-3:]) == ("0", ["1", "run", "files"])
    assert int(counted[2]) > 100


def test_what_a_changed_check_says_is_named(
    other: Path, files: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    changed = other / CHANGED
    before = changed.read_text()
    changed.write_text(before.replace('"2.1-6"', '"2.1-5"'))
    assert changed.read_text() != before
    assert compare(other, files) == 1
    *differing, counted = capsys.readouterr().out.splitlines()
    assert differing
    said = {line.partition(": 2.1-")[2] for line in differing}
    assert said == {"6: not judged -> pass"}
    assert counted.startswith(f"{len(differing)} of ")


def test_a_server_is_run_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert make(tmp_path, "dies after 300 requests", 1) == 0
    (said,) = capsys.readouterr().out.splitlines()
    assert said.startswith("dies after 300 requests: ")
    (written,) = tmp_path.glob("*.jsonl")
    assert written.name == "dies-after-300-requests.jsonl"
