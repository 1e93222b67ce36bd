import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.conformance.run.smaller_request import Parts, smaller_parts, smaller_values

KEY = ("Authorization", "Bearer key-one")
JSON = ("Content-Type", "application/json")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
)


def parts(body: Any = None, *, query: str = "", content: bytes | None = None) -> Parts:
    return Parts(
        query=tuple(query.split("&")) if query else (),
        headers=(KEY, JSON, ("X-More", "1")),
        content=content if body is None else json.dumps(body).encode(),
    )


def smallest(start: Parts, fails: Callable[[Parts], bool], *kept: str) -> Parts:
    """What is left when every cut is made that keeps the failure."""
    smaller: Parts | None = start
    while smaller is not None:
        start = smaller
        smaller = next((cut for cut in smaller_parts(start, kept) if fails(cut)), None)
    return start


def content_of(request: Parts) -> bytes:
    assert request.content is not None
    return request.content


def test_a_failure_that_needs_one_member_is_left_with_that_member() -> None:
    body = {
        "name": "half",
        "url": "https://a.invalid/x",
        "authentication": {"type": "api_key", "api_key": {"a": 1}},
    }
    smaller = smallest(parts(body), lambda request: b'"type"' in content_of(request))
    assert smaller.content == b'{"authentication":{"type":""}}'
    assert smaller.headers == (KEY, JSON)


def test_a_failure_by_length_is_left_with_hardly_more_than_the_length() -> None:
    def fails(request: Parts) -> bool:
        return len(json.loads(content_of(request)).get("name", "")) > 255

    smaller = smallest(parts({"name": "n" * 5000}), fails)
    assert 255 < len(json.loads(content_of(smaller))["name"]) < 345


def test_a_query_keeps_the_parameter_that_matters() -> None:
    smaller = smallest(
        parts(query="perPage=1234&sort=ASC&direction=next"),
        lambda request: "sort=" in "&".join(request.query),
    )
    assert smaller.query == ("sort=",)


def test_members_that_must_be_kept_are_kept() -> None:
    smaller = smallest(
        parts({"is_disabled": True, "name": "n", "x": 1}), lambda _: True, "is_disabled"
    )
    assert json.loads(content_of(smaller)) == {"is_disabled": True}


@pytest.mark.parametrize("place", ["https://receiver.invalid/token", "someone@mail.invalid"])
def test_a_text_that_names_a_place_is_left_out_or_stays_whole(place: str) -> None:
    assert list(smaller_values({"url": place})) == [{}]
    queries = {cut.query for cut in smaller_parts(parts(query=f"u={place}"))}
    assert queries == {(), (f"u={place}",)}


def test_credentials_and_escapes_stay_whole() -> None:
    cuts = list(smaller_parts(parts(query="next_page_cursor=%ff%00", content=b"")))
    assert {cut.query for cut in cuts} == {(), ("next_page_cursor=%ff%00",)}
    assert all(KEY in cut.headers for cut in cuts)


def test_bytes_that_are_not_json_become_fewer() -> None:
    start = parts(content=b'{"name":"\xff\xfe\xfa"}')
    smaller = smallest(start, lambda request: b"\xff" in content_of(request))
    assert smaller.content == b'{"name":"\xff'


@given(VALUES)
def test_every_cut_makes_a_value_smaller(value: Any) -> None:
    size = len(json.dumps(value))
    assert all(len(json.dumps(smaller)) < size for smaller in smaller_values(value))


def test_the_headers_of_the_target_file_stay() -> None:
    masked = ("X-Gateway", "$HOOKPROOF_HEADER_X_GATEWAY")
    parts = Parts(query=(), headers=(masked, ("X-Other", "o")), content=None)
    assert [smaller.headers for smaller in smaller_parts(parts)] == [(masked,)]
