"""The evidence of one experiment, and how the experiment ended."""

from dataclasses import dataclass
from enum import StrEnum

from hookproof.conformance.model.evidence import Evidence


class Ending(StrEnum):
    """How an experiment ended: by itself, with the run, or with an error of ours."""

    COMPLETE = "complete"
    CUT = "cut"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """The evidence of one experiment, in order.

    `reason` states why the experiment was cut or crashed. `began_s` is when it began, in seconds
    since the run did, or None; of what was gathered again, alone, it is when that began.
    """

    experiment: str
    observations: tuple[Evidence, ...]
    ending: Ending = Ending.COMPLETE
    reason: str = ""
    began_s: float | None = None
    duration_s: float = 0.0
