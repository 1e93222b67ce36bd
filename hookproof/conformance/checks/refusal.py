"""Whether a request was refused as the dialect says (section 7)."""

from collections.abc import Iterator

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import refused, was_accepted, was_answered
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Dialect


def refusal_with(
    tried: Exchange, requirement: str, message: str, status: Answer[int]
) -> Iterator[Judgement]:
    """Whether a request was refused with a status of the dialect, or at all if undecided."""
    if status.decided:
        tells = was_answered(tried) or status.allows(tried.status)
    else:
        tells = refused(tried) or was_accepted(tried)
    if tells:
        yield judged(
            status.allows(tried.status) if status.decided else refused(tried),
            requirement,
            message,
            expected=" or ".join(map(str, status.allowed)) or "a refusal",
            actual=tried.status,
            exchanges=[tried],
        )


def is_refused_as_invalid(tried: Exchange, dialect: Dialect) -> bool:
    """Whether a request was refused with the dialect's status for an invalid value."""
    status = dialect.errors.status("invalid_value", tried.operation_id)
    return refused(tried) and status.allows(tried.status)
