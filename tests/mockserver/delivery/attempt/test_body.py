"""The bytes of the body of a delivery (sections 2.3 and 4.8)."""

import json
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.mockserver.delivery.attempt.body import BodyError, encode_body
from hookproof.spec.dialect.vocabulary import FormEncoding

FORM = "application/x-www-form-urlencoded"
RAW = (
    b'{"b": 1.0, "a":1e5,"n":123456789012345678901234567890,'
    b' "u":"\\u00e9\xc3\xa9", "b2":[1.50, {"z" :1}]}'
)


@pytest.mark.parametrize(
    "content_type", ["application/json", "text/plain", "", "APPLICATION/JSON; charset=utf-8"]
)
def test_the_body_is_the_json_text_byte_for_byte(content_type: str) -> None:
    assert encode_body(RAW, content_type, FormEncoding.FORM) == RAW


@pytest.mark.parametrize("content_type", [FORM, f" {FORM.upper()} ; charset=utf-8"])
def test_a_form_holds_the_members_in_order_with_their_spelling(content_type: str) -> None:
    pairs = parse_qsl(
        encode_body(RAW, content_type, FormEncoding.FORM).decode(), keep_blank_values=True
    )
    assert pairs == [
        ("b", "1.0"),
        ("a", "1e5"),
        ("n", "123456789012345678901234567890"),
        ("u", "éé"),
        ("b2", '[1.50, {"z" :1}]'),
    ]


def test_null_is_an_empty_field_and_truth_is_its_word() -> None:
    assert encode_body(b'{"a":null,"b":true}', FORM, FormEncoding.FORM) == b"a=&b=true"


def test_a_dialect_may_send_json_instead_of_a_form() -> None:
    assert encode_body(RAW, FORM, FormEncoding.JSON) == RAW


@pytest.mark.parametrize("data", [b"[1]", b"1", b"null", b"{", b'"a"'])
def test_data_that_is_not_an_object_cannot_be_a_form(data: bytes) -> None:
    with pytest.raises(BodyError):
        encode_body(data, FORM, FormEncoding.FORM)


@given(
    st.dictionaries(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")))
)
def test_every_text_survives_a_form(members: dict[str, str]) -> None:
    body = encode_body(json.dumps(members).encode(), FORM, FormEncoding.FORM).decode()
    assert dict(parse_qsl(body, keep_blank_values=True)) == members
