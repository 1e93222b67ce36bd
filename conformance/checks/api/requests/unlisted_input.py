"""Section 2.9: words and fields that the service does not take are ignored or refused, as the
dialect says.
"""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import refused, sent, shown
from hookproof.conformance.observations.case import Case
from hookproof.spec.dialect.model import Answer, Dialect
from hookproof.spec.dialect.vocabulary import OnInput

WORDS: Final = {
    "unlisted word": "2.9-9",
    "field of the service": "2.9-10",
    "unknown field": "2.9-11",
}


@check(*WORDS.values(), experiments=("refusals",))
def input_that_is_not_listed_is_ignored_or_refused(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says. Ignored means accepted; a field of the service then keeps its own value."""
    tried, about = case.exchange("tried"), case.facts.get("about")
    if tried is None or about not in WORDS or tried.status is None:
        return
    answer, field = _on_input(about, context.dialect), case.facts["field"]
    if not answer.decided:
        return
    taken_over = about == "field of the service" and shown(tried).get(field) == sent(tried).get(
        field
    )
    refusal = refused(tried) and context.dialect.errors.invalid_value.allows(tried.status)
    outcomes = {OnInput.IGNORED: tried.succeeded and not taken_over, OnInput.REFUSED: refusal}
    yield judged(
        any(outcomes[one] for one in answer.allowed),
        WORDS[about],
        f"{case.facts['operation_id']} does not treat {field} as the dialect says: {about}",
        expected=" or ".join(answer.allowed),
        actual=f"{tried.status}{', taken over' if taken_over and tried.succeeded else ''}",
        exchanges=[tried],
    )


def _on_input(about: str, dialect: Dialect) -> Answer[OnInput]:
    return {
        "unlisted word": dialect.words.other_words,
        "field of the service": dialect.requests.service_assigned_input,
        "unknown field": dialect.requests.unknown_fields,
    }[about]
