"""What one experiment brought in, and whether it came to its end."""

from dataclasses import dataclass
from enum import StrEnum

from hookproof.conformance.model.evidence import Evidence


class Ending(StrEnum):
    """How an experiment ended."""

    COMPLETE = "complete"
    CUT = "cut"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """The masked observations of one experiment, in the order in which it made them.

    `reason` says why the experiment was cut or crashed.
    """

    experiment: str
    observations: tuple[Evidence, ...]
    ending: Ending = Ending.COMPLETE
    reason: str = ""
    duration_s: float = 0.0
