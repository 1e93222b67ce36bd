"""A field of the dialect that disagrees with all that was seen of its question."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """One field whose answer alone makes requirements fail.

    `said` are the values that the dialect allows, `seen` those under each of which all that was
    judged for `requirements` passes, both as a dialect file writes them. `findings` is how many
    findings these requirements have, `count` how often they were seen, `example` one of them.
    """

    field: str
    said: tuple[Any, ...]
    seen: tuple[Any, ...]
    requirements: tuple[str, ...]
    findings: int
    count: int
    example: str

    @property
    def words(self) -> str:
        """What disagrees with what, in one sentence."""
        return (
            f"{self.field}: {_either(self.said)} disagrees with what was seen {self.count:,} times,"
            f" such as {self.example}"
        )

    @property
    def advice(self) -> str:
        """The change of the dialect under which all of it agrees."""
        *groups, last = self.field.split(".")
        line = f"{last}: {_written(self.seen[0])}"
        for group in reversed(groups):
            line = f"{group}: {{{line}}}"
        others = f" (or {_either(self.seen[1:])})" if self.seen[1:] else ""
        return f"if the service is right, write `{line}`{others} into the dialect: all of it agrees"


def _either(values: tuple[Any, ...]) -> str:
    return " or ".join(map(_written, values))


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
