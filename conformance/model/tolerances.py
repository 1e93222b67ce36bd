"""The tolerances for times, in seconds.

They allow for a busy machine: a receiver that waits for the processor records an arrival late, so
that waits look shorter or longer than they were. Only deviations beyond a tolerance are failures.
"""

from typing import Final

# How much shorter a wait may look at the receiver than the target made it.
EARLY_S: Final = 0.7

# How much later than required something may be observed.
LATE_S: Final = 4.0

# How much shorter than rate_limit_duration the interval is in which arrivals are counted (section
# 8).
RATE_S: Final = 0.8

# How long before and after the expiry of a secret nothing is judged (section 4.3); a clock may
# count whole seconds.
EXPIRY_S: Final = 1.2

# How far the Date of a response may differ before the target's clock counts as different from ours.
SKEW_S: Final = 2.0

# How much time an attempt may take from being signed to its arrival (section 6).
STAMP_S: Final = 1.5
