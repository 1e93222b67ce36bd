"""What one experiment brought in, and whether it came to its end."""

from dataclasses import dataclass
from enum import StrEnum

from hookproof.conformance.model.evidence import Case


class Ending(StrEnum):
    """How an experiment ended."""

    COMPLETE = "complete"
    CUT = "cut"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """The cases of one experiment in the order in which it gave them; `reason` says why it was cut
    or crashed.
    """

    experiment: str
    cases: tuple[Case, ...]
    ending: Ending = Ending.COMPLETE
    reason: str = ""
    duration_s: float = 0.0
