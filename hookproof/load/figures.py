"""The figures of a run: their names, units and meanings, in the order of the report.

Thresholds, reports and comparisons refer to figures by these names only.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final


class Unit(Enum):
    SECONDS = "s"
    COUNT = ""
    PER_SECOND = "/s"
    SHARE = "%"

    def shown(self, value: float) -> str:
        match self:
            case Unit.SECONDS:
                return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.1f} ms"
            case Unit.COUNT:
                return f"{value:,.0f}"
            case Unit.PER_SECOND:
                return f"{value:,.0f}/s" if value >= 100 else f"{value:.1f}/s"  # noqa: PLR2004
            case Unit.SHARE:
                return f"{value * 100:.1f} %"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure; `more_is_better` is None if neither direction is."""

    unit: Unit
    meaning: str
    more_is_better: bool | None = False


# The ends of names that are no words.
_WORDS: Final = {
    "p50": "median",
    "p95": "95th percentile",
    "p99": "99th percentile",
    "max": "longest",
    "rps": "a second",
    "s": "",
    "cpu": "processor use",
}


def label(name: str) -> str:
    """The name of a figure in words: `delivery_p99` is `delivery 99th percentile`."""
    return " ".join(_WORDS.get(part, part) for part in name.split("_")).strip()


def _quantiles(prefix: str, what: str) -> dict[str, Figure]:
    names = {"p50": "median", "p95": "95th percentile", "p99": "99th percentile", "max": "longest"}
    return {
        f"{prefix}_{short}": Figure(unit=Unit.SECONDS, meaning=f"{what}, {words}")
        for short, words in names.items()
    }


FIGURES: Final[dict[str, Figure]] = {
    "sent": Figure(unit=Unit.COUNT, meaning="broadcasts sent", more_is_better=None),
    "accepted": Figure(
        unit=Unit.COUNT, meaning="broadcasts that the target accepted", more_is_better=None
    ),
    "refused": Figure(unit=Unit.COUNT, meaning="broadcasts that it refused or left unanswered"),
    "limited": Figure(
        unit=Unit.COUNT,
        meaning="requests that it put off: 429, or a refusal that names a time with Retry-After",
    ),
    "held_back": Figure(
        unit=Unit.COUNT,
        meaning="slots left out while it had asked not to be called",
        more_is_better=None,
    ),
    "errors": Figure(unit=Unit.COUNT, meaning="other requests that failed"),
    "ingest_rps": Figure(
        unit=Unit.PER_SECOND, meaning="broadcasts accepted a second", more_is_better=True
    ),
    "requests_rps": Figure(
        unit=Unit.PER_SECOND, meaning="requests of all operations a second", more_is_better=True
    ),
    **_quantiles("ingest", "from a broadcast's intended send time to its answer"),
    "expected": Figure(
        unit=Unit.COUNT,
        meaning="deliveries that the accepted broadcasts must cause",
        more_is_better=None,
    ),
    "delivered": Figure(unit=Unit.COUNT, meaning="of them arrived", more_is_better=None),
    "lost": Figure(
        unit=Unit.COUNT, meaning="of them neither arrived nor explained when no more came"
    ),
    "pending": Figure(
        unit=Unit.COUNT, meaning="of them not arrived when the drain ended while others still did"
    ),
    "arriving_rps": Figure(
        unit=Unit.PER_SECOND,
        meaning="deliveries that still arrived a second when the drain ended, if any is pending",
        more_is_better=None,
    ),
    "explained": Figure(
        unit=Unit.COUNT, meaning="of them not arrived for a reason in the run itself"
    ),
    "unaccounted": Figure(
        unit=Unit.COUNT, meaning="of them not known: the worker that recorded them was lost"
    ),
    "duplicated": Figure(
        unit=Unit.COUNT, meaning="arrivals beyond the first that was answered with success"
    ),
    "duplicated_by_receiver": Figure(
        unit=Unit.COUNT,
        meaning="further such arrivals, after this receiver was so late that the target may have"
        " stopped waiting for its answer",
        more_is_better=None,
    ),
    "out_of_order": Figure(
        unit=Unit.COUNT, meaning="arrivals after one of a later broadcast", more_is_better=None
    ),
    "unverifiable": Figure(
        unit=Unit.COUNT, meaning="arrivals whose signature no known secret explains"
    ),
    "altered": Figure(unit=Unit.COUNT, meaning="arrivals with another body than was broadcast"),
    "unexpected": Figure(
        unit=Unit.COUNT, meaning="arrivals of broadcasts that were not sent, or were refused"
    ),
    "late": Figure(unit=Unit.COUNT, meaning="arrivals later than the profile's late_after_s"),
    "delivery_rps": Figure(
        unit=Unit.PER_SECOND, meaning="deliveries arrived a second", more_is_better=True
    ),
    **_quantiles("delivery", "from a broadcast's intended send time to a delivery's arrival"),
    "drain_s": Figure(unit=Unit.SECONDS, meaning="from the last answer to the last arrival"),
    "overshoot": Figure(
        unit=Unit.COUNT, meaning="most arrivals in any window above an endpoint's rate limit"
    ),
    "allowance_used": Figure(
        unit=Unit.SHARE,
        meaning="share of what their limits allow that endpoints with a backlog got",
        more_is_better=True,
    ),
    "fairness": Figure(
        unit=Unit.SHARE,
        meaning="share of the limited endpoint that got least, of the one that got most",
        more_is_better=True,
    ),
    **_quantiles("lateness", "how late the generator itself sent"),
    "waited": Figure(
        unit=Unit.COUNT, meaning="slots that came when no user was free", more_is_better=None
    ),
    "generator_cpu": Figure(
        unit=Unit.SHARE,
        meaning="of a core that a generator used, the busiest of several",
        more_is_better=None,
    ),
    **_quantiles("receiver_lateness", "how late the receiver's own timers were"),
    "receiver_cpu": Figure(
        unit=Unit.SHARE,
        meaning="of a core that a receiver used while deliveries arrived, the busiest of several",
        more_is_better=None,
    ),
    "machine_idle": Figure(
        unit=Unit.SHARE,
        meaning="of the processor time of a receiver's machine that nobody used meanwhile",
        more_is_better=None,
    ),
    "knee": Figure(
        unit=Unit.PER_SECOND,
        meaning="highest rate that crossed no threshold, of a search",
        more_is_better=True,
    ),
}
