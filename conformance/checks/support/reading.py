"""Whether a request was taken or refused: judged beside an ordinary one that was taken.

The ordinary request differs in nothing but what is asked about, and is sent when the others have
been: a service that refuses that one too (for want of a right, or since a quota is used up) says
nothing of what was asked.
"""

from enum import StrEnum

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import refused, was_accepted, was_answered
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
