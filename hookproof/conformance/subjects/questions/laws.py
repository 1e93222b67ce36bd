"""Requests are taken or refused as the dialect or the document says (sections 2 to 4, 7 to 9).

One reading for all of them: each is judged only beside an ordinary request that was taken.
"""

from collections.abc import Iterator

from hookproof.conformance.checks.bounds import NO_DEEPEST
from hookproof.conformance.checks.reading import Reading, reading
from hookproof.conformance.model.check_registry import CheckContext, Judge, check
from hookproof.conformance.model.evidence import Exchange, NotExaminedError
from hookproof.conformance.model.judgement import Judgement, judged, not_applicable
from hookproof.conformance.model.tolerances import SENT_WITHIN_S
from hookproof.conformance.observations.answer import sent
from hookproof.conformance.observations.mistakes import RequestTried
from hookproof.conformance.subjects.questions.evidence import (
    CREATE,
    QUESTIONS,
    REFUSED,
    TAKEN,
    EndpointUrlTried,
    HeaderTextTried,
    MistakenRequest,
    NestedData,
    PartialFieldMapping,
    RateLimitOfZero,
    RequestWithinBounds,
    RequiredFieldLeftOut,
    RequiredFieldsAlone,
    SecretOfAnotherForm,
    TimeoutOfZero,
    UnansweredVisit,
    UnknownIdentifier,
    UnlistedInput,
    UnusualUrlTried,
    asked_in,
    question_of,
    required,
    rows_of,
)
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.groups.requests import DEEP
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Acceptance


def judge(request: RequestTried, context: CheckContext) -> Iterator[Judgement]:
    """Whether a request was taken or refused as its row says; nothing where that does not tell."""
    question, tried, ordinary = question_of(request), request.tried, request.ordinary
    dialect = context.dialect
    answer = question.answer(dialect, request)
    status = (
        dialect.errors.status(question.status, request.operation_id) if question.status else None
    )
    if tried is not None and answer is TAKEN:
        _require_sent_in_time(tried, dialect)
    read = reading(tried, ordinary, status)
    if tried is None or ordinary is None or read is None or not answer.decided:
        return
    if question.is_unclear(tried, dialect):
        return
    has_one_meaning = answer is TAKEN or (status is not None and status.decided)
    if read is Reading.OTHERWISE and (not has_one_meaning or (answer is TAKEN and tried.succeeded)):
        return  # 7-8 judges server errors, and 2.1 the body of a 2xx
    if question.rules is not None:
        requests, rules = question.rules
        context.require_same_rules(requests, lambda dialect: rules(dialect, request.field))
    taken_over = ""
    if read is Reading.TAKEN:
        taken_over = question.taken_over(tried, ordinary, request.field)
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


def _expected(answer: Answer[str], status: Answer[int] | None) -> str:
    if answer is TAKEN:
        return "a 2xx"
    if answer is REFUSED:
        return " or ".join(map(str, status.allowed)) if status and status.decided else "a refusal"
    return " or ".join(answer.allowed)


def _require_sent_in_time(tried: Exchange, dialect: Dialect) -> None:
    """Raise NotExaminedError for what may have been refused because we sent it slowly (7-7)."""
    too_slow = dialect.errors.status("slow_request", tried.operation_id)
    if tried.duration_s > SENT_WITHIN_S and not tried.succeeded and too_slow.allows(tried.status):
        raise NotExaminedError(
            f"a request within the bounds was answered {tried.status} after {tried.duration_s:.1f}"
            " s, as one that does not arrive in time; run it again with less beside it"
        )


def _actual(tried: Exchange) -> str:
    url = sent(tried).get("url") if tried.operation_id == CREATE else None
    return f"{tried.status}{f' for {url}' if url else ''}"


def judge_row(request: RequestTried, context: CheckContext) -> Iterator[Judgement]:
    """What `judge` says, and which rows of the same class the dialect makes pointless.

    A request of such a row is judged only if it has `rules`, by which it was made.
    """
    own, is_judged = question_of(request), True
    for row in rows_of(type(request)):
        if row.not_applicable is not None and row.not_applicable[0](context.dialect):
            yield not_applicable(row.requirement, row.not_applicable[1])
            is_judged = is_judged and (row is not own or row.rules is not None)
    if is_judged:
        yield from judge(request, context)


def _check(name: str, *kinds: type[RequestTried]) -> Judge:
    """Register the check of this name for the rows of these classes."""

    def check_rows(request: RequestTried, context: CheckContext) -> Iterator[Judgement]:
        yield from judge_row(request, context)

    check_rows.__name__ = name
    requirements = (row.requirement for row in rows_of(*kinds))
    return check(*requirements, judges=kinds)(check_rows)


_check("a_rate_limit_of_zero_is_taken_or_refused", RateLimitOfZero)
_check("an_http_timeout_of_zero_is_taken_or_refused", TimeoutOfZero)
_check("a_partial_field_mapping_is_taken_or_refused", PartialFieldMapping)
_check("a_secret_of_another_form_is_taken_or_refused", SecretOfAnotherForm)
_check("a_custom_header_is_such_a_text_as_the_dialect_says", HeaderTextTried)
_check("an_endpoint_that_answers_no_visit_is_taken_or_refused", UnansweredVisit)
_check("input_that_is_not_listed_is_ignored_or_refused", UnlistedInput)
_check("an_unusual_endpoint_url_is_taken_or_refused", UnusualUrlTried)
_check("only_https_urls_are_taken", EndpointUrlTried)
_check("a_mistake_is_refused_with_the_dialects_status", MistakenRequest)
_check("what_lies_within_the_bounds_is_taken", RequestWithinBounds)
_check("what_does_not_exist_is_refused", UnknownIdentifier)
# Whatever else is asked. It is refused with whatever status, since the mistake can be named in
# several ways.
_check(
    "requests_on_which_the_document_is_silent_are_taken_or_refused",
    *(kind for kind in asked_in("refusals", "hostile") if not rows_of(kind)[0].status),
)


@check(*(row.requirement for row in rows_of(RequiredFieldLeftOut, RequiredFieldsAlone)))
def required_fields_are_enough_and_none_may_be_left_out(
    request: RequiredFieldsAlone | RequiredFieldLeftOut, context: CheckContext
) -> Iterator[Judgement]:
    yield from judge_row(request, context)
    operation_id = request.operation_id or ""
    if isinstance(request, RequiredFieldsAlone) and not any(
        required(context.dialect, operation_id)
    ):
        requirement = QUESTIONS[RequiredFieldLeftOut, operation_id].requirement
        yield not_applicable(requirement, "the dialect requires no field of this operation")


@check("8-29", "8-30")
def data_is_nested_as_deeply_as_the_dialect_allows(
    request: NestedData, context: CheckContext
) -> Iterator[Judgement]:
    """Refused with whatever status: a parser that goes no deeper takes it for no JSON."""
    read = reading(request.tried, request.ordinary)
    maximum = context.dialect.requests.nesting_maximum
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
