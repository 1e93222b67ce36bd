"""The problems of a file that a person wrote, each with its line and its place."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

# The keys and indexes that lead from the top of a file to a value.
Location = tuple[str | int, ...]


def spelled(location: Location) -> str:
    """A location as text: `words.source_types[1]`."""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return steps.removeprefix(".")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem with the value at `where`; `line` is None if there are no lines."""

    line: int | None
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


# In lines, of all the problems of a file.
LONGEST_TEXT: Final = 20


class FileProblems(Exception):
    """A file cannot be used.

    As text: a line for each problem, which begins with path and line, and at most LONGEST_TEXT of
    them; `problems` holds them all.
    """

    def __init__(self, path: str, problems: Iterable[Problem]) -> None:
        self.path = path
        self.problems = tuple(sorted(problems, key=lambda problem: problem.line or 0))
        lines = [f"{self._place(problem)}: {problem}" for problem in self.problems]
        if len(lines) > LONGEST_TEXT:
            left = len(lines) - (LONGEST_TEXT - 1)
            lines[LONGEST_TEXT - 1 :] = [f"{path}: and {left} more problems"]
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[type["FileProblems"], tuple[str, tuple[Problem, ...]]]:
        return FileProblems, (self.path, self.problems)

    def _place(self, problem: Problem) -> str:
        return self.path if problem.line is None else f"{self.path}:{problem.line}"
