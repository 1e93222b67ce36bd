"""The tolerances for times, in seconds.

They allow for a busy machine: a receiver that waits for the processor records an arrival late, so
that waits look shorter or longer than they were. Only deviations beyond a tolerance are failures.
Both we and the receiver measure how late we were (`late_s` of an observation): tolerances widen by
it, and where it was too much, nothing that takes time is a failure. They widen by the way to the
target too (`round_trip_s`), which is measured when a run begins.
"""

from typing import Final, Protocol

from hookproof.conformance.model.evidence import NotExaminedError

# How much shorter a wait may look at the receiver than the target made it.
EARLY_S: Final = 0.7

# How much later than required something may be observed.
LATE_S: Final = 4.0
# How much later something may be observed and still show that it came in time. What came later,
# and not later than LATE_S, shows nothing: a service that keeps another time may look like that.
PROVEN_S: Final = 1.5

# How much shorter than rate_limit_duration the interval is in which arrivals are counted (section
# 8).
RATE_S: Final = 0.8

# How long before and after the expiry of a secret nothing is judged (section 4.3); a clock may
# count whole seconds.
EXPIRY_S: Final = 1.2

# How far the Date of a response may differ before the target's clock counts as different from ours.
SKEW_S: Final = 2.0
# How old a Date may be that a server wrote earlier, for all its answers of a second, and did not
# come to write again.
KEPT_DATE_S: Final = 10.0

# How much time an attempt may take from being signed to its arrival (section 6).
STAMP_S: Final = 1.5

# How many times as long as the longest wait that was seen a delivery has to be waited for before
# it counts as missing: what comes late has not been lost.
BACKLOG_FACTOR: Final = 1.5

# How recently something else has to have arrived where nothing that was waited for did, so that the
# service counts as busy with that.
BACKLOG_S: Final = 2.0

# How much longer a delivery may take beside slow endpoints than without them, and how many times as
# long as the longest wait without them: a service that sends at intervals delivers unevenly.
DELAY_S: Final = 1.0
DELAY_FACTOR: Final = 3.0

# How long a large body may take from us to the target. One that took longer, and is answered as a
# request that did not arrive in time, may have been sent too slowly.
SENT_WITHIN_S: Final = 1.0

# By how much a tolerance is widened at most. Where our own timers were later, nothing is a failure.
MOST_LATE_S: Final = 1.0

# How many times in a row an attempt may have waited for the processor as long as our timers did at
# most: for its connection, its request and its answer.
TURNS: Final = 3

# How many round trips a delivery takes that needs a connection: TCP, TLS, the request.
ROUND_TRIPS: Final = 3

# The longest round trip that is the network's. A target that takes longer is slow itself.
LONGEST_ROUND_TRIP_S: Final = 1.0


class Timed(Protocol):
    """What was observed by clocks that may be late, of a target that may be far away."""

    @property
    def late_s(self) -> float: ...

    @property
    def round_trip_s(self) -> float: ...


def way_s(round_trip_s: float) -> float:
    """How long a delivery may be on its way to a receiver so far from the target."""
    return ROUND_TRIPS * min(round_trip_s, LONGEST_ROUND_TRIP_S)


def distant(tolerance_s: float, round_trip_s: float) -> float:
    """A tolerance that allows for a target so far away."""
    return tolerance_s + way_s(round_trip_s)


def widened(tolerance_s: float, observed: Timed) -> float:
    """A tolerance that allows for a machine whose own timers were late, and for the network."""
    return distant(tolerance_s, observed.round_trip_s) + min(observed.late_s, MOST_LATE_S)


def slack_s(observed: Timed) -> float:
    """By how much the time of an attempt may be wrong for which nobody but this machine and the
    network can.
    """
    return TURNS * observed.late_s + way_s(observed.round_trip_s)


def for_attempt(tolerance_s: float, observed: Timed) -> float:
    """A tolerance for the time of a single attempt."""
    return tolerance_s + slack_s(observed)


def require_punctual(late_s: float) -> None:
    """Raise NotExaminedError where this machine was so late that a time must not be a failure."""
    if late_s > MOST_LATE_S:
        raise late_machine(late_s)


def late_machine(late_s: float) -> NotExaminedError:
    """What is raised where a time might be this machine's own rather than the target's."""
    return NotExaminedError(
        f"this machine was late by {late_s * 1000:.0f} ms, so that no time could be judged; run it"
        " again with less beside it"
    )
