import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.conformance.reports.texts.printable_text import DEEPEST, body_shown, laid_out

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def test_each_member_has_a_line_and_nothing_but_spaces_changes() -> None:
    text = '{"a" :[],"b":{"c":[2.50,{}], "d":"x{\\"y, z"}, "e":1e5,"e":null}'
    assert laid_out(text).splitlines() == [
        "{",
        '  "a": [],',
        '  "b": {',
        '    "c": [',
        "      2.50,",
        "      {}",
        "    ],",
        '    "d": "x{\\"y, z"',
        "  },",
        '  "e": 1e5,',
        '  "e": null',
        "}",
    ]


@given(VALUES)
def test_a_body_that_is_laid_out_holds_the_same(value: object) -> None:
    assert json.loads(laid_out(json.dumps(value))) == value


@pytest.mark.parametrize(
    "text",
    ["", "[]", " 1", '"{}"', '{"a":', "<html>", "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1)],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert laid_out(text) == text


def test_a_report_says_where_the_bytes_are() -> None:
    assert body_shown(b'{"a":1}') == ('{\n  "a": 1\n}\n[laid out; run.jsonl has it as it was sent]')
