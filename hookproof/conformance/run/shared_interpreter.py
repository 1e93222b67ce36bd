"""How the thread that gathers and the thread that judges share the interpreter."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# How long the thread of the experiments waits for the one that judges, in seconds; so long is an
# answer or a delivery noted too late.
SWITCH_S: Final = 0.0005
# After how many new objects garbage is looked for. Evidence stays, so that it is looked at in vain.
COLLECT_AFTER: Final = 20_000


@contextmanager
def shared_interpreter() -> Iterator[None]:
    """Let the thread of the experiments come first, as far as an interpreter can."""
    interval_s, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(SWITCH_S)
    gc.set_threshold(COLLECT_AFTER, *threshold[1:])
    try:
        yield
    finally:
        sys.setswitchinterval(interval_s)
        gc.set_threshold(*threshold)
