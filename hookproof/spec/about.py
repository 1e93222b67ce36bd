"""What requirements are about, in data: the member `about`, which `requirements.yaml` explains.

What a fault violates follows from it, and which fields would have helped to see what was not seen.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from hookproof.spec.contract.service_contract import OPERATION_IDS
from hookproof.spec.openapi_document import (
    content_schema,
    openapi_document,
    operation_named,
    resolved,
)

# A field is shown as it was sent.
ECHOED: Final = "echoed"
# What stands for several operations.
GROUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "all": OPERATION_IDS,
        "endpoints": ("createEndpoint", "getEndpoint", "expireEndpointSecret"),
        "portal_links": ("listPortalLinks", "getPortalLink", "updatePortalLink"),
        "lists": ("listPortalLinks", "listSources"),
    }
)
# What stands for the fields that a creation sets and an endpoint shows, with all that is in them.
SETTINGS: Final = "SETTINGS"
# The operations by which deliveries are caused, and what stands for them in references.
CAUSES: Final = ("createEndpoint", "createBroadcastEvent")
DELIVERY: Final = "delivery"

_ENVELOPE: Final = "envelope"
_PAGINATION: Final = "pagination"


class Use(StrEnum):
    """How a field bears on a requirement."""

    SHOWN = "shown"
    IF_SHOWN = "if_shown"
    TAKEN = "taken"
    STORED = "stored"


# Patterns of the paths of fields, by operation.
Places = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """`fields` are the paths of those that the sentence names, `places` those that bear on it."""

    law: str
    fields: tuple[str, ...] = ()
    places: Mapping[Use, Places] = field(default_factory=dict, hash=False)

    def depends_on(self, use: Use, operation: str, path: str) -> bool:
        """Whether a field of what an operation shows or takes bears on the requirement so."""
        patterns = self.places.get(use, {}).get(operation, ())
        return any(_matches(path, pattern) for pattern in patterns)


# What a requirement is about that was read from a file of a run: it is not written there.
UNSAID: Final = About(law="")


def read_about(given: Mapping[str, Any], operations: Sequence[str]) -> About:
    """The `about` of a requirement with these operations."""
    law, fields = given["law"], tuple(given.get("fields", ()))
    places = {use: _by_operation(given[use]) for use in Use if use in given}
    if law == ECHOED:
        places.setdefault(Use.SHOWN, dict.fromkeys(operations, fields))
        takes = [name for name in operations if documented_fields(name, Use.TAKEN)]
        places.setdefault(Use.TAKEN, dict.fromkeys(takes, fields))
    return About(law=law, fields=fields, places=places)


def _by_operation(given: Mapping[str, Sequence[str]]) -> Places:
    found: dict[str, tuple[str, ...]] = {}
    for word, patterns in given.items():
        for name in GROUPS.get(word, (word,)):
            found[name] = (*found.get(name, ()), *patterns)
    return found


def about_problems(
    given: Mapping[str, Any], operations: Sequence[str]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Fields that the OpenAPI document does not have, each with its location in `about`."""
    known = _fields_of(tuple(operations) or CAUSES, Use.SHOWN, Use.TAKEN)
    for index, name in enumerate(given.get("fields", ())):
        if name not in known:
            message = f"no operation of it has a field {name}{did_you_mean(name, known)}"
            yield ("fields", index), message
    for use in Use:
        for word, patterns in given.get(use, {}).items():
            known = _fields_of(GROUPS.get(word, (word,)), use)
            for index, pattern in enumerate(patterns):
                if pattern not in known and not any(_matches(path, pattern) for path in known):
                    message = f"{word} has no field {pattern}{did_you_mean(pattern, known)}"
                    yield (use, word, index), message


@cache
def _fields_of(operations: tuple[str, ...], *uses: Use) -> frozenset[str]:
    return frozenset(
        path for name in operations for use in uses for path in documented_fields(name, use)
    )


def did_you_mean(name: str, known: Collection[str]) -> str:
    """The end of a message about a name that is not among the known ones."""
    near = [] if name in known else get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _matches(path: str, pattern: str) -> bool:
    if SETTINGS not in pattern:
        return path == pattern or ("*" in pattern and fnmatchcase(path, pattern))
    prefix = pattern.removesuffix(SETTINGS)
    first = path.removeprefix(prefix).partition(".")[0]
    return path.startswith(prefix) and first in _settings()


@cache
def _settings() -> frozenset[str]:
    created = "createEndpoint"
    return documented_fields(created, Use.TAKEN) & documented_fields(created, Use.SHOWN)


def documented_fields(operation: str, use: Use) -> frozenset[str]:
    """The paths of all fields that an operation shows, or takes.

    Those of a resource stand for themselves, in a list too; those of the envelope and of pagination
    begin with these words. An operation with a body can take what it shows: members of credentials
    are documented there alone (section 2.5).
    """
    shown, taken = _shown_and_taken(operation)
    return shown if use in (Use.SHOWN, Use.IF_SHOWN) else taken


@cache
def _shown_and_taken(operation: str) -> tuple[frozenset[str], frozenset[str]]:
    document = openapi_document()
    described = operation_named(document, operation)
    (answer,) = (
        resolved(document, each)
        for status, each in described["responses"].items()
        if status.startswith("2")
    )
    envelope = _members(content_schema(answer))
    data = _members(envelope["data"])
    content = data.get("content")
    shown = {*_paths(data if content is None else _members(content), "")}
    if content is not None:
        shown |= {"content", *_paths({_PAGINATION: data[_PAGINATION]}, "")}
    shown |= {f"{_ENVELOPE}.{name}" for name in envelope}
    if "requestBody" not in described:
        return frozenset(shown), frozenset()
    body = _members(content_schema(described["requestBody"]))
    credentials = (path for path in shown if path.partition(".")[0] in body)
    return frozenset(shown), frozenset({*_paths(body, ""), *credentials})


def _paths(members: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for name, member in members.items():
        yield prefix + name
        yield from _paths(_members(member), f"{prefix}{name}.")


def _members(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The members of an object, or of the elements of an array."""
    schema = resolved(openapi_document(), dict(schema))
    found = dict(schema.get("properties", {}))
    parts = [part for keyword in ("allOf", "anyOf", "oneOf") for part in schema.get(keyword, ())]
    for part in [*parts, schema.get("items", {})]:
        found |= _members(part) if part else {}
    return found
