import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.conformance.run.smaller_request import Parts, smaller_parts, smaller_values

KEY = ("Authorization", "Bearer key-one")
JSON = ("Content-Type", "application/json")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda one: st.lists(one) | st.dictionaries(st.text(), one),
)


def parts(body: Any = None, *, query: str = "", content: bytes | None = None) -> Parts:
    sent = content if body is None else json.dumps(body).encode()
    return Parts(
        query=tuple(query.split("&")) if query else (),
        headers=(KEY, JSON, ("X-More", "1")),
        content=sent,
    )


def smallest(start: Parts, fails: Any, *kept: str) -> Parts:
    """What is left when every cut is made that keeps the failure."""
    while True:
        for one in smaller_parts(start, kept):
            if fails(one):
                start = one
                break
        else:
            return start


def test_a_failure_that_needs_one_member_is_left_with_that_member() -> None:
    body = {
        "name": "half",
        "url": "https://a.invalid/x",
        "authentication": {"type": "api_key", "api_key": {"a": 1}},
    }
    found = smallest(parts(body), lambda one: b'"type"' in one.content)
    assert found.content == b'{"authentication":{"type":""}}'
    assert found.headers == (KEY, JSON)


def test_a_failure_by_length_is_left_with_hardly_more_than_the_length() -> None:
    found = smallest(
        parts({"name": "n" * 5000}), lambda one: len(json.loads(one.content).get("name", "")) > 255
    )
    assert 255 < len(json.loads(found.content or b"")["name"]) < 345


def test_a_query_keeps_the_parameter_that_matters() -> None:
    found = smallest(
        parts(query="perPage=1234&sort=ASC&direction=next"),
        lambda one: "sort=" in "&".join(one.query),
    )
    assert found.query == ("sort=",)


def test_members_that_must_stay_do() -> None:
    found = smallest(
        parts({"is_disabled": True, "name": "n", "x": 1}), lambda _: True, "is_disabled"
    )
    assert json.loads(found.content or b"") == {"is_disabled": True}


@pytest.mark.parametrize("place", ["https://receiver.invalid/token", "someone@mail.invalid"])
def test_a_text_that_names_a_place_is_left_out_or_stays_whole(place: str) -> None:
    assert list(smaller_values({"url": place})) == [{}]
    assert all(
        piece.query in ((), ("u=" + place,)) for piece in smaller_parts(parts(query=f"u={place}"))
    )


def test_credentials_and_escapes_stay_whole() -> None:
    for one in smaller_parts(parts(query="next_page_cursor=%ff%00", content=b"")):
        assert KEY in one.headers
        assert one.query in ((), ("next_page_cursor=%ff%00",))


def test_bytes_that_are_no_json_become_fewer() -> None:
    assert (
        smallest(
            parts(content=b'{"name":"\xff\xfe\xfa"}'), lambda one: b"\xff" in one.content
        ).content
        == b'{"name":"\xff'
    )


@given(VALUES)
def test_every_cut_makes_a_value_smaller(value: Any) -> None:
    size = len(json.dumps(value))
    assert all(len(json.dumps(one)) < size for one in smaller_values(value))
