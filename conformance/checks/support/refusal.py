"""Whether a request was refused as the dialect says."""

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import refused
from hookproof.spec.dialect.answer import Answer


def refusal_with(tried: Exchange, requirement: str, message: str, status: Answer[int]) -> Judgement:
    """Whether a request was refused with a status of the dialect, or at all if undecided."""
    return judged(
        status.allows(tried.status) and (status.decided or refused(tried)),
        requirement,
        message,
        expected=" or ".join(map(str, status.allowed)) or "a refusal",
        actual=tried.status,
        exchanges=[tried],
    )
