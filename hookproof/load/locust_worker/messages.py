"""The messages between a master and its workers.

They use Locust's own connection. It is plain text without a password, so it belongs
in a trusted network. The key of a target is never sent over it.
"""

from typing import Final

HELLO: Final = "hookproof-hello"
DISMISSED: Final = "hookproof-dismissed"
RUN: Final = "hookproof-run"
TALLY: Final = "hookproof-tally"
INTERRUPT: Final = "hookproof-interrupt"
CONCLUDE: Final = "hookproof-conclude"
SHARE: Final = "hookproof-share"
# Locust's own: its statistics since the last time.
STATS: Final = "stats"
