"""Reading bodies: repeated names are always noticed, and an opaque member is kept verbatim."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, strategies

from hookproof.mockserver.api.serialization.request_body import (
    MalformedBody,
    decode_json,
    decode_json_around,
)

keys = strategies.text(alphabet='ab:"\\\u003a{ä', max_size=3)


class Pairs(list[tuple[str, Any]]):
    """The members of an object; names may repeat."""


def pairs(inner: strategies.SearchStrategy[Any]) -> strategies.SearchStrategy[Any]:
    return strategies.lists(strategies.tuples(keys, inner), max_size=4).map(Pairs)


values = strategies.recursive(
    strategies.none()
    | strategies.booleans()
    | strategies.integers(-9, 9)
    | strategies.text(alphabet='a:"\\,{}', max_size=5),
    lambda inner: strategies.lists(inner, max_size=3) | pairs(inner),
    max_leaves=12,
)


def write_json(value: Any, *, escaped: bool) -> str:
    if isinstance(value, Pairs):
        return (
            "{"
            + ", ".join(
                f"{write_json(k, escaped=escaped)}: {write_json(v, escaped=escaped)}"
                for k, v in value
            )
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(write_json(part, escaped=escaped) for part in value) + "]"
    text = json.dumps(value)
    return text.replace(":", "\\u003a") if escaped and isinstance(value, str) else text


def repeats_a_name(value: Any) -> bool:
    if isinstance(value, Pairs):
        names = [name for name, _ in value]
        return len(set(names)) < len(names) or any(repeats_a_name(part) for _, part in value)
    return isinstance(value, list) and any(repeats_a_name(part) for part in value)


@given(value=pairs(values), escaped=strategies.booleans())
def test_exactly_the_bodies_that_repeat_a_name_are_refused(value: Any, escaped: bool) -> None:
    text = write_json(value, escaped=escaped).encode()
    if repeats_a_name(value):
        with pytest.raises(MalformedBody):
            decode_json(text)
    else:
        assert decode_json(text) == json.loads(text)


@given(value=pairs(values), data=pairs(values), escaped=strategies.booleans())
def test_an_opaque_member_is_kept_and_the_rest_is_read_strictly(
    value: Any, data: Any, escaped: bool
) -> None:
    kept = write_json(data, escaped=escaped)
    rest = write_json(value, escaped=escaped)[1:]
    text = ('{"data": ' + kept + (", " if rest != "}" else "") + rest).encode()
    if repeats_a_name(value):
        with pytest.raises(MalformedBody):
            decode_json_around(text, "data")
    else:
        assert decode_json_around(text, "data") == (
            {**json.loads("{" + rest), "data": {}},
            kept.encode(),
        )


@given(content=strategies.binary(max_size=40))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    for read in (decode_json, lambda body: decode_json_around(body, "data")):
        with contextlib.suppress(MalformedBody):
            read(content)


def test_a_repetition_is_noticed_among_very_many_members_without_delay() -> None:
    many = ", ".join(f'"m{number}": 0' for number in range(100_000))
    with pytest.raises(MalformedBody, match="m7"):
        decode_json(f'{{{many}, "m7": 1}}'.encode())
