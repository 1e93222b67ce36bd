"""A dialect that allows several answers: what one of them explains is no violation."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.model.verdict import Verdict
from tests.conformance.canned_evidence import CannedObservation, context, exchange, seen
from tests.conformance.grading.canned_checks import bound, entry
from tests.spec.dialect_variants import variant


def uses_the_first(evidence: CannedObservation, rules: CheckContext) -> Iterator[Judgement]:
    """A duplicate and a retry are both as the first of several answers says."""
    for seen_one in evidence.exchanges:
        wanted = (rules.dialect.success.created.value, rules.dialect.success.ok.value)
        yield judged(
            (seen_one.status, seen_one.duration_s) == wanted,
            "1-1",
            "It is otherwise",
            expected=wanted,
            actual=seen_one.status,
            exchanges=[seen_one],
        )


def under(created: object, ok: object) -> CheckContext:
    dialect = variant({"success.created": created, "success.ok": ok})
    return replace(context(), dialect=dialect)


def observed(status: int, duration: float) -> CannedObservation:
    return seen(exchange(status=status, duration_s=duration))


@pytest.mark.parametrize(
    ("created", "ok", "verdict"),
    [
        (201, 200, Verdict.PASS),
        (202, 200, Verdict.FAIL),
        ({"one_of": [202, 201]}, 200, Verdict.PASS),
        ({"one_of": [202, 201]}, 204, Verdict.FAIL),
        ({"one_of": [202, 201]}, {"one_of": [204, 203, 200]}, Verdict.PASS),
        ({"one_of": [202, 203]}, {"one_of": [204, 203, 200]}, Verdict.FAIL),
    ],
)
def test_what_one_of_several_answers_explains_passes(
    created: object, ok: object, verdict: Verdict
) -> None:
    judged_entry = entry(
        bound(uses_the_first),
        observations=(observed(201, 200),),
        check_context=under(created, ok),
    )
    assert judged_entry.verdict is verdict


def test_what_was_judged_before_a_check_broke_counts() -> None:
    def breaks_later(evidence: CannedObservation, rules: CheckContext) -> Iterator[Judgement]:
        yield from uses_the_first(evidence, rules)
        raise KeyError("data")

    judged_entry = entry(
        bound(breaks_later),
        observations=(observed(201, 200),),
        check_context=under({"one_of": [202, 201]}, 200),
    )
    assert judged_entry.verdict is Verdict.ERROR
    assert judged_entry.exercised
