from decimal import Decimal

import pytest

from hookproof.conformance.model.judgement import (
    holds,
    judged,
    not_applicable,
    shown,
    shown_apart,
    violated,
)
from hookproof.conformance.model.verdict import Verdict
from tests.conformance.canned_evidence import delivery, exchange


def test_verdicts_are_ordered_so_that_the_worst_wins() -> None:
    assert max(Verdict.PASS, Verdict.NOT_APPLICABLE) is Verdict.PASS
    assert max(Verdict.PASS, Verdict.NOT_EXERCISED) is Verdict.NOT_EXERCISED
    assert max(Verdict.FAIL, Verdict.NOT_EXERCISED) is Verdict.FAIL
    assert max(Verdict.FAIL, Verdict.ERROR) is Verdict.ERROR


def test_a_judgement_carries_the_same_proof_whether_it_holds_or_not() -> None:
    proof = {"exchanges": (exchange(),), "deliveries": (delivery(),)}
    failed = judged(False, "1-1", "it broke", expected=1, actual="two\nlines", **proof)
    assert (failed.verdict, failed.expected, failed.actual) == (Verdict.FAIL, "1", "two lines")
    assert (failed.exchanges, failed.deliveries) == tuple(proof.values())
    assert judged(True, "1-1", "it broke", expected=1, actual=1, **proof) == holds("1-1", **proof)


def test_nothing_passes_or_fails_without_a_proof() -> None:
    with pytest.raises(ValueError, match="1-1 names no exchange or delivery"):
        holds("1-1")
    with pytest.raises(ValueError, match="1-1 names no exchange or delivery"):
        violated("1-1", "m", expected=1, actual=2, exchanges=[None])


def test_a_violation_leaves_out_exchanges_that_never_happened() -> None:
    sent = exchange()
    assert violated("1-1", "m", expected=1, actual=2, exchanges=[None, sent]).exchanges == (sent,)


def test_a_judgement_that_does_not_apply_says_why() -> None:
    assert not_applicable("1-1", "no portal").message == "no portal"


def test_long_values_are_truncated() -> None:
    assert len(shown("x" * 1000)) == 300
    assert shown({"a": 1}) == '{"a": 1}'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (["x"], '["x"]'),
        (("é", None), '["é", null]'),
        ({"b", "a"}, '["a", "b"]'),
        (Decimal("0.12345678901234567890"), "0.12345678901234567890"),
        ("a string", "a string"),
    ],
)
def test_values_are_shown_as_json_and_words_as_they_are(value: object, text: str) -> None:
    assert shown(value) == text


def test_a_value_without_end_ends_no_check() -> None:
    endless: list[object] = []
    endless.append(endless)
    assert shown(endless) == "a value that is nested too deeply to be shown"


@pytest.mark.parametrize(
    ("expected", "actual", "lines"),
    [
        ("one", "another", ("one", "another")),
        (201, "absent", ("201", "absent")),
        (
            " note",
            "note",
            (
                '" note" (different from character 1 on: " ")',
                '"note" (different from character 1 on: nothing is there)',
            ),
        ),
        (
            {"name": "caf\u00e9"},
            {"name": "cafe\u0301"},
            (
                '{"name": "caf\\u00e9"} (different from character 14 on: "\\u00e9")',
                '{"name": "cafe\\u0301"} (different from character 14 on: "e\\u0301")',
            ),
        ),
        (
            "x" * 100 + "one",
            "x" * 100 + "y" * 100,
            (
                '…"xxxxxxxxxxxxxxxxone" (different from character 101 on: "one")',
                (
                    f'…"xxxxxxxxxxxxxxxx{"y" * 44}"… (different from character 101 on: "{"y" * 24}"'
                    " and so on)"
                ),
            ),
        ),
        (
            '{"it": "it\'s \x1b' + "x" * 40 + '"}',
            '{"it": "it\'s \x1b' + "x" * 40 + 'y"}',
            (
                f'…{"x" * 16}"}} (different from character 55 on: nothing is there)',
                f'…{"x" * 16}y"}} (different from character 55 on: "y")',
            ),
        ),
    ],
)
def test_values_that_look_alike_are_shown_where_they_differ(
    expected: object, actual: object, lines: tuple[str, str]
) -> None:
    assert shown_apart(expected, actual) == lines
