"""What is known about a delivery's context."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownValues:
    """Secrets, bodies and times that a sender may have confused with the right ones.

    The keys of `secrets` and `bodies` describe them: "the secret of endpoint 2", "the body of
    attempt 1". `times` are Unix seconds, of earlier attempts for example.
    """

    secrets: Mapping[str, str] = field(default_factory=dict)
    bodies: Mapping[str, bytes] = field(default_factory=dict)
    times: tuple[float, ...] = ()
