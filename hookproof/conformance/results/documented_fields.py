"""Counts, for every documented field, the answers that showed it with a value, and the accepted
requests that set it (section 2).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import (
    LISTS,
    SHOWS,
    has_value,
    items,
    pagination,
    sent,
    shown,
)
from hookproof.spec.contract.service_contract import OPERATION_IDS
from hookproof.spec.openapi_document import (
    content_schema,
    openapi_document,
    request_bodies,
    resolved,
    schema_named,
    without_null,
)

# Resources that are counted where they are the answer, not where another one holds them.
COUNTED_ON_THEIR_OWN: Final = frozenset({"Endpoint", "Source"})
# Fields of a request that the resource has under another name (sections 2.8 and 4.8).
SHOWN_AS: Final = {"custom_headers": "headers"}
PAGINATION: Final = "Pagination"
# So many of what is missing are named in a sentence.
NAMED: Final = 12
KINDS: Final = (*dict.fromkeys((*SHOWS.values(), *LISTS.values())), PAGINATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedField:
    """A field of a resource and those inside it; `name` is that of a `FieldCount`."""

    name: str
    inner: "Fields"


# The fields of an object by name.
Fields = Mapping[str, DocumentedField]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldCount:
    """How many answers showed a field with a value, and how many accepted requests set it.

    `name` is the kind of the resource and the path in it, such as `Endpoint.secrets.value`.
    """

    name: str
    shown: int
    sent: int

    @property
    def is_withheld(self) -> bool:
        return self.sent > 0 and self.shown == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How many of the document's operations succeeded, and of its fields were shown with a value.

    `missing` are the names of the others.
    """

    seen: int
    missing: tuple[str, ...]

    @property
    def percent(self) -> float:
        return 100 * self.seen / (self.seen + len(self.missing))

    @property
    def words(self) -> str:
        """What is missing, in a sentence without its end."""
        named = ", ".join(self.missing[:NAMED])
        others = len(self.missing) - NAMED
        more = f" and {others} more" if others > 0 else ""
        return (
            f"{self.percent:.1f} % of the operations and fields of the document were seen to work"
            f" or shown with a value; missing are {named}{more}"
        )


class FieldCounter:
    """Counts while a run goes on."""

    def __init__(self) -> None:
        self._shown: Counter[str] = Counter()
        self._sent: Counter[str] = Counter()
        self._succeeded: set[str] = set()

    def add(self, exchange: Exchange) -> None:
        """Count what the answer shows and, if it is a success, what its request has set."""
        operation_id = exchange.operation_id or ""
        if not shown(exchange):
            return
        self._succeeded.add(operation_id)
        if operation_id in LISTS:
            found = [(LISTS[operation_id], item) for item in items(exchange)]
            self._count(self._shown, [*found, (PAGINATION, pagination(exchange))])
        elif operation_id in SHOWS:
            kind = SHOWS[operation_id]
            self._count(self._shown, [(kind, shown(exchange))])
            names = settable_fields(operation_id)
            settings = {
                names[name]: value for name, value in sent(exchange).items() if name in names
            }
            self._count(self._sent, [(kind, settings)])

    def counts(self) -> tuple[FieldCount, ...]:
        """Every documented field, in the order of the document; none if nothing was counted."""
        if not self._shown:
            return ()
        return tuple(
            FieldCount(name=name, shown=self._shown[name], sent=self._sent[name])
            for kind in KINDS
            for name in _names(documented_fields(kind))
        )

    def coverage(self) -> Coverage:
        """What was seen of all operations and fields of the document."""
        fields = [name for kind in KINDS for name in _names(documented_fields(kind))]
        missing = [
            *(name for name in OPERATION_IDS if name not in self._succeeded),
            *(name for name in fields if not self._shown[name]),
        ]
        seen = len(OPERATION_IDS) + len(fields) - len(missing)
        return Coverage(seen=seen, missing=tuple(missing))

    def _count(self, counter: Counter[str], found: Iterable[tuple[str, Any]]) -> None:
        """Count each field once for all resources of one answer or request."""
        present: set[str] = set()
        for kind, value in found:
            _add_present(present, documented_fields(kind), value)
        counter.update(present)


@cache
def settable_fields(operation_id: str) -> Mapping[str, str]:
    """The fields of an operation's request body, each with its name in the resource."""
    document = openapi_document()
    body = dict(request_bodies(document)).get(operation_id)
    members = () if body is None else resolved(document, content_schema(body))["properties"]
    return {name: SHOWN_AS.get(name, name) for name in members}


@cache
def documented_fields(kind: str) -> Fields:
    """The fields of a named schema of the contract."""
    return _fields(kind, schema_named(openapi_document(), kind))


def _fields(place: str, schema: Mapping[str, Any]) -> Fields:
    document = openapi_document()
    fields: dict[str, DocumentedField] = {}
    for name, member in resolved(document, dict(schema)).get("properties", {}).items():
        inner = without_null(member)
        inner = inner.get("items", inner)
        own = inner.get("$ref", "").rpartition("/")[2] in COUNTED_ON_THEIR_OWN
        full = f"{place}.{name}"
        fields[name] = DocumentedField(name=full, inner={} if own else _fields(full, inner))
    return fields


def _add_present(present: set[str], fields: Fields, value: Any) -> None:
    """Add the names of the fields with a value in an object, or in any object of an array."""
    for part in value if isinstance(value, list) else (value,):
        for name, content in part.items() if isinstance(part, dict) else ():
            field = fields.get(name)
            if field is not None and has_value(content):
                present.add(field.name)
                if field.inner:
                    _add_present(present, field.inner, content)


def _names(fields: Fields) -> Iterator[str]:
    for field in fields.values():
        yield field.name
        yield from _names(field.inner)
