"""A sequence of operations, as the state machine makes it up and as the experiment `sequences`
plays it.

Steps name their endpoints ("e0") and portal links ("l0") instead of knowing identifiers, so that
the same sequence can be played against any target; a step about an endpoint that was never created
is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# What the names of portal links begin with; `l0` is the first that the project holds.
LINK_PREFIX = "l"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One operation. `fields` are those of its body; the same number stands for the same value,
    another for another.
    """

    operation_id: str
    subject: str | None = None
    fields: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A JSON object from which `from_json` makes an equal step."""
        return {
            "operation_id": self.operation_id,
            "subject": self.subject,
            "fields": dict(self.fields),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Step":
        """The step that `to_json` wrote."""
        return cls(
            operation_id=value["operation_id"], subject=value["subject"], fields=value["fields"]
        )

    def __str__(self) -> str:
        told = [
            *filter(None, [self.subject]),
            *(f"{name}={number}" for name, number in self.fields.items()),
        ]
        return f"{self.operation_id}({', '.join(told)})"
