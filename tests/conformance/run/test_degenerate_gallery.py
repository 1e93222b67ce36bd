"""What a run says of each degenerate target: the exit code, and exactly what passes and fails."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conformance.run.degenerate_gallery import CONSTANT, RECORD, SERVERS, VARIES, judge

RECORDED: dict[str, dict[str, Any]] = yaml.safe_load(RECORD.read_text())


def test_each_target_is_recorded() -> None:
    assert list(RECORDED) == [*CONSTANT, *SERVERS]


@pytest.mark.parametrize("name", RECORDED)
def test_a_degenerate_target_is_judged_as_recorded(tmp_path: Path, name: str) -> None:
    judged = judged_as_recorded(name, tmp_path)
    if RECORDED[name]["pass"] == VARIES and not judged["pass"]:
        # On a busy machine all experiments may have begun, and none has seen anything whole, by
        # the time the target dies: not twice.
        again = tmp_path / "again"
        again.mkdir()
        assert judged_as_recorded(name, again)["pass"]


def judged_as_recorded(name: str, folder: Path) -> dict[str, Any]:
    """How a run judges a target, compared with the record but for passes that vary."""
    recorded, judged = RECORDED[name], judge(name, folder)
    assert judged["exit_code"] == recorded["exit_code"], judged
    assert recorded["says"] in judged["says"]
    wrong = ("fail", "follows", "error")
    assert {key: judged[key] for key in wrong} == {key: recorded[key] for key in wrong}
    if recorded["pass"] != VARIES:
        late = set(judged["late"])
        assert set(judged["pass"]) | late == set(recorded["pass"]) | late
    named = {*recorded["fail"], *recorded["follows"], *judged["pass"]}
    assert set(recorded.get("remarks", {})) <= named
    return judged


def test_no_target_is_accused_for_dying() -> None:
    dying = [name for name in SERVERS if name.startswith("dies")]
    assert len(dying) == 4
    for name in dying:
        assert RECORDED[name]["exit_code"] == 3
        assert not RECORDED[name]["fail"]
        assert not RECORDED[name]["follows"]


@pytest.mark.parametrize("name", CONSTANT)
def test_a_target_that_was_never_right_is_told_so_before_anything_is_judged(name: str) -> None:
    assert RECORDED[name]["exit_code"] in (4, 64)
    assert RECORDED[name]["pass"] == RECORDED[name]["fail"] == []
