"""Sections 4.1, 4.2, 4.6 and 4.8: a long text is shown whole or refused.

The document names no longest text, so that any refusal is right; what is accepted is shown as it
was sent.
"""

from collections.abc import Iterator
from typing import Any, Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, json_text, judged
from hookproof.conformance.observations.answer import sent, shown
from hookproof.conformance.observations.extremes import LongTextTried
from hookproof.spec.field_roles import shown_as_sent

# The requirements that the answer shows what was sent, and that a later fetch shows the same.
ECHOED: Final = {
    (operation_id, field): (shown_as_sent(operation_id)[field], fetched_as_shown)
    for operation_id, fetched_as_shown, fields in (
        ("createEndpoint", "4.2-5", ("name", "description", "owner_id")),
        ("updatePortalLink", "4.6-9", ("name", "owner_id")),
        ("createBroadcastEvent", "", ("event_type", "idempotency_key")),
    )
    for field in fields
}


@check(
    *dict.fromkeys(requirement for pair in ECHOED.values() for requirement in pair if requirement)
)
def a_long_text_is_shown_whole_or_refused(
    observed: LongTextTried, _context: CheckContext
) -> Iterator[Judgement]:
    """A refusal is not judged; an answer that shows no resource at all is judged elsewhere."""
    tried, fetched, field = observed.tried, observed.fetched, observed.field
    if tried is None or not shown(tried):
        return
    in_answer, in_fetch = ECHOED[observed.operation_id or "", field]
    text = sent(tried).get(field)
    yield judged(
        shown(tried).get(field) == text,
        in_answer,
        f"{observed.operation_id} accepts a long {field} and shows another",
        expected=_described(text),
        actual=_described(shown(tried).get(field)),
        exchanges=[tried],
    )
    if fetched is not None and shown(fetched) and in_fetch:
        yield judged(
            shown(fetched).get(field) == shown(tried).get(field),
            in_fetch,
            f"A long {field} is fetched otherwise than {observed.operation_id} showed it",
            expected=_described(shown(tried).get(field)),
            actual=_described(shown(fetched).get(field)),
            exchanges=[tried, fetched],
        )


def _described(value: Any) -> str:
    if isinstance(value, str):
        return f"{len(value)} characters that end in {json_text(value[-16:])}"
    return json_text(value)
