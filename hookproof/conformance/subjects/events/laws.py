"""The event that a broadcast is answered with: its payload, its origin, its endpoints (sections
2.6, 2.8, 3, 4.8 and 6).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from hookproof.conformance.checks.agreement import (
    IDENTIFYING,
    agreement,
    differences,
    echoes,
)
from hookproof.conformance.checks.json_equality import exact, same
from hookproof.conformance.checks.json_objects import objects_in
from hookproof.conformance.checks.key_scope import is_for_another_project
from hookproof.conformance.checks.success import success_of
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, json_text, judged, not_applicable
from hookproof.conformance.observations.answer import (
    has_value,
    path_parameters,
    sent,
    shown,
    shown_uid,
)
from hookproof.conformance.observations.endpoint_records import (
    FetchedAndShown,
    ManyInPortalLink,
    RecordsInEvent,
    RecordsInPortalLink,
    fetched_and_shown,
)
from hookproof.conformance.observations.shown_owner import with_owners_as_sent
from hookproof.conformance.observations.timestamp import unix_seconds
from hookproof.conformance.subjects.credentials.evidence import AuthorizedDeliveries
from hookproof.conformance.subjects.events.evidence import (
    BroadcastAnswer,
    BroadcastWithField,
    BroadcastWithPayload,
    BroadcastWithTellingQuery,
    EventBesideSources,
)
from hookproof.spec.dialect.model import Dialect, Representation
from hookproof.spec.dialect.vocabulary import (
    EventApplication,
    EventEcho,
    EventQuery,
    EventRaw,
    EventSource,
    TimestampForm,
)
from hookproof.spec.field_roles import Role, fields_with, shown_as_sent


@check("2.8-1", "6-1", "6-2")
def an_event_has_uid_status_and_duplicate_flag(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """A text that is not empty, a string and a boolean."""
    if exchange.operation_id == "createBroadcastEvent" and shown(exchange):
        uid, status, flag = (
            shown(exchange).get(name) for name in ("uid", "status", "is_duplicate_event")
        )
        for requirement, name, fits, actual in (
            ("2.8-1", "uid", isinstance(uid, str) and uid != "", uid),
            ("6-1", "status", isinstance(status, str), status),
            ("6-2", "is_duplicate_event", isinstance(flag, bool), flag),
        ):
            yield judged(
                fits,
                requirement,
                f"A created event has no {name} of its type",
                expected="a boolean" if name == "is_duplicate_event" else "a text",
                actual=actual,
                exchanges=[exchange],
            )


@check("3-3")
def a_created_event_has_the_dialects_status(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """Duplicates aside: the first event may have gone on meanwhile."""
    word = context.dialect.words.event_created
    if exchange.operation_id == "createBroadcastEvent" and shown(exchange) and word.decided:
        if has_value(sent(exchange).get("idempotency_key")):
            return
        actual = shown(exchange).get("status", "absent")
        yield judged(
            word.allows(actual),
            "3-3",
            "The status of a created event is another word than the dialect's",
            expected=" or ".join(word.allowed),
            actual=actual,
            exchanges=[exchange],
        )


@check("2.8-3")
def the_data_of_an_event_are_bytes(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """One integer for each."""
    data = shown(exchange).get("data")
    if exchange.operation_id == "createBroadcastEvent" and shown(exchange):
        yield judged(
            _bytes(data) is not None,
            "2.8-3",
            "The data of an event is not an array of bytes",
            expected="integers from 0 to 255",
            actual=data,
            exchanges=[exchange],
        )


@check("2.8-4")
def the_bytes_of_an_event_are_the_data_sent(
    broadcast: BroadcastAnswer, _context: CheckContext
) -> Iterator[Judgement]:
    """As JSON: white space and the order of members may differ."""
    created = broadcast.created
    stored = None if created is None else _bytes(shown(created).get("data"))
    if created is not None and created.request_body is not None and stored is not None:
        wanted = exact(created.request_body).get("data")
        yield judged(
            same(exact(stored), wanted),
            "2.8-4",
            "The bytes in an event's data are not JSON equal to the data sent",
            expected=wanted,
            actual=stored,
            exchanges=[created],
        )


def _bytes(data: Any) -> bytes | None:
    if not isinstance(data, list) or not {int}.issuperset(map(type, data)):
        return None
    try:
        return bytes(data)
    except ValueError:  # a number that is no byte
        return None


@check("2.8-5")
def the_headers_of_an_event_hold_the_custom_ones(
    broadcast: BroadcastAnswer, context: CheckContext
) -> Iterator[Judgement]:
    """Names in any case, each value alone or in a list; their form is a gap."""
    created = broadcast.created
    if created is None:
        return
    given, headers = sent(created).get("custom_headers"), shown(created).get("headers")
    if given and context.dialect.representation.event_headers.allowed == (EventEcho.NONE,):
        yield not_applicable("2.8-5", "the dialect says that an event shows no headers")
    elif isinstance(given, dict) and isinstance(headers, Mapping) and headers:
        held = {name.lower(): value for name, value in headers.items()}
        lacking = [
            name for name, value in given.items() if held.get(name.lower()) not in (value, [value])
        ]
        yield judged(
            not lacking,
            "2.8-5",
            "The headers of an event lack a custom header that was sent",
            expected=given,
            actual=headers,
            exchanges=[created],
        )


@check("2.8-7")
def an_event_has_the_records_of_its_endpoints(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """Wherever both endpoints and endpoint_metadata have a value."""
    named, records = (shown(exchange).get(name) for name in ("endpoints", "endpoint_metadata"))
    if exchange.operation_id == "createBroadcastEvent" and has_value(named) and has_value(records):
        uids = [record.get("uid") for record in objects_in(records)]
        yield judged(
            isinstance(named, list) and sorted(map(str, uids)) == sorted(map(str, named)),
            "2.8-7",
            "The records in endpoint_metadata are not those of the identifiers in endpoints",
            expected=named,
            actual=uids,
            exchanges=[exchange],
        )


@check(*shown_as_sent("createBroadcastEvent").values(), "4.8-6", "4.8-7")
def a_broadcast_is_taken_with_every_field(
    broadcast: BroadcastAnswer, context: CheckContext
) -> Iterator[Judgement]:
    """event_type and idempotency_key are shown again; acknowledged_at and any data are accepted."""
    created = broadcast.created
    if created is None:
        return
    yield from echoes(created, created, "The {field} of a created event is not the one sent")
    accepted = _accepted(broadcast, context)
    if accepted is not None:
        requirement, what = accepted
        message = f"A broadcast event cannot be created with {what}"
        yield from success_of(created, requirement, message, *broadcast.all_exchanges("tried"))


def _accepted(broadcast: BroadcastAnswer, context: CheckContext) -> tuple[str, str] | None:
    """What the broadcast is to be accepted with, and the requirement of that.

    One with further fields may be refused for these, which says nothing of its data.
    """
    required = context.dialect.requests.create_broadcast_event_requires
    match broadcast:
        case BroadcastWithPayload(created=created):
            alone = created is not None and sent(created).keys() <= {
                "event_type",
                "data",
                *required,
            }
            return ("4.8-7", "any JSON object as data") if alone else None
        case BroadcastWithField(field="acknowledged_at"):
            return "4.8-6", "acknowledged_at"
        case _:
            return None


BROADCAST: Final = "createBroadcastEvent"

# For each field of a broadcast, the requirement, and the field of the event that shows it.
ECHOES: Final = {
    "custom_headers": ("2.8-15", "headers"),
    "acknowledged_at": ("2.8-16", "acknowledged_at"),
}


@check("2.8-11")
def raw_of_an_event_holds_what_the_dialect_says(
    broadcast: BroadcastAnswer, context: CheckContext
) -> Iterator[Judgement]:
    """The payload as a JSON text, in whatever spelling, or nothing."""
    rule, created = context.dialect.representation.event_raw, broadcast.created
    if created is None or not shown(created) or "data" not in sent(created) or not rule.decided:
        return
    raw, payload = shown(created).get("raw"), exact(created.request_body or b"")["data"]
    fits = {
        EventRaw.NONE: not has_value(raw),
        EventRaw.PAYLOAD: isinstance(raw, str) and same(_json(raw), payload),
    }
    yield judged(
        any(fits[holds] for holds in rule.allowed),
        "2.8-11",
        "The raw of an event does not hold what the dialect says",
        expected=" or ".join(rule.allowed),
        actual=raw,
        exchanges=[created],
    )


def _json(text: str) -> Any:
    return exact(text.encode(errors="surrogatepass"))


@check(*(requirement for requirement, _ in ECHOES.values()))
def an_event_shows_what_it_was_sent_with_as_the_dialect_says(
    broadcast: BroadcastWithField, context: CheckContext
) -> Iterator[Judgement]:
    """Whether there is a value; other checks compare it."""
    created = broadcast.created
    if created is None or not shown(created) or broadcast.field not in ECHOES:
        return
    if not has_value(sent(created).get(broadcast.field)):
        return
    requirement, name = ECHOES[broadcast.field]
    rule = getattr(context.dialect.representation, f"event_{name}")
    if rule.decided:
        actual = shown(created).get(name)
        yield judged(
            rule.allows(EventEcho.SENT if has_value(actual) else EventEcho.NONE),
            requirement,
            f"An event shows a value in {name} or none otherwise than the dialect says",
            expected=" or ".join(rule.allowed),
            actual=actual,
            exchanges=[created],
        )


@check("2.8-12")
def an_event_names_a_source_as_the_dialect_says(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """Where both are shown, source_metadata has the uid in source_id.

    A project without sources has none that could be named.
    """
    rule = context.dialect.representation.event_source
    if exchange.operation_id != BROADCAST or not shown(exchange) or not rule.decided:
        return
    uid, record = (shown(exchange).get(name) for name in ("source_id", "source_metadata"))
    if not has_value(uid) and not has_value(record) and not rule.allows(EventSource.NONE):
        return
    if rule.allows(EventSource.LISTED):
        kept = not (has_value(uid) and has_value(record)) or _uid(record) == uid
    else:
        kept = not has_value(uid) and not has_value(record)
    yield judged(
        kept,
        "2.8-12",
        "An event does not name its source as the dialect says",
        expected=" or ".join(rule.allowed),
        actual=f"source_id {json_text(uid)},"
        f" source_metadata with the uid {json_text(_uid(record))}",
        exchanges=[exchange],
    )


@check("2.8-12")
def the_source_of_an_event_is_the_one_in_the_list(
    observed: EventBesideSources, context: CheckContext
) -> Iterator[Judgement]:
    """Field by field, as far as both show a value; what is masked is not compared."""
    event = observed.created
    record = None if event is None else shown(event).get("source_metadata")
    found = observed.listed(_uid(record))
    if event is None or not isinstance(record, dict) or found is None:
        return
    page, source = found
    both = [name for name in source if has_value(source[name]) and has_value(record.get(name))]
    yield agreement(
        "2.8-12",
        "The source_metadata of an event is not the source that the list shows",
        both,
        source,
        record,
        [page, event],
        context.dialect.representation,
    )


def _uid(record: Any) -> Any:
    return record.get("uid") if isinstance(record, dict) else None


@check("2.8-13")
def app_id_of_an_event_names_what_the_dialect_says(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    rule = context.dialect.representation.event_application
    if exchange.operation_id != BROADCAST or not shown(exchange) or not rule.decided:
        return
    if is_for_another_project(exchange, context):
        return
    path = path_parameters(exchange, context.contract.operations[BROADCAST].path)
    actual = shown(exchange).get("app_id")
    fits = {
        EventApplication.NONE: not has_value(actual),
        EventApplication.PROJECT: actual == path.get("projectID"),
    }
    yield judged(
        any(fits[named] for named in rule.allowed),
        "2.8-13",
        "The app_id of an event does not name what the dialect says",
        expected=" or ".join(rule.allowed),
        actual=actual,
        exchanges=[exchange],
    )


@check("2.8-14")
def query_parameters_of_an_event_are_those_of_the_dialect(
    broadcast: BroadcastAnswer | BroadcastWithTellingQuery, context: CheckContext
) -> Iterator[Judgement]:
    """The same names and values in any order, whatever their encoding."""
    rule, created = context.dialect.representation.event_query, broadcast.created
    if created is None or not shown(created) or not rule.decided:
        return
    actual = shown(created).get("url_query_params")
    query = urlsplit(created.url).query
    fits = {
        EventQuery.NONE: not has_value(actual),
        EventQuery.REQUEST: _pairs(actual) == _pairs(query),
    }
    yield judged(
        any(fits[origin] for origin in rule.allowed),
        "2.8-14",
        "The url_query_params of an event are not the query parameters that the dialect says",
        expected=" or ".join(rule.allowed) + (f": {query}" if query else ""),
        actual=actual,
        exchanges=[created],
    )


def _pairs(query: Any) -> list[tuple[str, str]] | None:
    """The parameters in a query; None if it is no text."""
    if not has_value(query):
        return []
    if not isinstance(query, str):
        return None
    return sorted(parse_qsl(query.removeprefix("?"), keep_blank_values=True))


# What neither deliveries nor time change, but for what identifies the endpoint.
RECORDED: Final = tuple(
    name
    for name in fields_with("Endpoint", Role.GIVEN, Role.ASSIGNED)
    if name not in ("uid", *IDENTIFYING)
)
# What has a value, but may have another one later; secrets are compared one by one.
COUNTED: Final = tuple(name for name in fields_with("Endpoint", Role.CHANGING) if name != "secrets")
# In seconds: the forms of timestamps have different precision.
PRECISION_S: Final = 1.0


@check("2.6-6", "2.6-10")
def a_portal_link_holds_full_records_of_its_endpoints(
    records: RecordsInPortalLink, context: CheckContext
) -> Iterator[Judgement]:
    """Field by field: what fetching the endpoint shows with a value, its record shows alike.

    In every answer that shows the portal link. What is masked is not compared, nor are secrets that
    a record does not show; what deliveries and time change, if it was fetched alike before and
    after.
    """
    forms = context.dialect.representation
    for pair in records.fetched_and_shown():
        yield from _same_secrets(pair, "2.6-10", "a portal link", forms)
        for field in ("uid", *IDENTIFYING, *RECORDED, *COUNTED):
            wanted = shown(pair.fetched).get(field)
            if has_value(wanted):
                yield judged(
                    _is_recorded(pair, field, forms),
                    "2.6-6" if field in IDENTIFYING else "2.6-10",
                    f"The record of an endpoint in a portal link lacks its {field} or shows"
                    " another",
                    expected=wanted,
                    actual=pair.record.get(field, "absent"),
                    exchanges=[pair.fetched, pair.answer],
                )


@check("2.6-2")
def a_portal_link_has_all_the_many_endpoints_of_its_owner(
    links: ManyInPortalLink, _context: CheckContext
) -> Iterator[Judgement]:
    """In each answer that shows it with this owner and with the uid of any endpoint."""
    wanted = {str(shown_uid(created)) for created in with_owners_as_sent(links.created)}
    owners = [sent(created).get("owner_id") for created in links.created]
    for answer, link in links.links():
        found = {str(record.get("uid")) for record in objects_in(link.get("endpoints_metadata"))}
        if not found & wanted or link.get("owner_id") not in owners:
            continue
        lacking = sorted(wanted - found)
        yield judged(
            not lacking,
            "2.6-2",
            "A portal link lacks some of the many endpoints of its owner",
            expected=f"all {len(wanted)}",
            actual=f"{len(lacking)} lacking, as {', '.join(lacking[:3])}" if lacking else "",
            exchanges=[answer],
        )


@check("2.8-10")
def an_event_shows_its_endpoints_as_they_are_fetched(
    records: RecordsInEvent | AuthorizedDeliveries, context: CheckContext
) -> Iterator[Judgement]:
    """As far as both show a value: the document does not call these records full."""
    forms = context.dialect.representation
    for pair in fetched_and_shown(records, "endpoint_metadata"):
        yield from _same_secrets(pair, "2.8-10", "an event", forms)
        for field in (*IDENTIFYING, *RECORDED):
            wanted, actual = shown(pair.fetched).get(field), pair.record.get(field)
            if has_value(wanted) and has_value(actual):
                yield judged(
                    not differences([field], shown(pair.fetched), pair.record, forms),
                    "2.8-10",
                    f"An event shows another {field} of an endpoint than fetching it",
                    expected=wanted,
                    actual=actual,
                    exchanges=[pair.fetched, pair.answer],
                )


@check("4.8-18")
def a_shown_acknowledged_at_is_the_one_sent(
    broadcast: BroadcastWithField, context: CheckContext
) -> Iterator[Judgement]:
    """The same time in whatever spelling; a dialect may say that the service sets it."""
    created = broadcast.created
    assigned = context.dialect.requests.service_assigned
    if created is None or broadcast.field != "acknowledged_at" or "acknowledged_at" in assigned:
        return
    wanted, actual = (part.get("acknowledged_at") for part in (sent(created), shown(created)))
    if context.dialect.representation.event_acknowledged_at.allowed == (EventEcho.NONE,):
        yield not_applicable("4.8-18", "the dialect says that an event shows no acknowledged_at")
    elif has_value(wanted) and has_value(actual):
        yield judged(
            _same_time(wanted, actual, context.dialect),
            "4.8-18",
            "The acknowledged_at of a created event is another time than the one sent",
            expected=wanted,
            actual=actual,
            exchanges=[created],
        )


def _is_recorded(pair: FetchedAndShown, field: str, forms: Representation) -> bool:
    fetched, again = shown(pair.fetched), {} if pair.again is None else shown(pair.again)
    if field in COUNTED and (not again or differences([field], fetched, again, forms)):
        return has_value(pair.record.get(field))
    return not differences([field], fetched, pair.record, forms)


def _same_secrets(
    pair: FetchedAndShown, requirement: str, holder: str, forms: Representation
) -> Iterator[Judgement]:
    wanted, actual = (_secrets(part, forms.mask) for part in (shown(pair.fetched), pair.record))
    if wanted and actual:
        yield judged(
            _alike(wanted, actual),
            requirement,
            f"The record of an endpoint in {holder} shows other secrets",
            expected=wanted,
            actual=actual,
            exchanges=[pair.fetched, pair.answer],
        )


def _secrets(endpoint: Mapping[str, Any], mask: str) -> list[dict[str, Any]]:
    """What the secrets of an endpoint show, but for masks, in the order of their identifiers."""
    return [
        {name: value for name, value in secret.items() if has_value(value) and value != mask}
        for secret in sorted(
            objects_in(endpoint.get("secrets")), key=lambda secret: str(secret.get("uid"))
        )
    ]


def _alike(first: Sequence[Mapping[str, Any]], second: Sequence[Mapping[str, Any]]) -> bool:
    """Whether there are as many secrets, alike in all but values that one of them hides."""
    return len(first) == len(second) and all(
        not differences([name], one, other)
        for one, other in zip(first, second, strict=True)
        for name in one.keys() | other.keys()
        if name != "value" or name in one.keys() & other.keys()
    )


def _same_time(wanted: Any, actual: Any, dialect: Dialect) -> bool:
    forms = dialect.representation.timestamp.allowed or tuple(TimestampForm)
    times = [
        [time for form in forms if (time := unix_seconds(text, form)) is not None]
        for text in (wanted, actual)
    ]
    return wanted == actual or any(
        abs(one - other) < PRECISION_S for one in times[0] for other in times[1]
    )
