import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.conformance.model.evidence import NOT_JSON, Evidence, Exchange
from hookproof.conformance.results.records.evidence_records import evidence_json, evidence_of
from tests.conformance.canned_evidence import delivery, exchange, missing, seen


def rich_exchange() -> Exchange:
    return exchange(
        request={"name": "n\u00e4me"},
        data={"uid": "x"},
        response_headers=[("Content-Type", "application/json"), ("X-Latin", "\xe9")],
    )


def test_an_exchange_survives_json() -> None:
    for original in (
        rich_exchange(),
        exchange(problem="ConnectionResetError"),
        exchange(body=b"\xff\x00"),
    ):
        assert Exchange.from_json(json.loads(json.dumps(original.to_json()))) == original


@pytest.mark.parametrize(
    "original",
    [
        seen(rich_exchange(), deliveries=[delivery(body=b"\xff")], facts={"secrets": ["a"]}),
        missing("no luck"),
    ],
)
def test_an_observation_survives_json(original: Evidence) -> None:
    assert evidence_of(json.loads(json.dumps(evidence_json(original)))) == original


def test_an_exchange_without_a_member_is_refused() -> None:
    value = rich_exchange().to_json()
    del value["response_body_b64"]
    with pytest.raises(KeyError):
        Exchange.from_json(value)


def test_what_another_version_wrote_of_a_class_is_left_out() -> None:
    original = seen(rich_exchange(), facts={"secrets": ["a"]})
    written = evidence_json(original)
    written["facts"]["no_longer"] = [1]
    assert evidence_of(written) == original


def test_only_a_success_has_data() -> None:
    assert rich_exchange().data == {"uid": "x"}
    assert exchange(status=404, data={"uid": "x"}).data is None
    assert exchange(body=b"[1]").data is None
    assert exchange(body=b"not json").data is None


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 200_000, b'{"a": 1e999'])
def test_a_body_that_is_not_json_is_distinct_from_null(body: bytes) -> None:
    assert exchange(body=body).json is NOT_JSON
    assert exchange(body=b"null").json is None


def test_headers_are_found_in_any_case() -> None:
    assert rich_exchange().response_header("x-LATIN") == "\xe9"
    assert rich_exchange().response_header("absent") is None


def test_exchanges_are_found_by_their_role_in_order() -> None:
    first, second = exchange("fetch", status=200), exchange("fetch", status=404)
    observed = seen(exchange("create"), first, second)
    assert observed.exchange("fetch") is first
    assert observed.all_exchanges("fetch") == (first, second)
    assert seen().exchange("fetch") is None


def test_deliveries_are_found_by_their_token() -> None:
    here, there = delivery("here"), delivery("there")
    assert seen(deliveries=[there, here]).arrived_at("here") == (here,)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'"\\ud800"', "\ud800"),
        (b'{"a": 1e400}', {"a": math.inf}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'"\xed\xa0\x80"', "\ud800"),
    ],
)
def test_json_that_strict_parsers_refuse_is_read(body: bytes, value: object) -> None:
    assert exchange(body=body).json == value


@given(
    st.one_of(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        ).map(lambda value: json.dumps(value).encode()),
        st.text(alphabet='{}[]",:.-+eE0123456789 \n\t\\untfalsr').map(str.encode),
        st.binary(),
    )
)
def test_a_body_is_read_as_the_standard_library_reads_it(body: bytes) -> None:
    try:
        value = json.loads(body.decode("utf-8-sig", "surrogatepass"))
    except ValueError:
        assert exchange(body=body).json is NOT_JSON
    else:
        read = exchange(body=body).json
        # Text tells a float from an integer, and one NaN is like another there.
        assert repr(read) == repr(value)


@pytest.mark.parametrize("digits", [309, 4_000, 5_000, 100_000])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_integer_of_thousands_of_digits_is_read_as_one_that_can_be_counted_with(
    digits: int, sign: int
) -> None:
    """It remains an integer, and larger than all others; a body that has one is JSON."""
    body = b'{"rate_limit": %s%s, "n": [1, 2.5]}' % (b"-" if sign < 0 else b"", b"9" * digits)
    value = exchange(body=body).json
    assert value == {"rate_limit": sign * 10**308, "n": [1, 2.5]}
    assert isinstance(value["rate_limit"], int)
    float(value["rate_limit"])


def test_digits_that_are_no_integer_are_read_as_they_are() -> None:
    text, integer = "7" * 4_000, int("8" * 308)
    body = f'{{"text": "{text}", "integer": {integer}, "fraction": 0.{text}}}'.encode()
    value = exchange(body=body).json
    assert (value["text"], value["integer"]) == (text, integer)
    assert value["fraction"] == pytest.approx(7 / 9)
