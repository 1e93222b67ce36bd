"""A comparison of benchmarks calls only that a change which the noise of the rounds is not."""

from pathlib import Path
from typing import Any

import pytest

from tests.bench.compare import lines, main, verdict
from tests.bench.rounds import RoundFigures, keep_rounds, read_rounds


@pytest.mark.parametrize(
    ("before", "after", "better", "expected"),
    [
        ([1.0, 1.1, 1.2], [1.3, 1.4, 1.5], "more", "BETTER"),
        ([1.0, 1.1, 1.2], [0.7, 0.8, 0.9], "more", "WORSE"),
        ([8.0, 9.0], [7.0, 7.9], "less", "BETTER"),
        ([8.0, 9.0], [9.1, 9.2], "less", "WORSE"),
        ([1.0, 1.1, 1.2], [1.2, 1.4, 1.5], "more", "within the noise"),
        ([1.0, 1.1, 1.2], [1.0, 1.1, 1.2], "less", "within the noise"),
        ([1.0], [2.0, 2.1], "more", "one round tells nothing"),
        ([1.0, 1.1], [2.0], "more", "one round tells nothing"),
    ],
)
def test_a_change_is_what_no_round_of_the_other_run_shows(
    before: list[float], after: list[float], better: Any, expected: str
) -> None:
    pair = (RoundFigures(rounds=each, better=better) for each in (before, after))
    assert verdict(*pair) == expected


def test_lines_show_medians_change_and_noise_and_what_one_run_lacks() -> None:
    before = {
        "api: get": RoundFigures(rounds=[0.5, 0.4, 0.6]),
        "api: old": RoundFigures(rounds=[1.0]),
    }
    after = {
        "api: get": RoundFigures(rounds=[0.8, 0.8, 0.8]),
        "api: new": RoundFigures(rounds=[1.0]),
    }
    _, get, old, new = lines(before, after)
    assert get.split() == ["api:", "get", "0.5", "0.8", "+60.0%", "40%", "/", "0%", "BETTER"]
    assert old.split()[-3:] == ["measured", "only", "before"]
    assert new.split()[-3:] == ["measured", "only", "after"]


def test_each_benchmark_keeps_its_own_and_replaces_it(tmp_path: Path) -> None:
    path = tmp_path / "rounds.json"
    keep_rounds("api", {"get": RoundFigures(rounds=[1.0])}, path)
    keep_rounds("checking", {"quick": RoundFigures(rounds=[7.0], better="less")}, path)
    keep_rounds("api", {"list": RoundFigures(rounds=[2.0])}, path)
    assert read_rounds(path) == {
        "api: list": RoundFigures(rounds=[2.0]),
        "checking: quick": RoundFigures(rounds=[7.0], better="less"),
    }


@pytest.mark.parametrize("text", [None, "[]", "{", '{"api": {"get": {}}}', '{"api": {"a": 1}}'])
def test_a_file_without_rounds_ends_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    path = tmp_path / "before.json"
    if text is not None:
        path.write_text(text)
    monkeypatch.setattr("sys.argv", ["compare", str(path)])
    with pytest.raises(SystemExit, match=r"before\.json (cannot be read|holds no rounds)"):
        main()
