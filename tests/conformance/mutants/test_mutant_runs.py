"""Tests of what a mutant run tells about the experiments in which something was exercised."""

from hookproof.conformance.mutants.mutant_run import MutantRunResult


def test_what_is_exercised_counts_in_the_experiments_where_it_was() -> None:
    clean = MutantRunResult(
        detections=(),
        exercised=frozenset({"1-1", "2.3-19", "3-7"}),
        problems=(),
        duration_s=1.0,
        exercised_in=(
            ("fan_out", frozenset({"1-1"})),
            ("round_trip", frozenset({"2.3-19"})),
            ("exhaustion", frozenset({"2.3-19", "3-7"})),
        ),
    )
    assert clean.exercised_by(["fan_out", "exhaustion"]) == {"1-1", "2.3-19", "3-7"}
    assert clean.exercised_by(["fan_out"]) == {"1-1"}
    assert clean.exercised_by([]) == frozenset()
