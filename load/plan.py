"""A plan: everything that the locust process needs to know, handed over as one JSON file.

The command arranges the run (endpoint, receiver token) with the project's ordinary clients; only then does locust
start, in a process of its own, since it patches whatever process imports it.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

MARKER: Final = "hookproof_marker"
"""The member of a broadcast's `data` that carries its marker to the receiver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`headers` go with each broadcast; `accepted_statuses` are the success statuses of the dialect, empty for any 2xx.

    `witness_url` is the receiver's control API for the token that the deliveries arrive at; `visit_methods` are those
    by which the target may try a new endpoint's URL, which is no delivery.
    """

    base_url: str
    path: str
    headers: dict[str, str]
    accepted_statuses: tuple[int, ...]
    witness_url: str
    visit_methods: tuple[str, ...]
    rate: float
    duration_s: float
    users: int
    drain_s: float

    def write(self, path: Path) -> None:
        """Write the plan so that only its owner can read it: it holds a key."""
        path.touch(mode=0o600)
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "Plan":
        """The plan that `write` wrote."""
        fields = json.loads(path.read_text(encoding="utf-8"))
        tuples = {name: tuple(fields[name]) for name in ("accepted_statuses", "visit_methods")}
        return cls(**{**fields, **tuples})
