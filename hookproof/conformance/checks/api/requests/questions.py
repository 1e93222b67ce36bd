"""Requests that are taken or refused as the dialect or the document says: one table, one reading.

Sections 2 to 4, 7 and 8. Each row is judged only beside an ordinary request that was taken.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlsplit

from hookproof.conformance.checks.support.bounds import (
    NO_DEEPEST,
    NO_LONGEST,
    NO_SIZE_LIMIT,
    bounds,
)
from hookproof.conformance.checks.support.reading import (
    Reading,
    is_taken_over,
    reading,
    unlike_left_out,
)
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange, NotExaminedError
from hookproof.conformance.model.judgement import Judgement, judged, not_applicable
from hookproof.conformance.model.tolerances import SENT_WITHIN_S
from hookproof.conformance.observations.answer import (
    endpoints_in,
    sent,
    shown_uid,
)
from hookproof.conformance.observations.requests.endpoint_urls import (
    FIELDS,
    UnusualUrlTried,
    UrlKind,
    answer_to,
)
from hookproof.conformance.observations.requests.mistakes import (
    Bound,
    DataOfAnotherType,
    EndpointUrlTried,
    Mistake,
    MistakenRequest,
    NestedData,
    NullField,
    PartialFieldMapping,
    RateLimitOfZero,
    RequestTried,
    RequestWithinBounds,
    RequiredFieldLeftOut,
    RequiredFieldsAlone,
    RollWithoutBody,
    Scheme,
    TimeoutOfZero,
    UnansweredVisit,
    UndeclaredBody,
    UnknownEndpointListed,
    UnknownIdentifier,
    Unlisted,
    UnlistedInput,
)
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.given_settings import zero_http_timeout
from hookproof.spec.dialect.groups.requests import DEEP
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Acceptance, CreationVisit

# What becomes of a request by the dialect: an answer of which one word is "refused".
AnswerIn = Callable[[Dialect, RequestTried], Answer[Any]]
TAKEN: Final[Answer[Any]] = Answer((Reading.TAKEN,))
REFUSED: Final[Answer[Any]] = Answer((Reading.REFUSED,))


def says_nothing(_request: RequestTried) -> str:
    """For rows of which the answer shows whatever it does."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One row: which requirement, what is reported, and what is right.

    With a `status`, the name of a refusal of section 7, another one is wrong. `rules` are what the
    requests depend on, and in words what they are. `taken_over` says what the answer shows of input
    that is to be treated as if it were not there.
    """

    requirement: str
    message: str
    answer: AnswerIn
    status: str = ""
    rules: tuple[str, Callable[[Dialect, str], object]] | None = None
    taken_over: Callable[[RequestTried], str] = says_nothing


def rule(name: str) -> AnswerIn:
    """What the dialect's rules for requests say under a name."""
    return lambda dialect, _: getattr(dialect.requests, name)


def is_taken(_dialect: Dialect, _request: RequestTried) -> Answer[Any]:
    return TAKEN


def is_refused(_dialect: Dialect, _request: RequestTried) -> Answer[Any]:
    return REFUSED


def _is_shown(request: RequestTried) -> str:
    tried = request.tried
    return "taken over" if tried is not None and is_taken_over(tried, request.field) else ""


def _is_unlike_left_out(request: RequestTried) -> str:
    tried, ordinary = request.tried, request.ordinary
    if tried is None or ordinary is None:
        return ""
    return unlike_left_out(tried, ordinary, request.field)


def _required(dialect: Dialect, operation_id: str | None) -> tuple[tuple[str, ...], ...]:
    """The fields that are required, and those of which one is."""
    rules = dialect.requests
    return rules.required_by(operation_id or ""), rules.one_of_required_by(operation_id or "")


def _rules_of(operation_id: str) -> tuple[str, Callable[[Dialect, str], object]]:
    return (
        f"requests of {operation_id} with its required fields",
        lambda dialect, _field: _required(dialect, operation_id),
    )


AT_THE_EDGE: Final = ("requests at the edge of what is allowed", bounds)
BEYOND: Final = ("requests beyond what is allowed", bounds)
OF_SERVICE: Final = (
    "requests with fields that only the service sets",
    lambda dialect, _field: dialect.requests.service_assigned,
)
SILENT: Final = "{what} is not treated as the dialect says: {request.operation_id}"
ZERO: Final = "{what} is not treated as the dialect says"
MISTAKEN: Final = "A request is not refused as the dialect says: {what} {request.field}"
WITHIN: Final = "A request within the dialect's bounds is refused: {what} {request.field}"
UNLISTED: Final = (
    "{request.operation_id} does not treat {request.field} as the dialect says: {what}"
)
NOT_HTTPS: Final = "An endpoint is created with a URL that is not https: {what}"
UNUSUAL: Final = "An endpoint URL with {what} is not treated as the dialect says"
UNKNOWN: Final = "{request.operation_id} of what does not exist is not refused as the dialect says"
LEFT_OUT: Final = (
    "{request.operation_id} does not refuse a body without its {request.field} as the dialect says"
)
ALONE: Final = "{request.operation_id} refuses a body with all the fields that the dialect requires"


def _row(
    requirement: str, message: str, what: str, answer: AnswerIn, status: str = "", **more: Any
) -> Question:
    return Question(
        requirement=requirement,
        message=message.replace("{what}", what),
        answer=answer,
        status=status,
        **more,
    )


def _by_operation(
    kind: type[RequestTried],
    message: str,
    answer: AnswerIn,
    status: str,
    requirements: Mapping[str, str],
    *,
    requiring: bool = False,
) -> dict[object, Question]:
    return {
        (kind, operation_id): _row(
            requirement,
            message,
            "",
            answer,
            status,
            rules=_rules_of(operation_id) if requiring else None,
        )
        for operation_id, requirement in requirements.items()
    }


INVALID: Final = "invalid_value"

# By the topic of a request: its class, its kind, or its class and its operation.
QUESTIONS: Final[Mapping[object, Question]] = {
    UnknownEndpointListed: _row(
        "4.6-16",
        SILENT,
        "An identifier in endpoints that names no endpoint",
        rule("unknown_listed_endpoints"),
    ),
    RollWithoutBody: _row("4.3-21", SILENT, "A roll without any body", rule("roll_without_body")),
    UndeclaredBody: _row("7-11", SILENT, "A body without a Content-Type", rule("undeclared_body")),
    DataOfAnotherType: _row("4.8-20", SILENT, "Data that is no object", rule("other_data")),
    NullField: _row(
        "4.9-9",
        SILENT,
        "Null in place of an optional field",
        rule("null_fields"),
        taken_over=_is_unlike_left_out,
    ),
    RateLimitOfZero: _row(
        "8-5", ZERO, "A rate_limit of 0", lambda d, _: d.delivery.zero_rate_limit, INVALID
    ),
    TimeoutOfZero: _row(
        "8-21", ZERO, "An http_timeout of 0", lambda d, _: zero_http_timeout(d), INVALID
    ),
    PartialFieldMapping: _row(
        "2.5-27",
        ZERO,
        "A field_mapping without a member",
        rule("partial_field_mapping"),
        INVALID,
    ),
    Unlisted.WORD: _row(
        "2.9-9",
        UNLISTED,
        Unlisted.WORD,
        lambda d, request: d.words.other_words_in(request.field.rpartition(".")[2]),
        INVALID,
    ),
    Unlisted.SERVICE_FIELD: _row(
        "2.9-10",
        UNLISTED,
        Unlisted.SERVICE_FIELD,
        rule("service_assigned_input"),
        INVALID,
        rules=OF_SERVICE,
        taken_over=_is_shown,
    ),
    Unlisted.FIELD: _row(
        "2.9-11", UNLISTED, Unlisted.FIELD, rule("unknown_fields"), INVALID, taken_over=_is_shown
    ),
    UnansweredVisit: _row(
        "4.1-18",
        ZERO,
        "An endpoint whose URL answers no visit",
        lambda d, _: d.delivery.failed_visit,
    ),
    **{
        kind: _row(requirement, UNUSUAL, kind, rule(FIELDS[kind]))
        for kind, requirement in {
            UrlKind.ADDRESS: "8-22",
            UrlKind.OTHER_PORT: "8-23",
            UrlKind.USER_INFORMATION: "8-24",
            UrlKind.ODD_HOST: "8-25",
            UrlKind.FRAGMENT: "8-26",
        }.items()
    },
    **{
        scheme: _row(requirement, NOT_HTTPS, scheme, is_refused)
        for scheme, requirement in {Scheme.HTTP: "8-10", Scheme.OTHER: "8-11"}.items()
    },
    **{
        mistake: _row(requirement, MISTAKEN, mistake, is_refused, status, rules=rules)
        for mistake, (requirement, status, rules) in {
            Mistake.OTHER_TYPE: ("7-3", INVALID, None),
            Mistake.NOT_JSON: ("7-2", "malformed_body", None),
            Mistake.MEDIA_TYPE: ("7-4", "unsupported_media_type", None),
            Mistake.METHOD: ("7-5", "method_not_allowed", None),
            Mistake.PATH: ("7-6", "unknown_path", None),
            Mistake.TOO_LARGE: ("8-14", "body_too_large", BEYOND),
            Mistake.BEYOND: ("8-17", INVALID, BEYOND),
            Mistake.TOO_LONG: ("8-28", INVALID, BEYOND),
        }.items()
    },
    **{
        bound: _row(requirement, WITHIN, bound, is_taken, rules=AT_THE_EDGE)
        for bound, requirement in {
            Bound.NUMBER: "8-16",
            Bound.SIZE: "8-15",
            Bound.TEXT: "8-27",
        }.items()
    },
    **_by_operation(
        UnknownIdentifier,
        UNKNOWN,
        is_refused,
        "unknown_resource",
        {
            "getEndpoint": "4.2-7",
            "expireEndpointSecret": "4.3-20",
            "getPortalLink": "4.5-5",
            "updatePortalLink": "4.6-13",
        },
    ),
    **_by_operation(
        RequiredFieldLeftOut,
        LEFT_OUT,
        is_refused,
        INVALID,
        {
            "createEndpoint": "4.9-1",
            "expireEndpointSecret": "4.9-3",
            "updatePortalLink": "4.9-5",
            "createBroadcastEvent": "4.9-7",
        },
        requiring=True,
    ),
    **_by_operation(
        RequiredFieldsAlone,
        ALONE,
        is_taken,
        "",
        {
            "createEndpoint": "4.9-2",
            "expireEndpointSecret": "4.9-4",
            "updatePortalLink": "4.9-6",
            "createBroadcastEvent": "4.9-8",
        },
        requiring=True,
    ),
}


def requirements_of(*kinds: type) -> tuple[str, ...]:
    """The requirements of the rows of these classes, or of their kinds."""
    return tuple(
        question.requirement
        for topic, question in QUESTIONS.items()
        if topic in kinds
        or type(topic) in kinds
        or (isinstance(topic, tuple) and topic[0] in kinds)
    )


def judge(request: RequestTried, context: CheckContext) -> Iterator[Judgement]:
    """Whether a request was taken or refused as its row says; nothing where that does not tell."""
    question, tried, ordinary = QUESTIONS[request.topic], request.tried, request.ordinary
    dialect = context.dialect
    answer = question.answer(dialect, request)
    status = (
        dialect.errors.status(question.status, request.operation_id) if question.status else None
    )
    read = reading(tried, ordinary, status)
    if tried is None or read is None or not answer.decided:
        return
    has_one_meaning = answer is TAKEN or (status is not None and status.decided)
    if read is Reading.OTHERWISE and (not has_one_meaning or (answer is TAKEN and tried.succeeded)):
        return  # 7-8 judges server errors, and 2.1 the body of a 2xx
    if question.rules is not None:
        requests, rules = question.rules
        context.require_same_rules(requests, lambda dialect: rules(dialect, request.field or ""))
    taken_over = question.taken_over(request) if read is Reading.TAKEN else ""
    yield judged(
        not taken_over and any(read == _reading_of(allowed) for allowed in answer.allowed),
        question.requirement,
        question.message.format(request=request).rstrip(),
        expected=_expected(answer, status),
        actual=", ".join(filter(None, [_actual(tried), taken_over])),
        exchanges=[tried, ordinary],
    )


def _reading_of(allowed: str) -> Reading:
    """The answers of a dialect have several words for what is taken, and one for what is not."""
    return Reading.REFUSED if allowed == Acceptance.REFUSED.value else Reading.TAKEN


def _expected(answer: Answer[Any], status: Answer[int] | None) -> str:
    if answer is TAKEN:
        return "a 2xx"
    if answer is REFUSED:
        return " or ".join(map(str, status.allowed)) if status and status.decided else "a refusal"
    return " or ".join(answer.allowed)


def _actual(tried: Exchange) -> str:
    url = sent(tried).get("url") if tried.operation_id == "createEndpoint" else None
    return f"{tried.status}{f' for {url}' if url else ''}"


@check(
    *requirements_of(
        UnknownEndpointListed, RollWithoutBody, UndeclaredBody, DataOfAnotherType, NullField
    )
)
def requests_on_which_the_document_is_silent_are_taken_or_refused(
    request: UnknownEndpointListed
    | RollWithoutBody
    | UndeclaredBody
    | DataOfAnotherType
    | NullField,
    context: CheckContext,
) -> Iterator[Judgement]:
    """Refused with whatever status, since the mistake can be named in several ways."""
    rules = context.dialect.requests
    if isinstance(request, RollWithoutBody) and rules.expire_endpoint_secret_requires:
        yield not_applicable("4.3-21", "the dialect requires fields of a roll")
    elif not (isinstance(request, UnknownEndpointListed) and _names_an_endpoint(request)):
        yield from judge(request, context)


def _names_an_endpoint(request: UnknownEndpointListed) -> bool:
    """Whether an endpoint that was not to exist is shown: then it was found, and not ignored."""
    tried = request.tried
    listed = () if tried is None else sent(tried).get("endpoints") or ()
    records = () if tried is None else endpoints_in(tried)
    return any(record.text("uid") in listed for record in records)


@check("8-5")
def a_rate_limit_of_zero_is_taken_or_refused(
    request: RateLimitOfZero, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says; its effect on deliveries is judged by another check."""
    yield from judge(request, context)


@check("8-21")
def an_http_timeout_of_zero_is_taken_or_refused(
    request: TimeoutOfZero, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says; its effect on deliveries is judged by another check."""
    yield from judge(request, context)


@check("2.5-27")
def a_partial_field_mapping_is_taken_or_refused(
    request: PartialFieldMapping, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says; how token responses are then read is judged by another check."""
    yield from judge(request, context)


@check(*requirements_of(Unlisted))
def input_that_is_not_listed_is_ignored_or_refused(
    request: UnlistedInput, context: CheckContext
) -> Iterator[Judgement]:
    """Ignored means accepted; a field of the service then keeps its own value."""
    yield from judge(request, context)


@check(*requirements_of(Scheme))
def only_https_urls_are_taken(
    request: EndpointUrlTried, context: CheckContext
) -> Iterator[Judgement]:
    """Refused at creation, with whatever status."""
    yield from judge(request, context)


@check(*requirements_of(Bound))
def what_lies_within_the_bounds_is_taken(
    request: RequestWithinBounds, context: CheckContext
) -> Iterator[Judgement]:
    """Numbers at the edge, texts and a body as long as allowed."""
    if context.dialect.requests.size_limit is None:
        yield not_applicable("8-15", NO_SIZE_LIMIT)
    if not context.dialect.requests.text_maximum_of:
        yield not_applicable("8-27", NO_LONGEST)
    if request.tried is not None:
        _require_sent_in_time(request.tried, context)
    yield from judge(request, context)


def _require_sent_in_time(tried: Exchange, context: CheckContext) -> None:
    """Raise NotExaminedError for what may have been refused because we sent it slowly (7-7)."""
    too_slow = context.dialect.errors.status("slow_request", tried.operation_id)
    if tried.duration_s > SENT_WITHIN_S and not tried.succeeded and too_slow.allows(tried.status):
        raise NotExaminedError(
            f"a request within the bounds was answered {tried.status} after {tried.duration_s:.1f}"
            " s, as one that does not arrive in time; run it again with less beside it"
        )


@check(*requirements_of(Mistake))
def a_mistake_is_refused_with_the_dialects_status(
    request: MistakenRequest, context: CheckContext
) -> Iterator[Judgement]:
    if context.dialect.requests.size_limit is None:
        yield not_applicable("8-14", NO_SIZE_LIMIT)
    if not context.dialect.requests.text_maximum_of:
        yield not_applicable("8-28", NO_LONGEST)
    yield from judge(request, context)


@check(*requirements_of(UnknownIdentifier))
def what_does_not_exist_is_refused(
    request: UnknownIdentifier, context: CheckContext
) -> Iterator[Judgement]:
    """Identifiers of the form of known ones; one that is found after all exists, and shows
    nothing.
    """
    tried = request.tried
    uid = None if tried is None else shown_uid(tried)
    if tried is not None and (
        uid is None or quote(uid, safe="") not in urlsplit(tried.url).path.split("/")
    ):
        yield from judge(request, context)


@check(*requirements_of(RequiredFieldLeftOut, RequiredFieldsAlone))
def required_fields_are_enough_and_none_may_be_left_out(
    request: RequiredFieldsAlone | RequiredFieldLeftOut, context: CheckContext
) -> Iterator[Judgement]:
    yield from judge(request, context)
    operation_id = request.operation_id
    if isinstance(request, RequiredFieldsAlone) and not any(
        _required(context.dialect, operation_id)
    ):
        requirement = QUESTIONS[RequiredFieldLeftOut, operation_id].requirement
        yield not_applicable(requirement, "the dialect requires no field of this operation")


@check(*requirements_of(UrlKind))
def an_unusual_endpoint_url_is_taken_or_refused(
    request: UnusualUrlTried, context: CheckContext
) -> Iterator[Judgement]:
    """A refusal may be for something else: a service without IPv6 takes no such address, and one
    that reads odd forms as the addresses that they are refuses them as such.
    """
    rules = context.dialect.requests
    may_be_refused = answer_to(request.kind, rules).allows(Acceptance.REFUSED)
    is_refused = reading(request.tried, request.ordinary) is Reading.REFUSED
    if may_be_refused or not (
        is_refused and _may_be_refused_otherwise(request, rules.url_addresses)
    ):
        yield from judge(request, context)


def _may_be_refused_otherwise(request: UnusualUrlTried, addresses: Answer[Acceptance]) -> bool:
    """Whether an address may be refused for something else than its kind."""
    url = "" if request.tried is None else str(sent(request.tried).get("url"))
    is_ipv6 = ":" in (urlsplit(url).hostname or "")
    takes_addresses = addresses.allowed == (Acceptance.TAKEN,)
    return is_ipv6 or (request.kind is UrlKind.ODD_HOST and not takes_addresses)


@check("4.1-18")
def an_endpoint_that_answers_no_visit_is_taken_or_refused(
    request: UnansweredVisit, context: CheckContext
) -> Iterator[Judgement]:
    """Refused with whatever status, where an endpoint that answers is created."""
    if context.dialect.delivery.creation_visit.allowed == (CreationVisit.NONE,):
        yield not_applicable("4.1-18", "the dialect has no request that tests a URL")
    else:
        yield from judge(request, context)


@check("8-29", "8-30")
def data_is_nested_as_deeply_as_the_dialect_allows(
    request: NestedData, context: CheckContext
) -> Iterator[Judgement]:
    """Refused with whatever status: a parser that goes no deeper takes it for no JSON."""
    read, maximum = (
        reading(request.tried, request.ordinary),
        context.dialect.requests.nesting_maximum,
    )
    if maximum.allowed == (None,):
        yield not_applicable("8-30", NO_DEEPEST)
    if request.tried is None or read in (None, Reading.OTHERWISE) or not maximum.decided:
        return
    deepest = [DEEP if each is None else each for each in maximum.allowed]
    within, beyond = request.levels <= min(deepest), request.levels > max(deepest)
    if within or beyond:
        yield judged(
            (read is Reading.REFUSED) is beyond,
            "8-29" if within else "8-30",
            f"Data of {request.levels} levels is {'refused' if within else 'accepted'}",
            expected=f"at most {max(deepest)} levels are accepted",
            actual=request.tried.status,
            exchanges=[request.tried, request.ordinary],
        )
