"""The fields of a dialect about error responses (section 7)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.constraints import MEDIA_TYPE, REFUSAL

# The fields that hold the status of a refusal.
REFUSALS: Final = (
    "malformed_body",
    "invalid_value",
    "unknown_resource",
    "unknown_project",
    "unknown_path",
    "method_not_allowed",
    "body_too_large",
    "unsupported_media_type",
    "slow_request",
)
# The refusals of keys, by the field of Authentication that holds the status of each.
KEY_REFUSALS: Final[Mapping[str, str]] = {
    "missing_key": "missing_key_status",
    "wrong_key": "wrong_key_status",
    "foreign_key": "foreign_key_status",
}
# Those of requests that are for no operation.
WITHOUT_OPERATION: Final = ("unknown_path", "method_not_allowed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """Section 7: error responses."""

    body: Annotated[
        Mapping[str, object],
        "error body; in a text {message} and {status} stand for themselves, {any} for any text",
    ]
    content_type: Annotated[str, "content type of an error body", MEDIA_TYPE]
    malformed_body: Annotated[Answer[int], "status for a body that is not JSON", REFUSAL]
    invalid_value: Annotated[
        Answer[int], "status for a field or parameter with a value that is not accepted", REFUSAL
    ]
    unknown_resource: Annotated[
        Answer[int], "status for an identifier that names nothing in the project", REFUSAL
    ]
    unknown_project: Annotated[Answer[int], "status for a project that does not exist", REFUSAL]
    unknown_path: Annotated[Answer[int], "status for a path outside the eight operations", REFUSAL]
    method_not_allowed: Annotated[Answer[int], "status for another method on a known path", REFUSAL]
    body_too_large: Annotated[Answer[int], "status for a body above the size limit", REFUSAL]
    unsupported_media_type: Annotated[
        Answer[int], "status for a body that is not declared as JSON", REFUSAL
    ]
    slow_request: Annotated[
        Answer[int], "status for a request that does not arrive in time", REFUSAL
    ]
    by_operation: Annotated[
        Mapping[str, Mapping[str, Answer[int]]],
        "statuses that single operations have instead: {operation: {refusal: status}}",
        REFUSAL,
    ] = field(default_factory=dict)
    bodies: Annotated[
        Mapping[str, object],
        "bodies that single refusals have instead of body, those of keys as missing_key, wrong_key"
        " and foreign_key: {refusal: body}; null: none",
    ] = field(default_factory=dict)

    def status(self, refusal: str, operation_id: str | None = None) -> Answer[int]:
        """The status of a refusal by the name of its field, at an operation if one is known."""
        own = self.by_operation.get(operation_id or "", {})
        usual: Answer[int] = getattr(self, refusal)
        return own.get(refusal, usual)

    def statuses(self, refusal: str) -> tuple[Answer[int], ...]:
        """The statuses that a refusal can have, whatever the operation is."""
        own = [statuses[refusal] for statuses in self.by_operation.values() if refusal in statuses]
        return (getattr(self, refusal), *own)
