"""The steps of a generated sequence of operations, which the experiment `sequences` performs.

Steps refer to endpoints ("e0") and portal links ("l0") by names instead of identifiers, so that the
same sequence can be performed at any target. A step about an endpoint that was never created is
left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# The prefix of the names of portal links; `l0` is the first one in the project.
LINK_PREFIX = "l"


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceStep:
    """One operation. `fields` are those of its body, with a number for each distinct value."""

    operation_id: str
    subject: str | None = None
    fields: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "operation_id": self.operation_id,
            "subject": self.subject,
            "fields": dict(self.fields),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "SequenceStep":
        return cls(
            operation_id=value["operation_id"], subject=value["subject"], fields=value["fields"]
        )

    def __str__(self) -> str:
        arguments = [
            *filter(None, [self.subject]),
            *(f"{name}={number}" for name, number in self.fields.items()),
        ]
        return f"{self.operation_id}({', '.join(arguments)})"
