"""Which requirements a wrong field violates, by its place: computed from the catalogue.

Most follow from the sentences of the catalogue, which name fields and operations. The others are
laws that speak of fields in words; each is here once, for all the places that it speaks of.
"""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final

from hookproof.mockserver.faults.operators.altered_fields import ABSENT, Change
from hookproof.mockserver.faults.operators.place import (
    ENVELOPE,
    PAGINATION,
    Content,
    Place,
    PlaceKind,
    ValueKind,
)
from hookproof.mockserver.faults.operators.places import STORED_FIELDS
from hookproof.mockserver.faults.operators.telling import is_changed_in_sources, telling_texts
from hookproof.spec.catalogue import Requirement, load_catalogue
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import EventSource, SortKey

TYPES: Final = "have the documented names and types"
_ENDPOINTS: Final = "createEndpoint getEndpoint expireEndpointSecret"
_LINKS: Final = "listPortalLinks getPortalLink updatePortalLink"
_ALL: Final = f"{_ENDPOINTS} {_LINKS} listSources createBroadcastEvent"
# Fields that a creation sets and the answers show; the rest of section 2.3 is the service's.
_SETTINGS: Final = " ".join(
    f"{name} {name}.*"
    for name in STORED_FIELDS["createEndpoint"]
    if name not in ("secret", "is_disabled")
)
_IDENTIFYING: Final = ("name", "url", "owner_id")
_OF_LINK: Final = "name owner_id auth_type can_manage_endpoint"
_FIELDS: Final = f"{_SETTINGS} uid status events failure_rate created_at project_id"
_RECORD: Final = f"{_FIELDS} secrets secrets.*"
# What of a record stays the same until the endpoint is fetched.
_LASTING: Final = f"{_SETTINGS} uid created_at project_id secrets secrets.*"

# Operations and patterns of fields that these show, and what a wrong value there violates.
_SHOWN: Final = (
    (_ALL, "project_id endpoint*_metadata.project_id source_metadata.project_id", "1-3"),
    # Endpoints: what was sent, what creation showed, and what a roll leaves as it was.
    ("createEndpoint getEndpoint", f"{_SETTINGS} project_id", "4.2-5"),
    ("createEndpoint", "owner_id", "2.6-3 9-3"),
    (_ENDPOINTS, f"{_SETTINGS} project_id", "4.3-11"),
    (_ENDPOINTS, "url", "2.3-3"),
    ("getEndpoint", " ".join(_IDENTIFYING), "2.6-6"),
    ("getEndpoint", _RECORD, "2.6-10 2.8-10"),
    ("createEndpoint", "uid", "2.3-1 4.2-1 4.2-4 4.3-1 9-4"),
    ("getEndpoint", "uid", "4.2-4 4.2-5"),
    ("createEndpoint getEndpoint", "status", "3-1 3-2"),
    ("getEndpoint", "events", "2.3-20"),
    ("createEndpoint getEndpoint", "created_at", "4.2-5"),
    ("createEndpoint", "secrets", "2.3-10 2.3-11 2.3-12 4.2-6"),
    ("createEndpoint", "secrets.value", "2.3-11 2.3-12 2.3-13 2.4-3 2.4-4 4.2-6"),
    ("getEndpoint", "secrets secrets.value", "2.4-4"),
    ("getEndpoint", "secrets secrets.uid secrets.value", "4.2-6 4.3-13 4.3-14 4.3-22"),
    ("createEndpoint", "secrets.uid", "4.2-6"),
    ("expireEndpointSecret", "secrets", "4.3-12 4.3-13 4.3-15 4.3-17 4.3-19"),
    ("expireEndpointSecret", "secrets.value", "4.3-12 4.3-13 4.3-19 2.4-4"),
    ("expireEndpointSecret", "secrets.expires_at", "4.3-13 4.3-15 4.3-16 4.3-17 4.3-18"),
    ("getEndpoint", "secrets.expires_at", "4.3-16"),
    ("createEndpoint getEndpoint", "secrets.expires_at", "2.4-5"),
    ("createEndpoint", "authentication.api_key authentication.oauth2", "2.5-11 2.5-2"),
    ("createEndpoint", "authentication", "2.5-1 2.5-2 2.5-11 2.5-12"),
    ("createEndpoint", "authentication.basic_auth authentication.basic_auth.username", "2.5-12"),
    ("createEndpoint", "mtls_client_cert", "4.1-15"),
    ("createEndpoint getEndpoint", "mtls_client_cert mtls_client_cert.client_key", "2.5-24"),
    # Portal links, and the endpoints in them.
    ("getPortalLink updatePortalLink", _OF_LINK, "4.6-9"),
    ("listPortalLinks getPortalLink", _OF_LINK, "2.6-7"),
    ("listPortalLinks", _OF_LINK, "4.6-12"),
    ("listPortalLinks", "name", "4.4-11 4.4-12 4.4-13"),
    ("listPortalLinks", "owner_id", "4.4-9 4.4-10 4.4-13"),
    (_LINKS, "owner_id", "2.6-2 2.6-3"),
    ("listPortalLinks", "uid", "2.6-1 2.6-7 4.4-14 4.5-1 4.6-1 9-2"),
    ("getPortalLink", "uid", "2.6-1 4.5-4"),
    ("updatePortalLink", "uid", "2.6-1 4.6-4"),
    (_LINKS, "auth_type", "2.9-4"),
    (_LINKS, "endpoints_metadata", "2.6-8 9-4"),
    (_LINKS, "endpoints_metadata", "2.6-2 2.6-3 2.6-4 2.6-5 4.6-10"),
    (_LINKS, " ".join(f"endpoints_metadata.{name}" for name in _IDENTIFYING), "2.6-6"),
    (_LINKS, "endpoints_metadata.owner_id", "2.6-2 2.6-3"),
    (_LINKS, "endpoints_metadata.uid", "2.6-8"),
    (
        _LINKS,
        " ".join(f"endpoints_metadata.{name}" for name in f"{_FIELDS} updated_at".split()),
        "2.6-10",
    ),
    (_LINKS, "endpoints_metadata.secrets.uid endpoints_metadata.secrets.*_at", "2.6-10"),
    ("listPortalLinks listSources", "pagination", "2.2-2 2.2-3 2.2-4 2.2-5"),
    ("listPortalLinks listSources", "pagination.has_next_page", "2.2-3 2.2-9 2.2-10 2.2-18"),
    ("listPortalLinks listSources", "pagination.has_prev_page", "2.2-4 2.2-11 2.2-12"),
    ("listPortalLinks listSources", "pagination.next_page_cursor", "2.2-6 2.2-9 2.2-16"),
    ("listPortalLinks listSources", "pagination.prev_page_cursor", "2.2-7 2.2-13 2.2-16"),
    ("listPortalLinks listSources", "pagination.per_page", "2.2-5 2.2-8 8-12"),
    ("listPortalLinks", "pagination.next_page_cursor", "4.4-4"),
    ("listPortalLinks", "pagination.prev_page_cursor", "4.4-5"),
    ("listPortalLinks", "pagination.per_page", "4.4-6"),
    ("listSources", "pagination.next_page_cursor", "4.7-4"),
    ("listSources", "pagination.prev_page_cursor", "4.7-5"),
    ("listSources", "pagination.per_page", "4.7-6"),
    (_ALL, "envelope.message", "2.1-2"),
    (_ALL, "envelope.status", "2.1-3 2.1-4"),
    # Sources. No operation creates one, so that only these fields are bound to anything.
    ("listSources", "uid", "2.7-1"),
    ("listSources", "type", "2.9-5 4.7-11 4.7-12 4.7-13"),
    ("listSources", "provider", "2.9-6 4.7-9 4.7-10 4.7-13"),
    # Events.
    ("createBroadcastEvent", "uid", "2.8-1 4.8-16"),
    ("createBroadcastEvent", "data", "2.8-3 2.8-4"),
    ("createBroadcastEvent", "raw", "2.8-11"),
    ("createBroadcastEvent", "headers", "2.8-5 2.8-15"),
    ("createBroadcastEvent", "acknowledged_at", "2.8-16 4.8-18"),
    ("createBroadcastEvent", "endpoint_metadata.uid", "2.8-7"),
    (
        "createBroadcastEvent",
        "endpoint_metadata.authentication.* endpoint_metadata.mtls_client_cert.*",
        "2.8-10",
    ),
    ("createBroadcastEvent", "source_id source_metadata", "2.8-12"),
    ("createBroadcastEvent", "app_id", "2.8-13"),
    ("createBroadcastEvent", "url_query_params", "2.8-14"),
    ("createBroadcastEvent", "is_duplicate_event", "2.8-8 2.8-9 4.8-8 6-2"),
    ("createBroadcastEvent", "status", "3-3 6-1"),
)

# What another value violates, and none does not.
_SHOWN_OTHERWISE: Final = (
    ("createEndpoint getEndpoint", "secrets.created_at", "4.2-6"),
    ("expireEndpointSecret", "uid", "4.3-10"),
    ("expireEndpointSecret", "secrets.uid", "4.3-13"),
    (_LINKS, "endpoint_count", "2.6-5"),
    ("createBroadcastEvent", "endpoints", "2.8-6 2.8-7"),
    ("createBroadcastEvent", "endpoint_metadata", "2.8-7"),
    (_LINKS, "endpoints", "2.6-8 9-4"),
    ("getPortalLink updatePortalLink", "updated_at", "4.6-14"),
    (
        "createBroadcastEvent",
        " ".join(f"endpoint_metadata.{name}" for name in _LASTING.split()),
        "2.8-10",
    ),
    (f"{_ENDPOINTS} {_LINKS}", "*created_at", "2.9-13"),
    (f"{_LINKS} createBroadcastEvent", "endpoint*_metadata.url", "2.3-3"),
    ("listSources", "verifier.type", "2.9-7"),
    ("listSources", "pub_sub.type", "2.9-8"),
    ("listSources", "verifier.hmac.encoding", "2.9-14"),
    ("listSources", "pub_sub.kafka.auth.type", "2.9-15"),
    ("createBroadcastEvent", "source_metadata.type source_metadata.provider", "2.9-5 2.9-6"),
    ("createBroadcastEvent", "source_metadata.*.type", "2.9-7 2.9-8 2.9-15"),
    # A record may leave secrets out.
    (_LINKS, "endpoints_metadata.secrets endpoints_metadata.secrets.value", "2.6-10"),
    (_ALL, "secrets secrets.uid *metadata.secrets *metadata.secrets.uid", "2.4-2"),
    ("createBroadcastEvent", "is_duplicate_event", "4.8-10 4.8-12"),
    ("createBroadcastEvent", "source_metadata.*", "2.8-12"),
    (_ALL, "*created_at *updated_at", "2.9-12"),
)

# What deliveries and later answers make of what a request sets.
_USED: Final = (
    ("createEndpoint", "url", "1-1 4.8-13 2.3-3"),
    ("createEndpoint", "content_type", "2.3-7 6-12"),
    ("createEndpoint", "owner_id", "2.3-4 2.6-2 2.6-3 2.6-4 4.6-10"),
    ("createEndpoint", "appID", "9-3"),
    ("createEndpoint", "secret", "2.3-11"),
    ("createEndpoint", "is_disabled", "3-1 3-2 3-5 3-6 4.8-14"),
    ("createEndpoint", "http_timeout", "8-7 8-8"),
    ("createEndpoint", "rate_limit rate_limit_duration", "8-1 8-2 8-4"),
    ("createEndpoint", "slack_webhook_url", "6-14"),
    ("createEndpoint", "support_email", "6-26"),
    ("createEndpoint", "advanced_signatures", "2.3-9 2.4-3 6-6 6-7"),
    ("createEndpoint", "authentication.api_key authentication.api_key.*", "2.5-9 2.5-11"),
    ("createEndpoint", "authentication.basic_auth authentication.basic_auth.*", "2.5-10"),
    ("createEndpoint", "authentication.basic_auth authentication.basic_auth.username", "2.5-12"),
    ("createEndpoint", "authentication authentication.type", "2.5-3 2.5-6 2.5-9 2.5-10"),
    # Without a usable request for a token no delivery has one.
    ("createEndpoint", "authentication.oauth2 authentication.oauth2.*", "2.5-3 2.5-6"),
    ("createEndpoint", "authentication.oauth2", "2.5-2"),
    ("createEndpoint", "authentication.oauth2.client_id *.client_secret", "2.5-4"),
    ("createEndpoint", "authentication.oauth2.authentication_type", "2.5-4 2.5-8"),
    ("createEndpoint", "authentication.oauth2.signing_key*", "2.5-8"),
    ("createEndpoint", "authentication.oauth2.field_mapping*", "2.5-6 2.5-15 2.5-16 2.5-17"),
    ("createEndpoint", "authentication.oauth2.expiry_time_unit", "2.5-17"),
    ("createEndpoint", "mtls_client_cert mtls_client_cert.*", "2.3-17 4.1-15"),
    ("expireEndpointSecret", "secret", "4.3-12"),
    ("expireEndpointSecret", "expiration", "4.3-15 4.3-2 4.3-4 4.3-6 6-10"),
    ("updatePortalLink", "owner_id", "4.6-10 4.6-11"),
    ("updatePortalLink", "endpoints", "9-4"),
    ("createBroadcastEvent", "data", "2.8-4 2.8-11 4.8-19 6-3 6-12"),
    # An altered text may be one that the dialect refuses (2.8-17).
    ("createBroadcastEvent", "custom_headers", "2.8-5 2.8-15 2.8-17 6-4"),
    ("createBroadcastEvent", "idempotency_key", "4.8-8 4.8-9 4.8-10 4.8-11"),
    ("createBroadcastEvent", "event_type", "4.8-17"),
    ("createBroadcastEvent", "acknowledged_at", "2.8-16"),
)

# What a right answer about a wrong store violates besides.
_FORGOTTEN: Final = (
    ("createEndpoint", _SETTINGS, "4.2-5 4.3-11"),
    ("createEndpoint", "secret", "2.3-9 2.4-3 2.4-4 4.2-6 4.3-2 4.3-6 6-6 6-7 6-8 6-10"),
    ("createEndpoint", "is_disabled", "2.6-10"),
    ("expireEndpointSecret", "secret", "4.3-3 4.3-5 4.3-6 4.3-7 4.3-13 6-10"),
    ("updatePortalLink", "*", "4.6-9 4.6-15"),
)
# Of a stored event only its deliveries and its duplicates are seen again.
_SEEN_LATER: Final = (
    ("createBroadcastEvent", "data", "4.8-19 6-3 6-12"),
    ("createBroadcastEvent", "custom_headers", "6-4"),
    ("createBroadcastEvent", "idempotency_key", "4.8-8 4.8-9 4.8-10 4.8-11"),
    ("createBroadcastEvent", "event_type", "4.8-17"),
)

Rows = Sequence[tuple[str, str, str]]
ROWS: Final[Sequence[Rows]] = (_SHOWN, _SHOWN_OTHERWISE, _USED, _FORGOTTEN, _SEEN_LATER)


def violated_by_field(place: Place, change: Change, dialect: Dialect) -> tuple[str, ...]:
    """The requirements that a changed field violates, in the order of the catalogue."""
    if place.kind is PlaceKind.SHOWN:
        found = {*_by_rows(_SHOWN, place), *_by_form(place, change, dialect)}
        if not _loses(change, place):
            found |= {*_by_rows(_SHOWN_OTHERWISE, place)}
        found |= {
            *_by_sentence(place),
            *_by_type(place, change),
            *_by_dialect(place, change, dialect),
        }
    elif place.kind is PlaceKind.STORED and place.operation == "createBroadcastEvent":
        found = {*_by_rows(_SEEN_LATER, place)}
    else:
        found = {*_by_rows(_USED, place), *_by_sentence(place), *_by_mention(place)}
        if place.kind is PlaceKind.STORED:
            found |= {*_by_rows(_FORGOTTEN, place)}
    found |= {*_by_default(place, change)}
    return in_order(found - _unjudged(dialect))


def in_order(requirements: set[str]) -> tuple[str, ...]:
    """These requirements in the order of the catalogue; those that no request can show not."""
    catalogue = load_catalogue().requirements
    return tuple(
        name for name, each in catalogue.items() if name in requirements and not each.untestable
    )


def requirements_about(operation: str, *patterns: str) -> set[str]:
    """The requirements of an operation whose sentence matches one of these patterns."""
    return set(_about(operation, patterns))


@cache
def _about(operation: str, patterns: tuple[str, ...]) -> frozenset[str]:
    return frozenset(
        one.id
        for one in _of_operation(operation)
        if any(re.search(pattern, one.text) for pattern in patterns)
    )


@cache
def _of_operation(operation: str) -> tuple[Requirement, ...]:
    return tuple(
        one for one in load_catalogue().requirements.values() if operation in one.operations
    )


def _by_rows(rows: Rows, place: Place) -> Sequence[str]:
    return _of_rows(rows, place.operation, ".".join(place.path))


@cache
def _of_rows(rows: Rows, operation: str, path: str) -> tuple[str, ...]:
    return tuple(_find_in_rows(rows, operation, path))


def _find_in_rows(rows: Rows, operation: str, path: str) -> Iterator[str]:
    for operations, patterns, requirements in rows:
        if operation in operations.split() and any(
            fnmatchcase(path, pattern) for pattern in patterns.split()
        ):
            yield from requirements.split()


def _by_sentence(place: Place) -> set[str]:
    """The sentences that say of this field that it is shown as it was sent."""
    *holders, name = place.path
    patterns = [f"^An update with {name} changes"] if not holders else []
    within = f"(?: in {holders[-1]})?" if holders else ""
    if len(holders) == (1 if place.path[0] == "mtls_client_cert" else 0):
        patterns.append(f"^The {name}{within} of a created .* is the (?:one|time)")
    patterns += [f"^The members of {holder} given" for holder in holders]
    patterns += [f"^The {holder} {name} given" for holder in holders[-1:]]
    found = requirements_about(place.operation, *patterns)
    if place.operation == "updatePortalLink" or place.kind is not PlaceKind.SHOWN:
        return found
    if place.operation == "getPortalLink" and not holders:
        return found | requirements_about("updatePortalLink", patterns[0])
    return found


def _by_mention(place: Place) -> Iterator[str]:
    """The requirements of deliveries that name a member of oauth2 (section 2.5)."""
    if "oauth2" not in place.path[:-1]:
        return
    for one in load_catalogue().requirements.values():
        if (
            one.section == "2.5"
            and not one.operations
            and re.search(rf"\b{place.path[-1]}\b", one.text)
        ):
            yield one.id


def _by_type(place: Place, change: Change) -> set[str]:
    field = place.field
    assert field is not None
    if not _changes_type(place, change):
        return set()
    found = requirements_about(place.operation, TYPES)
    return found | ({"2.4-1"} if "secrets" in place.path[:-1] else set())


def _changes_type(place: Place, change: Change) -> bool:
    """A field of any type may be shown without a value (section 2.9)."""
    example = _example(place)
    return not _loses(change, place) and type(change(example)) is not type(example)


def _loses(change: Change, place: Place) -> bool:
    changed = change(_example(place))
    return changed in (None, ABSENT, []) or (changed == "" and place.is_in_record_of_event)


def _example(place: Place) -> Any:
    assert place.field is not None
    return {
        ValueKind.TEXT: "a text",
        ValueKind.NUMBER: 7,
        ValueKind.BOOLEAN: False,
        ValueKind.OBJECT: {},
        ValueKind.ARRAY: [{}, {}],
    }[place.field.value]


def _by_form(place: Place, change: Change, dialect: Dialect) -> Iterator[str]:
    """A form that an altered value no longer has (section 2.9)."""
    field = place.field
    assert field is not None
    form = {Content.IDENTIFIER: "2.9-1", Content.TIMESTAMP: "2.9-2"}.get(field.content)
    if form is None or not field.pattern:
        return
    for value in telling_texts(place, dialect):
        changed = change(value)
        if isinstance(changed, str) and not re.search(field.pattern, changed):
            yield form


def _by_default(place: Place, change: Change) -> Iterator[str]:
    """What a creation without the field shows, if the default is changed too (section 2.3)."""
    if place.operation != "createEndpoint" or place.kind is PlaceKind.STORED:
        return
    defaults = {"content_type": "2.3-5", "advanced_signatures": "2.3-8"}
    field, requirement = place.field, defaults.get(".".join(place.path))
    if requirement is None or field is None:
        return
    changed = change(field.default)
    if changed != field.default or type(changed) is not type(field.default):
        yield requirement


def _by_dialect(place: Place, change: Change, dialect: Dialect) -> Iterator[str]:
    """What depends on the dialect: the order of a list, and the source that events show."""
    sort = dialect.paging.sort_key.value
    key = "name" if sort is SortKey.NAME else "created_at"
    if place.path == (key,):
        yield from requirements_about(place.operation, "order of the dialect's sort key")
    if (
        place.path[0] not in (ENVELOPE, PAGINATION)
        and place.operation == "listSources"
        and dialect.representation.event_source.prefers(EventSource.LISTED)
        and change(_example(place)) not in (None, ABSENT, "", [])
        and all(is_changed_in_sources(place, change, dialect)[:1])  # events show the oldest one
    ):
        yield "2.8-12"


def _unjudged(dialect: Dialect) -> set[str]:
    """What no answer shows under this dialect."""
    shows_source = dialect.representation.event_source.prefers(EventSource.LISTED)
    names_type = dialect.delivery.event_type_header is not None
    names_event = dialect.delivery.event_id_header is not None
    unjudged = {"2.8-12": shows_source, "4.8-17": names_type}
    unjudged |= dict.fromkeys(("4.8-16", "1-20"), names_event)
    return {name for name, is_judged in unjudged.items() if not is_judged}
