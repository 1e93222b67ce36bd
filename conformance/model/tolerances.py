"""How far apart two moments may lie before they count as different, in seconds.

All of them are there for a busy machine: a receiver that gets no processor notes an arrival late,
so that waits look shorter or longer than they were. A target is only convicted of what lies
outside.
"""

from typing import Final

# How much shorter a wait may look at the receiver than the target made it.
EARLY_S: Final = 0.7

# How much later something may be seen than the target was bound to do it.
LATE_S: Final = 4.0

# How much shorter than rate_limit_duration the stretch is in which arrivals are counted (section
# 8).
RATE_S: Final = 0.8

# How long before and after the expiry of a secret nothing is judged (section 4.3); a clock may
# count whole seconds.
EXPIRY_S: Final = 1.2

# How far the Date of a response may be off before the target's clock counts as another one than
# ours.
SKEW_S: Final = 2.0

# How much time an attempt may take from being signed to its arrival (section 6).
STAMP_S: Final = 1.5
