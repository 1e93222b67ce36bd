"""What is known of a delivery besides its own bytes."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Secrets, bodies and times that a sender may have mixed up with the right ones.

    The keys of `secrets` and `bodies` are how they are told: "the secret of endpoint 2", "the body
    of attempt 1". `secrets` are texts as the endpoint's own; `times` are Unix seconds, those of
    earlier attempts for example.
    """

    secrets: Mapping[str, str] = field(default_factory=dict)
    bodies: Mapping[str, bytes] = field(default_factory=dict)
    times: tuple[float, ...] = ()
