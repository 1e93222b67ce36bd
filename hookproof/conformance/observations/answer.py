"""Reads an exchange: what became of the request, and the resources in its answer (section 2).

An answer is a success, a refusal, or neither. What is neither (a redirect, a page for people, a
server error, no answer at all) proves nothing about what was to succeed or to be refused.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from hookproof.conformance.model.evidence import LONG, VERY_LONG, Exchange
from hookproof.conformance.model.tolerances import SENT_WITHIN_S
from hookproof.spec.dialect.model import Dialect

ZERO_TIME: Final = "0001-01-01T00:00:00"
CLIENT_ERRORS: Final = range(400, 500)
SERVER_ERRORS: Final = range(500, 600)

# Too many requests, or a gateway or the service itself that is away for now: what becomes of the
# request is not said (RFC 6585, section 4; RFC 9110, sections 15.6.3 to 15.6.5).
NOT_NOW: Final = frozenset({429, 502, 503, 504})
# The request did not arrive in time (RFC 9110, section 15.5.9): from a busy machine, if ever.
TOO_SLOW: Final = HTTPStatus.REQUEST_TIMEOUT

# Roles of requests that no client sends, or outside the prefix of the API: what lies there may be
# another service's (the document's preface).
REFUSED_BY_PROXIES: Final = frozenset({"odd", "unfinished"})


class Kind(StrEnum):
    """The kinds of resources, by the name of their schema in the contract."""

    ENDPOINT = "Endpoint"
    SECRET = "Secret"  # noqa: S105
    PORTAL_LINK = "PortalLink"
    SOURCE = "Source"
    EVENT = "Event"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource in an answer. `nested` is true for a part of another one, such as a secret."""

    kind: Kind
    fields: Mapping[str, Any]
    nested: bool = False

    def text(self, name: str) -> str | None:
        """The field of this name if it is a text and not empty."""
        value = self.fields.get(name)
        return value if isinstance(value, str) and value else None


# The kind of resource in the answer to each operation that is not a list (section 4).
SHOWS: Final = {
    "createEndpoint": Kind.ENDPOINT,
    "getEndpoint": Kind.ENDPOINT,
    "expireEndpointSecret": Kind.ENDPOINT,
    "getPortalLink": Kind.PORTAL_LINK,
    "updatePortalLink": Kind.PORTAL_LINK,
    "createBroadcastEvent": Kind.EVENT,
}

LISTS: Final = {"listPortalLinks": Kind.PORTAL_LINK, "listSources": Kind.SOURCE}

# The fields that hold other resources, one or an array of them (sections 2.3, 2.6 and 2.8).
PARTS: Final = {
    Kind.ENDPOINT: {"secrets": Kind.SECRET},
    Kind.PORTAL_LINK: {"endpoints_metadata": Kind.ENDPOINT},
    Kind.EVENT: {"endpoint_metadata": Kind.ENDPOINT, "source_metadata": Kind.SOURCE},
}


def reaches_the_service(exchange: Exchange) -> bool:
    """Whether the service itself answers; a proxy in front of it may refuse other requests in its
    own words.
    """
    return exchange.role not in REFUSED_BY_PROXIES


def was_answered(exchange: Exchange) -> bool:
    """Whether there was an answer that says what became of the request."""
    if exchange.status == TOO_SLOW:
        return exchange.duration_s <= SENT_WITHIN_S
    return exchange.status is not None and exchange.status not in NOT_NOW


def was_successful(exchange: Exchange) -> bool:
    """Whether the answer is a success as the document has it: a 2xx, and an object as data in a
    JSON object that is not flagged as a failure (section 2.1).
    """
    return was_accepted(exchange) and isinstance(exchange.data, dict)


def was_accepted(exchange: Exchange) -> bool:
    """Whether the request was done, for all that the answer says: a 2xx with a JSON object that is
    not flagged as a failure. Its data may be spoilt.
    """
    body = exchange.json if exchange.succeeded else None
    return isinstance(body, dict) and body.get("status") is not False


def refused(exchange: Exchange) -> bool:
    """Whether the target answered with a client error that is about this request."""
    return exchange.status in CLIENT_ERRORS and was_answered(exchange)


def accepted_or_refused(exchange: Exchange) -> bool:
    """Whether the answer says what becomes of the request: a success or a refusal."""
    return exchange.succeeded or refused(exchange)


def answered_as_duplicate(exchange: Exchange, dialect: Dialect) -> bool:
    """Whether the status is one that the dialect gives a broadcast with a used idempotency_key, and
    this one has a key.
    """
    return (
        exchange.operation_id == "createBroadcastEvent"
        and has_value(sent(exchange).get("idempotency_key"))
        and dialect.idempotency.duplicate_status.allows(exchange.status)
    )


def refused_as_duplicate(exchange: Exchange, dialect: Dialect) -> bool:
    """Whether a broadcast may be refused for its used idempotency_key (section 4.8)."""
    return refused(exchange) and answered_as_duplicate(exchange, dialect)


def shown_uid(exchange: Exchange | None) -> str | None:
    """The uid of the resource in a successful answer; None if it is missing, empty or no text."""
    uid = None if exchange is None else shown(exchange).get("uid")
    return uid if isinstance(uid, str) and uid else None


def shown(exchange: Exchange) -> dict[str, Any]:
    """The data of a successful answer if it is an object, else an empty one."""
    data = exchange.data
    return data if isinstance(data, dict) else {}


def sent(exchange: Exchange) -> dict[str, Any]:
    """The request body if it is a JSON object, else an empty one."""
    body = exchange.request_json
    return body if isinstance(body, dict) else {}


def items(exchange: Exchange) -> tuple[Mapping[str, Any], ...]:
    """The objects in the content of a list; anything else is left out (section 2.2)."""
    content = shown(exchange).get("content")
    if not isinstance(content, list):
        return ()
    return tuple(item for item in content if isinstance(item, dict))


def shows_a_list(page: Exchange) -> bool:
    """Whether a page of a list has an array as content (section 2.2)."""
    return isinstance(shown(page).get("content"), list)


def shows_every_uid(page: Exchange) -> bool:
    """Whether each resource on a page of a list has a uid by which it can be told."""
    return all(isinstance(item.get("uid"), str) and item["uid"] for item in items(page))


def pagination(exchange: Exchange) -> Mapping[str, Any]:
    """The pagination object of a list, or an empty one (section 2.2)."""
    value = shown(exchange).get("pagination")
    return value if isinstance(value, dict) else {}


def cursor(page: Exchange, name: str) -> str | None:
    """A cursor of a page as a query carries it; None without one (section 2.2).

    A number can be written there too; that it is none of the texts that cursors are, 2.2-6 and
    2.2-7 judge.
    """
    value = pagination(page).get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else None


def has_numeric_cursor(page: Exchange, name: str) -> bool:
    """Whether a cursor of a page is a number, so that nobody knows whether it leads anywhere."""
    return cursor(page, name) is not None and not isinstance(pagination(page)[name], str)


def resources(exchange: Exchange) -> tuple[Resource, ...]:
    """Every resource in a successful answer, the outer ones before their parts."""
    length = len(exchange.response_body)
    if length > VERY_LONG:  # they would be kept for too long
        return _resources(exchange)
    return (_of_long if length > LONG else _of_short)(exchange)


def endpoints_in(exchange: Exchange) -> tuple[Resource, ...]:
    """Every endpoint in a successful answer, be it in an event or a portal link."""
    return tuple(part for part in resources(exchange) if part.kind is Kind.ENDPOINT)


def _resources(exchange: Exchange) -> tuple[Resource, ...]:
    operation_id = exchange.operation_id or ""
    if operation_id in SHOWS and shown(exchange):
        return tuple(_with_parts(SHOWS[operation_id], shown(exchange), nested=False))
    listed = items(exchange) if operation_id in LISTS else ()
    return tuple(
        resource
        for item in listed
        for resource in _with_parts(LISTS[operation_id], item, nested=False)
    )


def _with_parts(kind: Kind, fields: Mapping[str, Any], *, nested: bool) -> Iterator[Resource]:
    yield Resource(kind=kind, fields=fields, nested=nested)
    for name, part_kind in PARTS.get(kind, {}).items():
        value = fields.get(name)
        parts: list[Any] = []
        if isinstance(value, list):
            parts = value
        elif has_value(value):  # an empty object may be how a field without value is shown
            parts = [value]
        for part in parts:
            if isinstance(part, dict):
                yield from _with_parts(part_kind, part, nested=True)


_of_short: Final = lru_cache(maxsize=256)(_resources)
_of_long: Final = lru_cache(maxsize=8)(_resources)


def path_parameters(exchange: Exchange, template: str) -> dict[str, str]:
    """The values of a path template's parameters in the URL of an exchange, decoded."""
    steps = template.strip("/").split("/")
    segments = urlsplit(exchange.url).path.strip("/").split("/")[-len(steps) :]
    return {
        step[1:-1]: unquote(value)
        for step, value in zip(steps, segments, strict=False)
        if step.startswith("{")
    }


def has_value(value: object) -> bool:
    """Whether a field has a value, in whichever way its absence is shown (section 2.9).

    A time of the year 1 is none: Go and .NET write one so that was never set.
    """
    if isinstance(value, str):
        return value != "" and not value.startswith(ZERO_TIME)
    return value not in (None, [], {})
