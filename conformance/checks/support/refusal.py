"""Whether a request was refused as the dialect says (section 7)."""

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import refused
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Dialect


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


def is_refused_as_invalid(tried: Exchange, dialect: Dialect) -> bool:
    """Whether a request was refused with the dialect's status for an invalid value."""
    return refused(tried) and dialect.errors.invalid_value.allows(tried.status)
