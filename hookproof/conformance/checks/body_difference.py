"""Where the body of a delivery first differs from the data of its event, as JSON and in bytes."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Final
from urllib.parse import parse_qsl

from hookproof.conformance.checks.json_equality import exact
from hookproof.conformance.model.evidence import NOT_JSON
from hookproof.conformance.model.judgement import Judgement, Marks, json_text
from hookproof.conformance.model.verdict import Verdict

# Texts, signs, and whatever else stands between spaces: numbers and names.
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,"]|[^\s{}\[\]:,"]+', re.DOTALL)
_FORM_MEMBER: Final = re.compile(rb"[^&]+")

Equal = Callable[[Any, Any], bool]


def first_difference(body: bytes, data: Any, equal: Equal) -> tuple[int, int] | None:
    """The first token of a body that is not in its place in this data: where it begins and ends.

    Both are where the body ends if it ends too early. Spaces, the spelling of texts and the order
    of members are no difference; `equal` compares texts and numbers.
    """
    wanted = _TOKEN.findall(json_text(in_order_of(exact(body), data)).encode("utf-8", "replace"))
    for token, right in zip_longest(_TOKEN.finditer(body), wanted):
        if token is None:
            return len(body), len(body)
        if right is None or not (token[0] == right or equal(exact(token[0]), exact(right))):
            return token.span()
    return None


def first_form_difference(body: bytes, data: Any) -> tuple[int, int] | None:
    """The first member of a form that this data does not have, as `first_difference` tells it."""
    left = list(data.items()) if isinstance(data, dict) else []
    for member in _FORM_MEMBER.finditer(body):
        pairs = parse_qsl(member[0].decode("latin-1"), keep_blank_values=True)
        if not pairs or pairs[0] not in left:
            return member.span()
        left.remove(pairs[0])
    return (len(body), len(body)) if left else None


def in_order_of(other: Any, value: Any) -> Any:
    """A JSON value with its members in the order that another value has them in."""
    if isinstance(value, dict) and isinstance(other, dict):
        names = [*(name for name in other if name in value), *(n for n in value if n not in other)]
        return {name: in_order_of(other.get(name), value[name]) for name in names}
    if isinstance(value, list) and isinstance(other, list):
        pairs = zip_longest(other[: len(value)], value)
        return [in_order_of(counterpart, item) for counterpart, item in pairs]
    return value


def shown_alike(body: bytes, data: Any) -> tuple[str, str]:
    """The data and a body as texts that differ only where the values do.

    What is no JSON, or is nested too deeply, is shown as it came.
    """
    value = exact(body)
    with suppress(RecursionError):
        if value is not NOT_JSON:
            return json_text(in_order_of(value, data)), json_text(value)
    return json_text(data), body.decode(errors="backslashreplace")


def with_difference(
    judgement: Judgement, body: bytes, data: Any, equal: Equal, *, is_form: bool = False
) -> Judgement:
    """A failure that says from which byte on the body differs, and marks it."""
    if judgement.verdict is not Verdict.FAIL or data is NOT_JSON:
        return judgement
    place = None
    with suppress(RecursionError):
        place = (
            first_form_difference(body, data) if is_form else first_difference(body, data, equal)
        )
    if place is None:
        return judgement
    first, end = place
    where = f"byte {first + 1} of the body" if first < end else f"the end of the body, byte {end}"
    return replace(
        judgement, actual=f"{judgement.actual}; from {where} on", marks=Marks(body=place)
    )
