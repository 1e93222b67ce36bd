"""Whether a request was taken or refused: judged beside an ordinary one that was taken.

`learn` reads answers in the same way, so that what it learned accuses nobody of what it saw. The
ordinary request differs in nothing but what is asked about, and is sent when the others have
been: a service that refuses that one too (for want of a right, or since a quota is used up) says
nothing of what was asked.
"""

from enum import StrEnum

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import json_text
from hookproof.conformance.observations.answer import (
    has_value,
    refused,
    sent,
    shown,
    was_accepted,
    was_answered,
)
from hookproof.spec.dialect.answer import Answer


class Reading(StrEnum):
    """What became of a request; OTHERWISE is an answer that is neither of the others."""

    TAKEN = "taken"
    REFUSED = "refused"
    OTHERWISE = "otherwise"


def reading(
    tried: Exchange | None, ordinary: Exchange | None, status: Answer[int] | None = None
) -> Reading | None:
    """What became of a request, as far as it tells; with a `status`, a refusal has that one."""
    if tried is None or ordinary is None or not was_accepted(ordinary):
        return None
    if was_accepted(tried):
        return Reading.TAKEN
    if refused(tried) if status is None or not status.decided else status.allows(tried.status):
        return Reading.REFUSED
    return Reading.OTHERWISE if was_answered(tried) else None


def is_taken_over(tried: Exchange, field: str) -> bool:
    """Whether input comes back in the answer: what is ignored does not."""
    given = sent(tried).get(field)
    return given is not None and shown(tried).get(field) == given


def unlike_left_out(with_null: Exchange, without: Exchange, field: str) -> str:
    """How null in a field of a new endpoint differs from leaving it out; empty if it does not, or
    nothing shows it.

    Null means what leaving out the field means: a default is shown for both, or for neither. An
    update with null may clear what one without the field keeps, so only creations are compared.
    """
    answers = [shown(each) for each in (with_null, without)]
    if with_null.operation_id != "createEndpoint" or not all(answers):
        return ""
    null, left_out = (answer.get(field) for answer in answers)
    if has_value(null) == has_value(left_out):
        return ""
    return f"{field} {json_text(null)}, and {json_text(left_out)} where it is left out"
