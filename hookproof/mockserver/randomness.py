"""Sources of identifiers, secrets and jitter, which `--seed` makes repeatable, and of times."""

import random
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Final

from hookproof.mockserver.store.identifiers import Entropy

_SEEDED_START_NS: Final = 1_700_000_000_000_000_000
_SEEDED_STEP_NS: Final = 1_000_000
_SMALLEST_STEP_S: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Randomness:
    """The sources of random bytes, of jitter, and of the times inside identifiers."""

    identifiers: Entropy
    time_ns: Callable[[], int]
    secrets: Entropy
    jitter: random.Random

    @classmethod
    def from_seed(cls, seed: int | None) -> "Randomness":
        """Repeatable sources for a seed; cryptographically strong secrets without one."""
        if seed is None:
            return cls(
                # Identifiers must be unique but not secret, and each request needs some: a fast
                # generator is enough.
                identifiers=random.Random(secrets.randbits(256)).randbytes,
                time_ns=time.time_ns,
                secrets=secrets.token_bytes,
                jitter=random.Random(),
            )
        # The times in identifiers are counted, because a clock would not repeat.
        ticks = count(_SEEDED_START_NS, _SEEDED_STEP_NS)
        return cls(
            identifiers=random.Random(f"{seed} identifiers").randbytes,
            time_ns=lambda: next(ticks),
            secrets=random.Random(f"{seed} secrets").randbytes,
            jitter=random.Random(f"{seed} jitter"),
        )


def strictly_increasing(clock: Callable[[], float]) -> Callable[[], float]:
    """Wrap a clock so that each reading is at least a microsecond later than the one before.

    The order of creation is then also the order of `created_at`.
    """
    latest = 0.0

    def now() -> float:
        nonlocal latest
        latest = max(clock(), latest + _SMALLEST_STEP_S)
        return latest

    return now


def steady_clock(
    clock: Callable[[], float], monotonic: Callable[[], float] = time.monotonic
) -> Callable[[], float]:
    """Return a clock that reads as `clock` does now, and goes on evenly whatever that is set to."""
    offset = clock() - monotonic()
    return lambda: offset + monotonic()
