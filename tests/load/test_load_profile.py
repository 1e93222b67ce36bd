"""Profiles are read strictly."""

from pathlib import Path

import pytest

from load.profile import load_profile, shipped_profiles
from spec.yaml_file import FileProblems


@pytest.mark.parametrize("name", shipped_profiles())
def test_every_shipped_profile_can_be_read_and_bears_its_files_name(name: str) -> None:
    assert load_profile(name).name == name


def test_an_unknown_profile_is_refused_with_the_known_ones() -> None:
    with pytest.raises(FileProblems, match="smoke"):
        load_profile("no-such-profile")


def test_every_problem_of_a_file_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text("name: wrong\nsummary: s\nrate: fast\nduration_s: 1\nusers: 0\ndrain_s: 1\nspeed: 9\n")
    with pytest.raises(FileProblems) as refused:
        load_profile(str(path))
    assert {problem.line for problem in refused.value.problems} == {3, 5, 7}
