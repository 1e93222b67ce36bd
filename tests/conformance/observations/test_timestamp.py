"""Times that are the same, though a service shows them with other digits or in another zone."""

import pytest

from hookproof.conformance.observations.timestamp import is_before, name_one_moment
from hookproof.spec.dialect.vocabulary import TimestampForm

FORMS = tuple(TimestampForm)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2024-05-06T07:08:09.123456Z", "2024-05-06T07:08:09.123Z"),
        ("2024-05-06T07:08:09.123456Z", "2024-05-06T07:08:09Z"),
        ("2024-05-06T07:08:09.1236Z", "2024-05-06T07:08:09.124Z"),
        ("2024-05-06T07:08:09.123450Z", "2024-05-06T07:08:09.12345Z"),
        ("2024-05-06T07:08:09Z", "2024-05-06T09:08:09+02:00"),
        ("2024-05-06T07:08:09Z", "2024-05-06t07:08:09z"),
        ("soon", "soon"),
    ],
    ids=["milliseconds", "seconds", "rounded", "zeros", "zone", "small letters", "no time"],
)
def test_one_moment_may_be_cut_and_spelled_otherwise(one: str, other: str) -> None:
    assert name_one_moment(one, other, FORMS)
    assert not is_before(one, other, FORMS)
    assert not is_before(other, one, FORMS)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("2024-05-06T07:08:09.123456Z", "2024-05-06T07:08:09.123457Z"),
        ("2024-05-06T07:08:09.123Z", "2024-05-06T07:08:09.124500Z"),
        ("2024-05-06T07:08:09Z", "2024-05-06T07:08:10.000001Z"),
        ("1715000000000", "1715000000001"),
    ],
    ids=["as many digits", "milliseconds", "seconds", "Unix milliseconds"],
)
def test_two_moments_are_told_apart(earlier: str, later: str) -> None:
    assert not name_one_moment(earlier, later, FORMS)
    assert is_before(earlier, later, FORMS)
    assert not is_before(later, earlier, FORMS)


def test_what_is_no_time_is_no_moment() -> None:
    assert not name_one_moment("soon", "later", FORMS)
    assert not is_before("soon", "2024-05-06T07:08:09Z", FORMS)
