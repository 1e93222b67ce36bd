"""Files of dialects for tests, and how the reader refuses them."""

from pathlib import Path

import pytest

from hookproof.spec.dialect.answers import answers_of
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.strict_yaml.file_problem import FileProblems
from tests.source_tree import ROOT

DIALECTS = ROOT / "hookproof" / "spec" / "dialects"


def answers(name: str) -> dict[str, object]:
    """The answers of a dialect by their dotted names."""
    return dict(answers_of(load_dialect(name)))


def written(folder: Path, text: str, name: str = "own.yaml") -> str:
    """The path of a new file with this text."""
    (folder / name).write_text(text)
    return str(folder / name)


def refusal(name_or_path: str) -> list[str]:
    """The lines with which a dialect is refused, without the folder of a file."""
    with pytest.raises(FileProblems) as caught:
        load_dialect(name_or_path)
    folder = f"{Path(name_or_path).parent}/"
    return [line.replace(folder, "") for line in str(caught.value).splitlines()]


def reference_text(**replaced: str) -> str:
    """The text of reference.yaml, in which whole lines are replaced, by the words that they begin
    with.
    """
    lines = (DIALECTS / "reference.yaml").read_text().splitlines()
    for start, line in replaced.items():
        (index,) = (index for index, old in enumerate(lines) if old.strip().startswith(f"{start}:"))
        lines[index] = line
    return "\n".join(lines)


def line_of(text: str, start: str) -> int:
    return next(
        number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith(start)
    )
