"""Where a body differs from the data, whatever its spaces and the order of its members."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.conformance.checks.body_difference import (
    first_difference,
    shown_alike,
    with_difference,
)
from hookproof.conformance.checks.json_equality import exact, same, same_to_the_digit
from hookproof.conformance.model.judgement import json_text, violated
from tests.conformance.canned_evidence import delivery

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("body", "data", "wrong"),
    [
        (b'{"a":1,"b":2}', {"a": 1, "b": 3}, b"2"),
        (b'{ "b" : 2, "a" : "x" }', {"a": "y", "b": 2}, b'"x"'),
        (b'{"a":[1,2,3]}', {"a": [1, 2]}, b","),
        (b'{"a":1,"c":2}', {"a": 1}, b","),
        (b'{"a":true}', {"a": 1}, b"true"),
        ('{"ü":"ü","n":0}'.encode(), {"ü": "ü", "n": 1}, b"0"),
        (b"a=1", {"a": 1}, b"a=1"),
        (b'{"a":1', {"a": 1}, b""),
    ],
)
def test_the_first_token_that_differs_is_found(body: bytes, data: Any, wrong: bytes) -> None:
    place = first_difference(body, data, same)
    assert place is not None
    assert body[place[0] : place[1]] == wrong


def test_digits_differ_only_where_they_are_compared() -> None:
    body, data = b'{"a":9007199254740992}', {"a": 9007199254740993}
    assert first_difference(body, data, same) is None
    assert first_difference(body, data, same_to_the_digit) == (5, 21)


@given(JSON, JSON)
def test_only_what_differs_is_said_to_differ(left: Any, right: Any) -> None:
    body = json_text(left).encode()
    assert (first_difference(body, right, same_to_the_digit) is None) is same_to_the_digit(
        exact(body), exact(json_text(right).encode())
    )


def test_values_are_shown_with_their_members_in_one_order() -> None:
    assert shown_alike(b'{"b":1,"a":2}', {"a": 3, "b": 1}) == (
        '{"b": 1, "a": 3}',
        '{"b": 1, "a": 2}',
    )


def test_a_body_that_is_nested_too_deeply_is_shown_as_it_came() -> None:
    body = b'{"a":' * 900 + b"1" + b"}" * 900
    assert shown_alike(body, {"a": 1}) == ('{"a": 1}', body.decode())
    failed = violated("6-3", "m", expected="", actual="", deliveries=[delivery(body=body)])
    assert with_difference(failed, body, exact(body), same) == failed
