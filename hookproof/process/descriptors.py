"""How many files and connections this process may have open at once."""

import resource
from typing import Final

# More than any process here needs, for a system that sets no limit.
_MOST: Final = 2**20


def descriptor_limit() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else min(soft, _MOST)


def raise_descriptor_limit() -> None:
    """Raise the limit to the highest value that this process may set."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
