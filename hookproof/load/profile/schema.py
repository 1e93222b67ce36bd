"""The JSON Schema of a load profile; its bounds keep a typing error from becoming a flood."""

from typing import Any, Final

from hookproof.load.profile.thresholds import form_of_thresholds
from hookproof.spec.contract.service_contract import OPERATION_IDS

HIGHEST_RATE: Final = 100_000
LONGEST_S: Final = 86_400
MOST_USERS: Final = 4096
MOST_ENDPOINTS: Final = 20_000

_SECONDS: Final = {"type": "number", "minimum": 0, "maximum": LONGEST_S}
_SOME_SECONDS: Final = {"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST_S}
_RATE: Final = {"type": "number", "exclusiveMinimum": 0, "maximum": HIGHEST_RATE}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }


_ENDPOINTS: Final = _object(
    [],
    count={"type": "integer", "minimum": 1, "maximum": MOST_ENDPOINTS},
    limited={"type": "integer", "minimum": 0, "maximum": MOST_ENDPOINTS},
    rate_limit={"type": "integer", "minimum": 1, "maximum": HIGHEST_RATE},
    rate_limit_duration_s={"type": "integer", "minimum": 1, "maximum": LONGEST_S},
    advanced_signatures={"type": "boolean"},
    http_timeout_s={"type": "integer", "minimum": 1, "maximum": LONGEST_S},
)
_REPLY: Final = _object(
    [],
    status={"type": "integer", "minimum": 200, "maximum": 599},
    delay_s=_SECONDS,
    hang={"type": "boolean"},
)
_TROUBLE: Final = _object(
    ["endpoints", "from_s", "to_s", "reply"],
    endpoints={"type": "integer", "minimum": 1, "maximum": MOST_ENDPOINTS},
    from_s=_SECONDS,
    to_s=_SOME_SECONDS,
    reply=_REPLY,
)

SCHEMA: Final[dict[str, Any]] = _object(
    ["name", "summary", "rate", "duration_s", "users", "drain_s", "fail_if"],
    name={"type": "string"},
    summary={"type": "string"},
    rate=_RATE,
    duration_s=_SOME_SECONDS,
    users={"type": "integer", "minimum": 1, "maximum": MOST_USERS},
    drain_s=_SECONDS,
    drain_at_most_s=_SECONDS,
    late_after_s=_SOME_SECONDS,
    keep_up_s=_SOME_SECONDS,
    points={
        "type": "array",
        "items": {
            "type": "array",
            "prefixItems": [_SECONDS, {**_RATE, "exclusiveMinimum": -1e-9}],
            "minItems": 2,
        },
    },
    spike=_object(
        ["times", "from_s", "to_s"],
        times={"type": "number", "exclusiveMinimum": 1, "maximum": 1000},
        from_s=_SECONDS,
        to_s=_SECONDS,
    ),
    mix={
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"enum": list(OPERATION_IDS)},
        "additionalProperties": {"type": "number", "exclusiveMinimum": 0},
    },
    payload_bytes={"type": "integer", "minimum": 0, "maximum": 1_000_000},
    endpoints=_ENDPOINTS,
    roll=_object(
        ["every_s", "expiration_s"],
        every_s=_SOME_SECONDS,
        expiration_s={"type": "integer", "minimum": 1},
    ),
    trouble={"type": "array", "items": _TROUBLE},
    search=_object(
        ["most", "within"],
        most=_RATE,
        within={"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    ),
    fail_if={"type": "array", "items": {"type": "string"}},
)


def profile_schema() -> dict[str, Any]:
    """The schema for editors; the reader itself has more to say about a bad threshold."""
    threshold = {"type": "string", "pattern": form_of_thresholds()}
    properties = {**SCHEMA["properties"], "fail_if": {"type": "array", "items": threshold}}
    return {**SCHEMA, "properties": properties}
