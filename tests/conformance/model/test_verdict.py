from hookproof.conformance.model.judgement import holds, judged, not_applicable, shown, violated
from hookproof.conformance.model.verdict import Verdict
from tests.conformance.canned_evidence import case, delivery, exchange


def test_verdicts_are_ordered_so_that_the_worst_wins() -> None:
    assert max(Verdict.PASS, Verdict.NOT_APPLICABLE) is Verdict.PASS
    assert max(Verdict.PASS, Verdict.NOT_EXERCISED) is Verdict.NOT_EXERCISED
    assert max(Verdict.FAIL, Verdict.NOT_EXERCISED) is Verdict.FAIL
    assert max(Verdict.FAIL, Verdict.ERROR) is Verdict.ERROR


def test_a_judgement_that_fails_carries_the_whole_case_as_proof() -> None:
    evidence = case(exchange(), deliveries=[delivery()])
    found = judged(False, "1-1", "it broke", expected=1, actual="two\nlines", case=evidence)
    assert (found.verdict, found.expected, found.actual) == (Verdict.FAIL, "1", "two lines")
    assert (found.exchanges, found.deliveries) == (evidence.exchanges, evidence.deliveries)
    assert judged(True, "1-1", "it broke", expected=1, actual=1, case=evidence) == holds("1-1")


def test_a_violation_leaves_out_exchanges_that_never_happened() -> None:
    only = exchange()
    assert violated("1-1", "m", expected=1, actual=2, exchanges=[None, only]).exchanges == (only,)


def test_what_does_not_apply_says_why() -> None:
    assert not_applicable("1-1", "no portal").message == "no portal"


def test_long_values_are_cut() -> None:
    assert len(shown("x" * 1000)) == 300
    assert shown({"a": 1}) == "{'a': 1}"
