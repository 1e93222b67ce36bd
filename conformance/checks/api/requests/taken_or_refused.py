"""Requests on which the document is silent: taken or refused, as the dialect says."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged, not_applicable
from hookproof.conformance.observations.answer import refused, was_accepted
from hookproof.conformance.observations.requests.mistakes import (
    DataOfAnotherType,
    NullField,
    RequestTried,
    RollWithoutBody,
    UndeclaredBody,
    UnknownEndpointListed,
)
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.groups.request_vocabulary import Acceptance
from hookproof.spec.dialect.groups.requests import RequestRules
from hookproof.spec.dialect.vocabulary import OnInput

AnswerIn = Callable[[RequestRules], Answer[OnInput] | Answer[Acceptance]]

# The requirement for each kind of request, the answer of the dialect, and what the request is.
ANSWERED_BY: Final[Mapping[type[RequestTried], tuple[str, AnswerIn, str]]] = {
    UnknownEndpointListed: (
        "4.6-16",
        lambda rules: rules.unknown_listed_endpoints,
        "An identifier in endpoints that names no endpoint",
    ),
    RollWithoutBody: ("4.3-21", lambda rules: rules.roll_without_body, "A roll without any body"),
    UndeclaredBody: ("7-11", lambda rules: rules.undeclared_body, "A body without a Content-Type"),
    DataOfAnotherType: ("4.8-20", lambda rules: rules.other_data, "Data that is no object"),
    NullField: ("4.9-9", lambda rules: rules.null_fields, "Null in place of an optional field"),
}
REFUSED: Final = (OnInput.REFUSED, Acceptance.REFUSED)


@check(*(requirement for requirement, _, _ in ANSWERED_BY.values()))
def requests_on_which_the_document_is_silent_are_taken_or_refused(
    request: UnknownEndpointListed
    | RollWithoutBody
    | UndeclaredBody
    | DataOfAnotherType
    | NullField,
    context: CheckContext,
) -> Iterator[Judgement]:
    """Refused with whatever status, since the mistake can be named in several ways."""
    requirement, answer_in, what = ANSWERED_BY[type(request)]
    rules, tried = context.dialect.requests, request.tried
    if isinstance(request, RollWithoutBody) and rules.expire_endpoint_secret_requires:
        yield not_applicable(requirement, "the dialect requires fields of a roll")
        return
    ordinary = request.ordinary
    if isinstance(request, NullField) and (ordinary is None or not was_accepted(ordinary)):
        return
    answer = answer_in(rules)
    if tried is None or not answer.decided or not (refused(tried) or was_accepted(tried)):
        return
    if refused(tried) and ordinary is not None and not was_accepted(ordinary):
        return  # it may be refused for the rest of it
    yield judged(
        any((allowed in REFUSED) is refused(tried) for allowed in answer.allowed),
        requirement,
        f"{what} is not treated as the dialect says: {request.operation_id}",
        expected=" or ".join(answer.allowed),
        actual=tried.status,
        exchanges=[tried] if ordinary is None else [tried, ordinary],
    )
