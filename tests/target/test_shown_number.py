"""A number that a target shows ends no run, however many digits it has."""

import pytest

from hookproof.conformance.observations.deliveries import timeout_in
from hookproof.target.shown_number import shown_number


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3.0),
        (2.5, 2.5),
        (10**4000, None),
        (-(10**4000), None),
        (float("inf"), None),
        (float("nan"), None),
        (True, None),
        ("3", None),
        (None, None),
    ],
)
def test_a_number_is_one_to_count_with_or_none(value: object, expected: float | None) -> None:
    assert shown_number(value) == expected


def test_a_time_out_that_nothing_can_wait_for_is_none() -> None:
    assert timeout_in({"http_timeout": 10**4000}) is None
    assert timeout_in({"http_timeout": 5}) == 5.0
