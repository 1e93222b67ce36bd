"""Why the document allows a server that no requirement calls wrong."""

from fnmatch import fnmatchcase
from typing import Final

from hookproof.mockserver.faults.operators.place import Place, PlaceKind, ValueKind

_LINKS: Final = "listPortalLinks getPortalLink updatePortalLink"
# What is shown in place of a value by these is no value.
_LOSING: Final = frozenset({"value_lost", "text_absent_as_empty", "false_as_absent"})
_NO_VALUE: Final = "an answer may show a field without a value (section 2.9)"

# Operations and patterns of fields that they show, and why any value may stand there.
_FREE: Final = (
    ("listSources", "*", "no operation creates a source, and nothing says what one shows"),
    (_LINKS, "auth_key token url", "the service makes it, perhaps anew for each answer"),
    (
        "createEndpoint expireEndpointSecret",
        "events failure_rate",
        "only a fetched endpoint has counts that the document binds to anything",
    ),
    (
        "createEndpoint expireEndpointSecret",
        "secrets.*_at",
        "the service alone knows when a secret changed",
    ),
    (
        "createBroadcastEvent",
        "endpoint_metadata.status endpoint_metadata.events endpoint_metadata.failure_rate",
        "they may have changed when the endpoint is fetched",
    ),
    (
        "createBroadcastEvent",
        "source_id source_metadata source_metadata.*",
        "events of the dialect name no source",
    ),
)


def _is_blank(place: Place) -> bool:
    """Whether what is zero, false or empty there is no value."""
    kind = None if place.field is None else place.field.value
    return kind is ValueKind.ARRAY or (kind is ValueKind.TEXT and place.is_in_record_of_event)


def why_allowed(operator: str, place: Place) -> str:
    """Why the document allows what this operator does; empty if nobody has said why."""
    if place.kind is not PlaceKind.SHOWN:
        return ""
    if operator in _LOSING or (operator == "zero_instead" and _is_blank(place)):
        return _NO_VALUE
    path = ".".join(place.path)
    return next(
        (
            reason
            for operations, patterns, reason in _FREE
            if place.operation in operations.split()
            and any(fnmatchcase(path, pattern) for pattern in patterns.split())
        ),
        "",
    )
