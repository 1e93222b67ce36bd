"""Descriptors and memory that the system gives this process."""

import ctypes
import resource
from contextlib import suppress
from typing import Final

# More descriptors than any process here needs, for a system that sets no limit.
_MOST: Final = 2**20
# mallopt(3): blocks from this size on are mapped one by one, whatever was freed before.
_M_MMAP_THRESHOLD: Final = -3
_LARGE_BYTES: Final = 2**20


def descriptor_limit() -> int:
    """Return how many files and connections this process may have open at once."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else min(soft, _MOST)


def raise_descriptor_limit() -> None:
    """Raise the limit to the highest value that this process may set."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def give_back_large_blocks() -> None:
    """Let the C library return large blocks at once; without effect where it is not glibc."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
