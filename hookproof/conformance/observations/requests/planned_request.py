"""Single requests that are planned before they are sent, and the class that observes each."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Self

from hookproof.conformance.observations.requests.mistakes import (
    Bound,
    EndpointUrlTried,
    Mistake,
    MistakenRequest,
    RequestTried,
    RequestWithinBounds,
    Scheme,
    Unlisted,
    UnlistedInput,
)

# How a request of each kind is observed: the class, and the field of it that holds the kind.
OBSERVED_AS: Final[Mapping[type[StrEnum], tuple[type[RequestTried], str]]] = {
    Mistake: (MistakenRequest, "mistake"),
    Unlisted: (UnlistedInput, "kind"),
    Bound: (RequestWithinBounds, "bound"),
    Scheme: (EndpointUrlTried, "scheme"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRequest:
    """One request to send, the class of its observation, and the fields of that class.

    `ordinary` is the body of a request that differs in what is tried alone; without it, that is a
    plain one. Where one `beside_full` is taken, with every field, that stands for it.
    """

    about: str
    observes: type[RequestTried]
    operation_id: str
    body: Mapping[str, Any] | None = None
    ordinary: Mapping[str, Any] | None = None
    beside_full: bool = False
    field: str = ""
    path: Mapping[str, str] | None = None
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def topic(self) -> tuple[object, ...]:
        """What is asked about, whatever the operation."""
        return (self.observes, *self.facts.values())

    @classmethod
    def to_show(
        cls,
        kind: Mistake | Unlisted | Bound | Scheme,
        operation_id: str,
        field: str,
        body: Mapping[str, Any],
        ordinary: Mapping[str, Any] | None = None,
        *,
        beside_full: bool = False,
    ) -> Self:
        """A request with this mistake or peculiarity in one field of its body."""
        observes, fact = OBSERVED_AS[type(kind)]
        return cls(
            about=kind.value,
            observes=observes,
            facts={fact: kind},
            operation_id=operation_id,
            field=field,
            body=body,
            ordinary=ordinary,
            beside_full=beside_full,
        )
