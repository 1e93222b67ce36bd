"""What target.yaml may hold. A key that is not here is refused, so that no setting is ever silently
without effect.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Presence(StrEnum):
    """What target.yaml says about a capability."""

    YES = "yes"
    NO = "no"
    AUTO = "auto"


CAPABILITIES: Final = (
    "api_key",
    "basic_auth",
    "oauth2",
    "mtls",
    "tls_verification",
    "rate_limit",
    "portal_links",
    "sources",
)

# The hooks of `provision`, and the names of what each is called with.
HOOK_ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "create_portal_link": ("project", "portal_link"),
    "create_source": ("project", "source"),
    "after_endpoint_created": ("project", "endpoint"),
    "remove_endpoint": ("project", "endpoint"),
    "after_run": (),
    "fresh_project": (),
}
STEP_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")


def _closed(properties: Mapping[str, object], **further: object) -> dict[str, object]:
    return {"type": "object", "additionalProperties": False, "properties": properties, **further}


_TEXT: Final = {"type": "string", "minLength": 1}
_TEXTS: Final = {"type": "object", "additionalProperties": {"type": "string"}}
_IDENTIFIERS: Final = {"type": "array", "items": _TEXT, "uniqueItems": True}
_SECONDS: Final = {
    "type": "number",
    "exclusiveMinimum": 0,
    "maximum": 86400,
    "description": "in seconds",
}
_STEP: Final = _closed(
    {
        "method": {"enum": list(STEP_METHODS)},
        "url": _TEXT,
        "headers": _TEXTS,
        "body": {},
        "status": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "integer", "minimum": 100, "maximum": 599},
        },
        "keep": _TEXTS,
    },
    required=["url"],
)
_STEPS: Final = {"type": "array", "minItems": 1, "items": _STEP}
_PROVISION: Final = {
    "if": {"type": "string"},
    "then": {
        "pattern": r"^.+\.py:\w+$",
        "description": "a class in a file, as ./hooks.py:Provisioner",
    },
    "else": _closed(dict.fromkeys(HOOK_ARGUMENTS, _STEPS), minProperties=1),
}

SCHEMA: Final = _closed(
    {
        "base_url": {**_TEXT, "description": "where the target's /api is"},
        "projects": {
            "type": "array",
            "minItems": 1,
            "items": _closed({"id": _TEXT, "api_key": _TEXT}, required=["id", "api_key"]),
        },
        "dialect": {
            "type": ["string", "object"],
            "description": "a shipped dialect's name, a file, its answers, or infer",
        },
        "headers": _TEXTS,
        "connection": _closed(
            {
                "ca": _TEXT,
                "client_cert": _TEXT,
                "client_key": _TEXT,
                "proxy": _TEXT,
                "verify": {"type": "boolean"},
            },
            dependentRequired={"client_cert": ["client_key"], "client_key": ["client_cert"]},
            **{
                "x-expected": "a mapping in which client_cert and client_key stand together or not"
                " at all"
            },
        ),
        "receiver": _closed(
            {
                "bind": _TEXT,
                "public_url": _TEXT,
                "ca": _TEXT,
                "ca_key": _TEXT,
                "tls_cert": _TEXT,
                "tls_key": _TEXT,
                "http": {"type": "boolean"},
                "forwarded": {"type": "boolean"},
                "mail": _TEXT,
            },
            dependentRequired={
                "ca": ["ca_key"],
                "ca_key": ["ca"],
                "tls_cert": ["tls_key"],
                "tls_key": ["tls_cert"],
            },
            **{
                "x-expected": "a mapping in which ca and ca_key, and tls_cert and tls_key, stand"
                " together or not at all"
            },
        ),
        "budgets": _closed(
            {
                **dict.fromkeys(("request_s", "delivery_s", "quiet_s", "total_s"), _SECONDS),
                "requests_per_s": {
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "maximum": 100000,
                    "description": "how many requests the API gets each second at most",
                },
            }
        ),
        "provision": _PROVISION,
        "fixtures": {
            "type": "object",
            "additionalProperties": _closed(
                {"portal_links": _IDENTIFIERS, "sources": _IDENTIFIERS}
            ),
        },
        "capabilities": _closed({name: {"enum": list(Presence)} for name in CAPABILITIES}),
        "egress_canaries": {
            "type": "array",
            "items": {**_TEXT, "description": "an IP address"},
            "uniqueItems": True,
        },
    }
)
