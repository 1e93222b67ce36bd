"""What every answer owes, whatever was asked: the envelope, names, types and words of fields,
success or a refusal (sections 2, 4, 7 and 8).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from hookproof.conformance.checks.bounds import NO_SIZE_LIMIT
from hookproof.conformance.checks.refusal import refusal_with
from hookproof.conformance.checks.success import success_of
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import NOT_JSON, Exchange
from hookproof.conformance.model.judgement import (
    Judgement,
    Subject,
    holds,
    json_text,
    judged,
    not_applicable,
    violated,
)
from hookproof.conformance.observations.answer import (
    NOT_NOW,
    SERVER_ERRORS,
    Kind,
    Resource,
    answered_as_duplicate,
    has_value,
    path_parameters,
    reaches_the_service,
    refused,
    refused_as_duplicate,
    resources,
    sent,
    shown,
    was_accepted,
    was_answered,
    was_successful,
)
from hookproof.conformance.observations.mistakes import HalfRequest, OverlongRequest
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests
from hookproof.conformance.observations.timestamp import moment
from hookproof.spec.contract.refusals import ErrorForm
from hookproof.spec.contract.service_contract import SchemaProblem
from hookproof.spec.dialect.model import Representation, Words
from hookproof.spec.dialect.vocabulary import EventEcho, NoValue, OnInput
from hookproof.spec.openapi_document import (
    Document,
    json_type,
    resolved,
    schema_named,
    without_null,
)
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


SEPARATORS: Final = re.compile("[^a-z0-9]")


@check(*OF_OPERATION.values())
def no_documented_field_is_spelled_otherwise(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """No field is left out where another one differs from its name in case and separators alone, as
    `routing_key` does from `routingKey`.

    Other fields that the document does not name are the service's own.
    """
    document = context.contract.document
    shown = [each for each in resources(exchange) if each.fields and not each.nested]
    if exchange.operation_id is None or not shown:
        return
    requirement = OF_OPERATION[exchange.operation_id]
    otherwise = dict.fromkeys(
        (resource.kind, field, spelling)
        for resource in shown
        for field, spelling in spelled_otherwise(
            document, schema_named(document, resource.kind), resource.fields
        )
    )
    if not otherwise:
        yield holds(requirement, exchanges=[exchange])
    for kind, field, spelling in otherwise:
        yield violated(
            requirement,
            f"A field is not named as documented: {kind} {field}",
            expected=field.rpartition(".")[2],
            actual=spelling,
            exchanges=[exchange],
        )


def spelled_otherwise(
    document: Mapping[str, Any], schema: Document, value: Any, path: str = ""
) -> Iterator[tuple[str, str]]:
    """The path of each documented field that a value lacks, and the name that it has in its place;
    fields in objects and arrays within it as well.
    """
    schema = resolved(document, without_null(schema))
    if isinstance(value, list):
        for item in value if "items" in schema else ():
            yield from spelled_otherwise(document, schema["items"], item, path)
    if not isinstance(value, dict):
        return
    properties = schema.get("properties", {})
    if not value.keys() <= properties.keys():
        lacking = {bare(name): name for name in properties if name not in value}
        for name in value:
            if name not in properties and (documented := lacking.get(bare(name))) is not None:
                yield f"{path}{documented}", name
    for name, member in value.items():
        if isinstance(member, dict | list) and name in properties:
            yield from spelled_otherwise(document, properties[name], member, f"{path}{name}.")


def bare(name: str) -> str:
    """A name without what distinguishes its spellings."""
    return SEPARATORS.sub("", name.lower())


GIVEN_BY_CLIENTS = "2.9-4"


@check("2.9-4", "2.9-5", "2.9-6", "2.9-7", "2.9-8", "2.9-14", "2.9-15")
def an_enumerated_field_shows_a_word_of_the_dialect(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """Wherever the field has a value.

    An auth_type may be what a client gave, unless the dialect refuses such words.
    """
    refusing = context.dialect.words.other_words_in("auth_type").allowed == (OnInput.REFUSED,)
    for resource in resources(exchange):
        for requirement, field, word, listed in _fields(resource, context.dialect.words):
            given_by_client = (
                requirement == GIVEN_BY_CLIENTS and word not in listed and not refusing
            )
            if has_value(word) and not given_by_client:
                yield judged(
                    word in listed,
                    requirement,
                    f"The {field} of a {resource.kind} is not a word of the dialect",
                    expected=" or ".join(listed),
                    actual=word,
                    exchanges=[exchange],
                )


def _fields(resource: Resource, words: Words) -> Iterator[tuple[str, str, Any, tuple[str, ...]]]:
    """Requirement, name, value and listed words of each enumerated field."""
    fields = resource.fields
    if resource.kind is Kind.PORTAL_LINK:
        yield "2.9-4", "auth_type", fields.get("auth_type"), words.portal_auth_types
    if resource.kind is Kind.SOURCE:
        yield "2.9-5", "type", fields.get("type"), words.source_types
        yield "2.9-6", "provider", fields.get("provider"), words.source_providers
        yield "2.9-7", "verifier type", _type_of(fields.get("verifier")), words.verifier_types
        yield "2.9-8", "pub_sub type", _type_of(fields.get("pub_sub")), words.pub_sub_types
        encoding = _field_at(fields, "verifier", "hmac", "encoding")
        if words.hmac_encodings.decided:
            yield "2.9-14", "hmac encoding", encoding, words.hmac_encodings.allowed
        auth_type = _field_at(fields, "pub_sub", "kafka", "auth", "type")
        if words.kafka_auth_types.decided:
            yield "2.9-15", "kafka auth type", auth_type, words.kafka_auth_types.allowed


def _type_of(value: Any) -> Any:
    return _field_at(value, "type")


def _field_at(value: Any, *path: str) -> Any:
    """The field at a path of names; None if there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


MEMBERS = {"2.1-2": ("message", str), "2.1-3": ("status", bool), "2.1-5": ("data", dict)}
JSON_NAMES = {str: "a string", bool: "a boolean", dict: "an object"}


@check("2.1-1")
def a_success_is_one_json_object(exchange: Exchange, _context: CheckContext) -> Iterator[Judgement]:
    if exchange.operation_id is not None and exchange.succeeded:
        yield judged(
            isinstance(exchange.json, dict),
            "2.1-1",
            "The body of a successful response is not a JSON object",
            expected="one JSON object",
            actual="not JSON" if exchange.json is NOT_JSON else exchange.json,
            exchanges=[exchange],
        )


@check(*MEMBERS)
def a_success_has_message_status_and_data(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    for requirement, (member, kind) in MEMBERS.items():
        for envelope in _envelopes(exchange):
            yield judged(
                isinstance(envelope.get(member), kind),
                requirement,
                f"A successful response has no {member} that is {JSON_NAMES[kind]}",
                expected=f"{member}: {JSON_NAMES[kind]}",
                actual=envelope.get(member, "absent"),
                exchanges=[exchange],
            )


@check("2.1-4")
def the_success_flag_of_a_success_is_true(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """A 2xx with `status: false` contradicts itself."""
    for envelope in _envelopes(exchange):
        flag = envelope.get("status")
        if isinstance(flag, bool):
            yield judged(
                flag,
                "2.1-4",
                "A successful response is flagged as unsuccessful",
                expected=True,
                actual=flag,
                exchanges=[exchange],
            )


@check("2.1-6")
def a_json_body_is_declared_as_json(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """Objects and arrays only: other texts may happen to be JSON."""
    if isinstance(exchange.json, dict | list):
        declared = exchange.response_header("Content-Type") or "absent"
        yield judged(
            declared.partition(";")[0].strip().lower().endswith(("/json", "+json")),
            "2.1-6",
            "A JSON body is not declared as JSON",
            expected="application/json, or a media type that ends in +json",
            actual=declared,
            exchanges=[exchange],
        )


def _envelopes(exchange: Exchange) -> Iterator[dict[str, Any]]:
    if exchange.operation_id is not None and exchange.succeeded and isinstance(exchange.json, dict):
        yield exchange.json


# In bytes of a body that is quoted, before credentials are masked in it and it is cut to one line.
LONGEST_QUOTED: Final = 4096

# What stack traces of common languages look like.
TRACES: Final = re.compile(
    rb"Traceback \(most recent call last\)"
    rb"|File \\?\"[^\"]+\\?\", line \d+|\bat [\w.$]+\([\w.]+\.(?:java|kt|scala):\d+\)"
    rb"|goroutine \d+ \[|/site-packages/|/node_modules/"
    rb"|\bat .+\.(?:js|ts):\d+:\d+|\.go:\d+\b|panic: "
)


@check("7-8")
def no_request_is_answered_with_a_server_error(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """Exercised by every request that got an answer of the service itself: where a gateway may be
    speaking, it is the service if the body is the dialect's error body.
    """
    of_service = was_answered(exchange) or not context.contract.error_problems(exchange.json)
    if exchange.status is not None and of_service:
        yield judged(
            exchange.status not in SERVER_ERRORS,
            "7-8",
            f"{exchange.operation_id or 'A request'} is answered with a server error",
            expected="no 5xx",
            actual=exchange.status,
            exchanges=[exchange],
        )


@check("7-9")
def a_refusal_shows_nothing_of_the_services_code(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """Neither a stack trace nor a path of a source file, in a server error either."""
    if refused(exchange) or exchange.status in SERVER_ERRORS:
        trace = TRACES.search(exchange.response_body)
        yield judged(
            trace is None,
            "7-9",
            "A refusal shows a stack trace or a path of the service's own code",
            expected="a message for people",
            actual=trace[0].decode("latin-1") if trace else "",
            exchanges=[exchange],
        )


@check("7-1")
def a_refusal_has_the_dialects_error_body(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """And the dialect's content type; parameters such as a charset may follow it. Refusals that
    have no body by the dialect declare none. The answer to a duplicate has a form of its own.
    """
    if (
        not refused(exchange)
        or not reaches_the_service(exchange)
        or refused_as_duplicate(exchange, context.dialect)
    ):
        return
    wanted = context.dialect.errors.content_type
    content_type = exchange.response_header("Content-Type") or "absent"
    forms = context.contract.errors.of(exchange.status)
    problems = [problem for form in forms for problem in _form_problems(exchange, form, context)]
    body = exchange.response_body[:LONGEST_QUOTED].decode("latin-1")
    yield judged(
        any(not _form_problems(exchange, form, context) for form in forms),
        "7-1",
        "A refusal has another content type or error body than the dialect's",
        expected=" or ".join(
            f"{wanted}: {form.template}" if form.validator else "no body" for form in forms
        ),
        actual=f"{content_type}: {'; '.join(dict.fromkeys(problems)) or body}",
        exchanges=[exchange],
    )


def _form_problems(exchange: Exchange, form: ErrorForm, context: CheckContext) -> tuple[str, ...]:
    """Why a refusal does not have this form; a body that is expected has the content type."""
    if form.validator is None:
        return ("there is a body",) if exchange.response_body else ()
    if exchange.json is NOT_JSON:
        return ("not JSON",)
    problems = [str(problem) for problem in context.contract.form_problems(form, exchange.json)]
    wanted = context.dialect.errors.content_type.lower()
    declared = (exchange.response_header("Content-Type") or "").partition(";")[0].strip().lower()
    return (*problems, *([] if declared == wanted else ["another content type"]))


@check("7-7", "8-18")
def an_unfinished_request_is_ended(
    request: HalfRequest | OverlongRequest, context: CheckContext
) -> Iterator[Judgement]:
    """A half request is ended after some time, an overlong one before it was sent to its end."""
    tried = request.tried
    if context.dialect.requests.size_limit is None:
        yield not_applicable("8-18", NO_SIZE_LIMIT)
    if tried is None:
        return
    if isinstance(request, OverlongRequest):
        if request.sent == 0 or tried.status in NOT_NOW:
            return  # nobody was there to read it
        yield judged(
            not tried.succeeded and request.sent < request.promised,
            "8-18",
            "A body of many megabytes is read to its end",
            expected=f"a refusal before {request.promised} bytes",
            actual=f"{tried.status or tried.problem} after {request.sent} bytes",
            exchanges=[tried],
            subject=Subject.REQUEST,
        )
    elif tried.status is not None:
        status = context.dialect.errors.status("slow_request", tried.operation_id)
        message = "A request that stops before its end is not ended with the dialect's status"
        yield from refusal_with(tried, "7-7", message, status)


SUCCESS: Final = {
    "createEndpoint": "4.1-1",
    "getEndpoint": "4.2-1",
    "expireEndpointSecret": "4.3-1",
    "listPortalLinks": "4.4-1",
    "getPortalLink": "4.5-1",
    "updatePortalLink": "4.6-1",
    "listSources": "4.7-1",
    "createBroadcastEvent": "4.8-1",
}

STATUS: Final = {
    "createEndpoint": "4.1-2",
    "getEndpoint": "4.2-2",
    "expireEndpointSecret": "4.3-8",
    "listPortalLinks": "4.4-2",
    "getPortalLink": "4.5-2",
    "updatePortalLink": "4.6-2",
    "listSources": "4.7-2",
    "createBroadcastEvent": "4.8-2",
}

# What not every service has a licence or a use for, so that every endpoint can be created without;
# and a time whose form the document does not show: a broadcast with it is for requirement 4.8-6.
OPTIONAL_PARTS: Final = frozenset({"acknowledged_at", "authentication", "mtls_client_cert"})

CURSORS: Final = frozenset({"next_page_cursor", "prev_page_cursor"})

NAMED_BY_PATH: Final = {
    "getEndpoint": ("4.2-4", "endpointID"),
    "expireEndpointSecret": ("4.3-10", "endpointID"),
    "getPortalLink": ("4.5-4", "portalLinkID"),
    "updatePortalLink": ("4.6-4", "portalLinkID"),
}


@check(*SUCCESS.values())
def a_valid_request_succeeds(
    requests: SucceedingRequests, context: CheckContext
) -> Iterator[Judgement]:
    """Whatever the dialect allows is accepted."""
    known = {
        resource.text("uid") for exchange in requests.exchanges for resource in resources(exchange)
    }
    for exchange in requests.requests_to_succeed:
        if (
            exchange.operation_id is not None
            and (was_successful(exchange) or _is_surely_valid(exchange, known, context))
            and not refused_as_duplicate(exchange, context.dialect)
        ):
            message = "A valid request did not succeed"
            yield from success_of(exchange, SUCCESS[exchange.operation_id], message)


def _is_surely_valid(exchange: Exchange, known: set[str | None], context: CheckContext) -> bool:
    """Whether a request asks for nothing that a service may lack or refuse, and names no endpoint
    that it has not shown. Whether a cursor is one that it has shown is for sections 4.4 and 4.7.
    """
    operation_id, body = exchange.operation_id or "", sent(exchange)
    if CURSORS & dict(parse_qsl(urlsplit(exchange.url).query)).keys():
        return False
    named = body.get("endpoints", [])
    if OPTIONAL_PARTS & body.keys() or ("endpoints" in body and not named):
        return False
    path = path_parameters(exchange, context.contract.operations[operation_id].path)
    wanted = [path["endpointID"]] if "endpointID" in path else []
    return known.issuperset([*wanted, *named])


@check(*STATUS.values())
def a_success_has_the_dialects_status(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """Section 7: the numbers behind the labels. A duplicate may have a number of its own.

    A page for people, or a failure by its flag, is no success whatever its number.
    """
    if exchange.operation_id is None or not was_accepted(exchange):
        return
    success = context.contract.operations[exchange.operation_id].success
    if success.decided:
        yield judged(
            success.allows(exchange.status) or answered_as_duplicate(exchange, context.dialect),
            STATUS[exchange.operation_id],
            f"{exchange.operation_id} succeeds with another status than the dialect's",
            expected=" or ".join(map(str, success.allowed)),
            actual=exchange.status,
            exchanges=[exchange],
        )


@check(*(requirement for requirement, _ in NAMED_BY_PATH.values()))
def the_answer_is_about_the_resource_in_the_path(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """Its uid is the identifier that was asked for."""
    if exchange.operation_id not in NAMED_BY_PATH or not has_value(shown(exchange).get("uid")):
        return
    requirement, parameter = NAMED_BY_PATH[exchange.operation_id]
    template = context.contract.operations[exchange.operation_id].path
    uid_in_path = path_parameters(exchange, template).get(parameter)
    yield judged(
        shown(exchange)["uid"] == uid_in_path,
        requirement,
        "The answer is about another resource than the one in the path",
        expected=uid_in_path,
        actual=shown(exchange)["uid"],
        exchanges=[exchange],
    )
