"""Section 2.9: input that the service does not list is ignored or refused, as the dialect says."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.checks.support.refusal import is_refused_as_invalid
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import sent, shown, was_accepted, was_answered
from hookproof.conformance.observations.requests.mistakes import Unlisted, UnlistedInput
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import OnInput

UNLISTED: Final = {
    Unlisted.WORD: "2.9-9",
    Unlisted.SERVICE_FIELD: "2.9-10",
    Unlisted.FIELD: "2.9-11",
}


@check(*UNLISTED.values())
def input_that_is_not_listed_is_ignored_or_refused(
    request: UnlistedInput, context: CheckContext
) -> Iterator[Judgement]:
    """Ignored means accepted; a field of the service then keeps its own value."""
    tried, field = request.tried, request.field
    answer = _on_input(request, context.dialect)
    if tried is None or not was_answered(tried) or not answer.decided:
        return
    if request.kind is Unlisted.SERVICE_FIELD:
        context.require_same_rules(
            "requests with fields that only the service sets",
            lambda dialect: dialect.requests.service_assigned,
        )
    taken_over = (
        request.kind is Unlisted.SERVICE_FIELD
        and tried.succeeded
        and shown(tried).get(field) == sent(tried).get(field)
    )
    outcomes = {
        OnInput.IGNORED: was_accepted(tried) and not taken_over,
        OnInput.REFUSED: is_refused_as_invalid(tried, context.dialect),
    }
    yield judged(
        any(outcomes[allowed] for allowed in answer.allowed),
        UNLISTED[request.kind],
        f"{request.operation_id} does not treat {field} as the dialect says: {request.kind}",
        expected=" or ".join(answer.allowed),
        actual=f"{tried.status}{', taken over' if taken_over else ''}",
        exchanges=[tried],
    )


def _on_input(request: UnlistedInput, dialect: Dialect) -> Answer[OnInput]:
    return {
        Unlisted.WORD: dialect.words.other_words_in(request.field.rpartition(".")[2]),
        Unlisted.SERVICE_FIELD: dialect.requests.service_assigned_input,
        Unlisted.FIELD: dialect.requests.unknown_fields,
    }[request.kind]
