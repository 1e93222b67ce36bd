"""Memory that large values took is given back to the system when they are gone."""

import ctypes
from contextlib import suppress
from typing import Final

# mallopt(3): blocks from this size on are mapped one by one, whatever was freed before.
_M_MMAP_THRESHOLD: Final = -3
_LARGE_BYTES: Final = 2**20


def give_back_large_blocks() -> None:
    """Let the C library return large blocks at once; without effect where it is not glibc."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
