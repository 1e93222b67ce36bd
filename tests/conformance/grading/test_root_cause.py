"""What the proof of a failure shows besides: a cause that several failures share."""

from dataclasses import replace

import pytest

from hookproof.conformance.grading.root_cause import root_cause
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import violated
from hookproof.spec.dialect.answer import Answer
from tests.conformance.canned_evidence import context, exchange, seen

AS_IF_THE_KEY_WERE_WRONG = (
    "createEndpoint is answered with 401, as if the key or the project were wrong"
)


def cause_of(*exchanges: Exchange, malformed_body: int | None = None) -> str:
    """The cause of a failure with these exchanges, under a dialect with that status."""
    check_context = context()
    if malformed_body is not None:
        dialect = check_context.dialect
        errors = replace(dialect.errors, malformed_body=Answer(allowed=(malformed_body,)))
        check_context = replace(check_context, dialect=replace(dialect, errors=errors))
    judgement = violated("1-1", "it does not", expected=1, actual=2, exchanges=exchanges)
    return root_cause(judgement, seen(*exchanges), check_context)


@pytest.mark.parametrize(
    ("last", "cause"),
    [
        (exchange(), ""),
        (exchange(status=400), ""),
        (exchange(status=503), "createEndpoint is answered with 503"),
        (exchange(problem="it was reset"), "createEndpoint is not answered"),
        (exchange(status=401), AS_IF_THE_KEY_WERE_WRONG),
        (exchange(status=401, key="none"), ""),
    ],
)
def test_the_last_exchange_shows_the_cause(last: Exchange, cause: str) -> None:
    assert cause_of(last) == cause
    assert cause_of(exchange(status=500), last) == cause


def test_a_status_that_the_dialect_uses_for_other_refusals_says_nothing_of_the_key() -> None:
    assert cause_of(exchange(status=401), malformed_body=401) == ""
