"""Sections 2 and 4: documented fields have their documented types and forms (2.9)."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import (
    Judgement,
    holds,
    json_text,
    judged,
    not_applicable,
    violated,
)
from hookproof.conformance.observations.answer import Kind, Resource, resources, sent, shown
from hookproof.conformance.observations.timestamp import moment
from hookproof.spec.contract.service_contract import SchemaProblem
from hookproof.spec.dialect.model import Representation
from hookproof.spec.dialect.vocabulary import EventEcho, NoValue
from hookproof.spec.openapi_document import json_type, schema_named
from hookproof.target.masking.credential_names import is_name

OF_OPERATION: Final = {
    "createEndpoint": "4.1-3",
    "getEndpoint": "4.2-3",
    "expireEndpointSecret": "4.3-9",
    "listPortalLinks": "4.4-3",
    "getPortalLink": "4.5-3",
    "updatePortalLink": "4.6-3",
    "listSources": "4.7-3",
    "createBroadcastEvent": "4.8-3",
}

# The operations that bring in the resource that they show.
CREATIONS: Final = ("createEndpoint", "createBroadcastEvent")

# Seconds: one time may be cut to milliseconds, or be that of the database.
DIFFERENCE_S: Final = 1.0

SECRETS, IDENTIFIERS, TIMESTAMPS, NO_VALUE = "2.4-1", "2.9-1", "2.9-2", "2.9-3"
HEADER_VALUES: Final = "2.8-18"


@check(*OF_OPERATION.values(), SECRETS, IDENTIFIERS, TIMESTAMPS, HEADER_VALUES)
def documented_fields_have_their_documented_types(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """One judgement for each requirement that the answer exercises; a null is judged by 2.9-3."""
    if exchange.operation_id is None or not shown(exchange):
        return
    exercised = set(_exercised(exchange, context))
    if exchange.operation_id == "createBroadcastEvent" and _hides_headers(context):
        yield not_applicable(HEADER_VALUES, "the dialect says that an event shows no headers")
    for problem in context.contract.response_problems(exchange.operation_id, exchange.json):
        requirement = _requirement(exchange, problem)
        if requirement is not None:
            exercised.discard(requirement)
            judgement = violated(
                requirement,
                _message(exchange, problem),
                expected="what the contract says of the field",
                actual=f"{problem.pointer} ="
                f" {json_text(_at(exchange.json, problem.pointer))}: {problem.message}",
                exchanges=[exchange],
            )
            yield replace(judgement, state=_stored(exchange, problem))
    for requirement in sorted(exercised):
        yield holds(requirement, exchanges=[exchange])


def _exercised(exchange: Exchange, context: CheckContext) -> Iterator[str]:
    assert exchange.operation_id is not None
    yield OF_OPERATION[exchange.operation_id]
    forms = context.dialect.representation
    for resource in resources(exchange):
        if resource.kind is Kind.EVENT and _shows_headers(resource, forms):
            yield HEADER_VALUES
        if resource.kind is Kind.SECRET:
            yield SECRETS
        if forms.identifier.decided and resource.text("uid"):
            yield IDENTIFIERS
        if forms.timestamp.decided and resource.text("created_at"):
            yield TIMESTAMPS


def _hides_headers(context: CheckContext) -> bool:
    forms = context.dialect.representation
    return forms.event_headers.allowed == (EventEcho.NONE,)


def _shows_headers(event: Resource, forms: Representation) -> bool:
    """Whether an event shows a header, and the dialect says what it holds."""
    headers = event.fields.get("headers")
    is_decided = len(forms.event_header_values.allowed) == 1
    return is_decided and isinstance(headers, dict) and bool(headers)


def _requirement(exchange: Exchange, problem: SchemaProblem) -> str | None:
    """The most specific requirement that a problem breaks; None if another check judges it."""
    steps = problem.pointer.split("/")[1:]
    value = _at(exchange.json, problem.pointer)
    if isinstance(value, str) and is_name(value):
        return None  # what equals a credential is masked, and its form with it
    if (
        value is None
        or steps[:1] != ["data"]
        or steps[1:] == ["content"]
        or "pagination" in steps[1:2]
    ):
        return None
    assert exchange.operation_id is not None
    own = {
        HEADER_VALUES: steps[1:2] == ["headers"] and steps[2:],
        IDENTIFIERS: isinstance(value, str) and steps[-1] == "uid",
        TIMESTAMPS: isinstance(value, str) and steps[-1].endswith("_at"),
        SECRETS: "secrets" in steps,
    }
    usual = OF_OPERATION[exchange.operation_id]
    return next((requirement for requirement, is_it in own.items() if is_it), usual)


def _at(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(name)] if isinstance(value, list) else value[name]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return value


def _message(exchange: Exchange, problem: SchemaProblem) -> str:
    """What is wrong, without what differs where the defect is the same: a service that stores what
    it is sent shows any wrong type again, and one that reads an object wrongly all its members.
    """
    if _is_shown_again(exchange, problem):
        return f"{exchange.operation_id} accepts a value of the wrong type and shows it"
    return f"A field of {exchange.operation_id} is not as documented: {_field(problem.pointer)}"


def _is_shown_again(exchange: Exchange, problem: SchemaProblem) -> bool:
    """Whether a wrong value is the one that the request sent."""
    return bool(_sent(exchange, problem) == _at(exchange.json, problem.pointer))


def _sent(exchange: Exchange, problem: SchemaProblem) -> Any:
    return _at(exchange.request_json, problem.pointer.removeprefix("/data"))


def _stored(exchange: Exchange, problem: SchemaProblem) -> str:
    """The innermost resource with a uid that shows a wrong value, the field in it, and the value.

    Empty where the request created or set it otherwise: then this very answer is wrong.
    """
    steps = problem.pointer.split("/")
    records = {place: _at(exchange.json, "/".join(steps[:place])) for place in range(len(steps))}
    places = [place for place, record in records.items() if _uid(record)]
    if not places:
        return ""
    is_own = steps[: places[-1]] == ["", "data"]
    is_set = exchange.operation_id in CREATIONS or _sent(exchange, problem) is not None
    if is_own and is_set and not _is_shown_again(exchange, problem):
        return ""
    field = "/".join(steps[places[-1] :])
    return f"{_uid(records[places[-1]])} {field}: {_at(exchange.json, problem.pointer)!r}"


def _uid(record: Any) -> Any:
    return record.get("uid") if isinstance(record, dict) else None


def _field(pointer: str) -> str:
    """The field of a resource to which a pointer leads; `*` stands for a position."""
    steps = ["*" if step.isdigit() else step for step in pointer.split("/")]
    first = 1 + max((at for at, step in enumerate(steps) if step in {"data", "*"}), default=0)
    return "/".join(steps[: first + 1])


@check(NO_VALUE)
def a_field_without_value_is_shown_as_the_dialect_says(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """Every documented field that is absent or null; an empty one may have been given as such,
    except in the answer to a creation that was not sent it.

    What all resources of a page show alike is judged once.
    """
    representation, document = context.dialect.representation, context.contract.document
    forms = dict.fromkeys(
        (resource.kind, name, form)
        for resource in resources(exchange)
        for name in schema_named(document, resource.kind)["properties"]
        if (form := _form_of_no_value(resource, name, exchange, context)) is not None
    )
    for kind, name, form in forms:
        schema = schema_named(document, kind)["properties"][name]
        allowed = representation.no_value_in(kind, name, json_type(document, schema))
        if allowed.decided:
            yield judged(
                allowed.allows(form),
                NO_VALUE,
                f"A field without value is not shown as the dialect says: {kind}.{name}",
                expected=" or ".join(allowed.allowed),
                actual=form.value,
                exchanges=[exchange],
            )


def _form_of_no_value(
    resource: Resource, name: str, exchange: Exchange, context: CheckContext
) -> NoValue | None:
    if name not in resource.fields:
        return NoValue.ABSENT
    value = resource.fields[name]
    if value == "" and not resource.nested and _could_be_set(name, exchange, context):
        is_given = name in sent(exchange) or _may_be_of_another(exchange, context)
        return None if is_given else NoValue.EMPTY
    return NoValue.NULL if value is None else None


def _may_be_of_another(exchange: Exchange, context: CheckContext) -> bool:
    """Whether an answer may show the event of an earlier broadcast, with what that was sent."""
    duplicate = context.dialect.idempotency.duplicate
    shows_first = not duplicate.decided or any(each.shows_first for each in duplicate.allowed)
    return "idempotency_key" in sent(exchange) and shows_first


def _could_be_set(name: str, exchange: Exchange, context: CheckContext) -> bool:
    """Whether a creation takes the field; what the service itself sets may well be empty, such as
    the query parameters of a request without any. A uid always has a value: an empty one is lost.
    """
    if exchange.operation_id not in CREATIONS or name == "uid":
        return False
    schema = context.contract.operations[exchange.operation_id].body_schema or {}
    return name in schema.get("properties", {})


@check("2.9-12")
def nothing_is_updated_before_it_was_created(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """By more than what two clocks, or two fields of other precision, may differ by.

    An answer is judged once for each kind of resource, however many it shows.
    """
    forms = context.dialect.representation.timestamp.allowed
    shown: dict[Kind, str] = {}  # the times of one that is wrong, or an empty text
    for resource in resources(exchange):
        times = resource.fields.get("created_at"), resource.fields.get("updated_at")
        created, updated = (moment(time, forms) for time in times)
        if created is not None and updated is not None and not shown.get(resource.kind):
            wrong = created > updated + DIFFERENCE_S
            shown[resource.kind] = "{} and {}".format(*times) if wrong else ""
    for kind, times_shown in shown.items():
        yield judged(
            not times_shown,
            "2.9-12",
            f"created_at of a resource is later than its updated_at: {kind}",
            expected="created_at <= updated_at",
            actual=times_shown,
            exchanges=[exchange],
        )
