"""Section 2.8: what an event shows of its payload and its origin is what the dialect says."""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from hookproof.conformance.checks.support.agreement import agreement
from hookproof.conformance.checks.support.json_equality import exact, same
from hookproof.conformance.checks.support.key_scope import is_for_another_project
from hookproof.conformance.checks.support.refusal import is_refused_as_invalid
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, json_text, judged
from hookproof.conformance.observations.answer import (
    has_value,
    path_parameters,
    refused,
    sent,
    shown,
    was_accepted,
)
from hookproof.conformance.observations.resources.broadcast_answer import (
    BroadcastAnswer,
    BroadcastWithField,
    BroadcastWithTellingQuery,
    EventBesideSources,
    HeaderTextTried,
)
from hookproof.spec.dialect.vocabulary import (
    EventApplication,
    EventEcho,
    EventQuery,
    EventRaw,
    EventSource,
)

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


@check("2.8-17")
def a_custom_header_is_such_a_text_as_the_dialect_says(
    header: HeaderTextTried, context: CheckContext
) -> Iterator[Judgement]:
    """What deliveries carry is judged elsewhere; an answer that is neither tells nothing."""
    rule, tried = context.dialect.requests.header_text, header.tried
    if tried is None or not rule.decided or not (was_accepted(tried) or refused(tried)):
        return
    outcomes = {
        was_accepted(tried) if text.largest >= header.needs.largest else _invalid(tried, context)
        for text in rule.allowed
    }
    yield judged(
        True in outcomes,
        "2.8-17",
        f"A custom header that needs {header.needs} is not treated as the dialect says",
        expected=" or ".join(rule.allowed),
        actual=tried.status,
        exchanges=[tried],
    )


def _invalid(exchange: Exchange, context: CheckContext) -> bool:
    return is_refused_as_invalid(exchange, context.dialect)
