import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.conformance.reports.texts.difference import marked, marked_in


def differing(expected: str, actual: str) -> tuple[list[str], list[str]]:
    one, other = marked(expected, actual)
    return [part.text for part in one if part.differs], [
        part.text for part in other if part.differs
    ]


@pytest.mark.parametrize(
    ("expected", "actual", "parts"),
    [
        ('{"a": 1, "b": "x y"}', '{"a": 1, "b": "x z"}', (["y"], ["z"])),
        ('["x"]', '["x", null]', ([], [", null"])),
        ("X-Id: 8683.0", "X-Id: 8683.1", (["0"], ["1"])),
        ("a string", "1", ([], [])),
        ("the same", "the same", ([], [])),
        ("", "", ([], [])),
    ],
)
def test_the_parts_that_differ_are_marked_where_lines_are_alike(
    expected: str, actual: str, parts: tuple[list[str], list[str]]
) -> None:
    assert differing(expected, actual) == parts


@given(st.text(), st.text())
def test_nothing_is_lost_or_added(expected: str, actual: str) -> None:
    one, other = marked(expected, actual)
    assert ("".join(part.text for part in one), "".join(part.text for part in other)) == (
        expected,
        actual,
    )


def test_texts_are_marked_where_they_stand() -> None:
    parts = marked_in("v1=ab, v1=abc", ["v1=abc"])
    assert [(part.text, part.differs) for part in parts] == [("v1=ab, ", False), ("v1=abc", True)]
    assert [part.differs for part in marked_in("v1=ab", [])] == [False]
