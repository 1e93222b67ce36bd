"""Integers of any length are JSON, are compared to the digit, and break nothing."""

import pytest

from hookproof.conformance.checks.json_equality import (
    exact,
    needs_more_than_doubles,
    same,
    same_to_the_digit,
)

MANY = "9" * 4_000
MORE = "9" * 100_000


@pytest.mark.parametrize("digits", ["9" * 310, MANY, MORE])
@pytest.mark.parametrize("sign", ["", "-"])
def test_an_integer_beyond_all_doubles_equals_itself_and_no_other(digits: str, sign: str) -> None:
    value, again = (
        exact(f'{{"n": {sign}{digits}}}'.encode()),
        exact(f'{{"n":{sign}{digits}}}'.encode()),
    )
    other = exact(f'{{"n": {sign}{digits[:-1]}8}}'.encode())
    assert same(value, again)
    assert same_to_the_digit(value, again)
    assert not same_to_the_digit(value, other)
    assert same(value, other)  # for a reader of doubles both are infinite
    assert not same(value, exact(b'{"n": 1}'))
    assert needs_more_than_doubles(value)
