"""Whether a request that is to succeed did (sections 2.1 and 7)."""

from collections.abc import Iterator

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import was_answered, was_successful


def success_of(
    tried: Exchange, requirement: str, message: str, *beside: Exchange
) -> Iterator[Judgement]:
    """Whether a request succeeded; nothing where its answer does not tell. Those `beside` it are
    shown with it.

    A 2xx without an object as data is no proof, and no failure either: section 2.1 judges it.
    """
    if was_successful(tried) or (was_answered(tried) and not tried.succeeded):
        yield judged(
            was_successful(tried),
            requirement,
            message,
            expected="a 2xx",
            actual=tried.status,
            exchanges=[tried, *beside],
        )
