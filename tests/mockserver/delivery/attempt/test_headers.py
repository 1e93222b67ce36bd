"""Which headers a delivery carries and which a sender may add, and its body (section 4.8)."""

import json
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.mockserver.delivery.attempt.body import BodyError, encode_body
from hookproof.mockserver.delivery.attempt.headers import (
    allowed_custom_headers,
    carried,
    custom_header_problems,
    header_problems,
    header_text,
    reserved_header_names,
)
from hookproof.spec.dialect.reader import load_dialect, shipped_dialects
from hookproof.spec.dialect.vocabulary import FormEncoding, HeaderText
from tests.spec.dialect_variants import UNDECIDED, variant


@pytest.mark.parametrize("name", shipped_dialects())
def test_the_service_s_own_headers_are_reserved(name: str) -> None:
    answers = load_dialect(name)
    reserved = reserved_header_names(answers)
    signatures, delivery = answers.signatures, answers.delivery
    own = {signatures.simple.header, signatures.advanced.header, delivery.event_id_header}
    own |= {header for header in (delivery.attempt_header, delivery.event_type_header) if header}
    own |= {
        scheme.timestamp_header
        for scheme in (signatures.simple, signatures.advanced)
        if scheme.timestamp_header
    }
    assert {header.lower() for header in own if header is not None} <= reserved


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Host",
            "Content-Length",
            "Content-Type",
            "Authorization",
            "Connection",
            "Keep-Alive",
            "Transfer-Encoding",
        ),
        *("TE", "Trailer", "Upgrade", "Proxy-Authorization", "Proxy-Connection", "Expect"),
    ],
)
def test_what_frames_or_authorises_a_request_is_reserved(name: str) -> None:
    assert name.lower() in reserved_header_names(load_dialect("reference"))


def test_a_reserved_header_is_left_out_in_any_case_and_the_others_stay() -> None:
    custom = {"hOsT": "elsewhere", "X-Mine": "1", "AUTHORIZATION": "x"}
    assert allowed_custom_headers(custom, reserved_header_names(load_dialect("reference"))) == (
        ("X-Mine", "1"),
    )


@pytest.mark.parametrize("value", ["a\rb", "a\nb", "a\0b", "a\x7fb", "中", "\ud800"])
def test_a_value_that_no_header_can_carry_is_a_problem(value: str) -> None:
    assert len(header_problems({"X-Mine": value})) == 1


@pytest.mark.parametrize("name", ["", "a b", "a:b", "a\r\nb", "Größe", "名", "a\0", "(a)"])
def test_a_name_that_is_not_a_token_is_a_problem(name: str) -> None:
    assert len(header_problems({name: "1"})) == 1


@pytest.mark.parametrize("value", [1, None, True, [], {}])
def test_a_value_that_is_not_a_string_is_a_problem(value: object) -> None:
    assert len(header_problems({"X-Mine": value})) == 1


def test_every_problem_is_reported() -> None:
    assert len(header_problems({"a b": "1\n", "c": 1, "d": "fine"})) == 3


def test_sendable_headers_have_no_problem() -> None:
    assert header_problems({"X-Mine": "größe \t 1", "x_~!#$%&'*+.^`|": ""}) == ()


@pytest.mark.parametrize(
    ("value", "accepting"),
    [
        ("plain \t ~", ["ascii", "latin_1", "any"]),
        ("größe", ["latin_1", "any"]),
        ("配送", ["any"]),
        ("a\r\nb", []),
    ],
)
def test_custom_headers_are_the_texts_of_the_dialect(value: str, accepting: list[str]) -> None:
    accepted = [text for text in HeaderText if not custom_header_problems({"X-Mine": value}, text)]
    assert accepted == accepting


def test_a_custom_header_is_carried_as_utf_8_where_any_text_goes() -> None:
    assert carried("größe", HeaderText.LATIN_1) == "größe"
    assert carried("配送", HeaderText.ANY).encode("latin-1").decode() == "配送"


def test_an_undecided_dialect_accepts_what_one_byte_each_can_carry() -> None:
    assert header_text(variant({"requests.header_text": UNDECIDED})) is HeaderText.LATIN_1


def test_a_header_that_the_dialect_reserves_is_left_out_of_the_custom_ones() -> None:
    dialect = load_dialect("contrary")
    further = dialect.delivery.further_reserved_headers
    assert further
    custom = {further[0].upper(): "mine", "X-Other": "yours"}
    assert allowed_custom_headers(custom, reserved_header_names(dialect)) == (("X-Other", "yours"),)


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
