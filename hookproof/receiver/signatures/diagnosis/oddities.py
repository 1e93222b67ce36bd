"""What is visibly wrong with a delivery, whoever signed it and with whatever secret."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from math import factorial
from typing import Any, Final

from hookproof.receiver.signatures.bytes_as_text import loose_base64
from hookproof.receiver.signatures.diagnosis.javascript import is_rounded
from hookproof.receiver.signatures.signed_message import WHOLE_NUMBER, Headers

# Of a larger body only the length is looked at, in bytes.
LARGEST_READ: Final = 1024 * 1024
# Keys of an object beyond these make no more orders.
FEWEST_KEYS: Final = 4
# So many orders, of which one is sorted, show that it is no chance; fewer if the body is changed.
FEWEST_ORDERS: Final = 24
FEWEST_ORDERS_CHANGED: Final = 6
MOST_OBJECTS: Final = 1000
# How many objects and lists within each other are looked into.
DEEPEST: Final = 32
REPLACEMENT: Final = "\ufffd"
NUMBER: Final = re.compile(r"[-:,\[\s]([0-9]{16,20})(?=[,\]}\s])")
# One that begins no query of a URL.
QUESTION_MARK: Final = re.compile(r"\?(?![\w.-]+=)")
SIGNATURE_NAME: Final = re.compile("sign|hmac", re.IGNORECASE)
SIGNATURE_TEXT: Final = re.compile(r"[0-9A-Za-z+/_-]{27,700}={0,2}")
# A JSON Web Signature, whose payload may be left out (RFC 7515, appendix F).
TOKEN: Final = re.compile(r"(eyJ[\w-]{10,2000})\.[\w-]{0,20000}\.[\w-]{20,2000}")
COMPRESSED: Final = frozenset({"gzip", "deflate", "br", "zstd"})
COMPRESSED_STARTS: Final = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x78")
JSON_TYPE: Final = re.compile(r"^application/(json|[\w.-]+\+json)\b", re.IGNORECASE)
TYPOGRAPHIC: Final = re.compile("[\u201c\u201d\u201e]")


def oddities_of(headers: Headers, body: bytes) -> Iterator[str]:
    """Each as a phrase."""
    length = content_length(headers)
    if length is not None and length != len(body):
        yield from _odd_length(length, body)
    if len(body) > LARGEST_READ:
        return
    is_changed = length not in {None, len(body)}
    yield from filter(None, (lost_compression(headers, body), sign_of_change(headers, body)))
    yield from _tokens(headers)
    text = body.decode(errors="replace")
    yield from _odd_characters(text, length is not None and length > len(body))
    value = _json(text)
    yield from (
        f"the body has a member {path!r} that looks like a signature: "
        "this sender may sign there, and not in a header"
        for path in _signatures_within(value)
    )
    if _starts_with_integer_keys(value):
        yield (
            "keys that look like whole numbers come first, in their order, "
            "as JavaScript puts them when it has parsed the body"
        )
    rounded = next(filter(is_rounded, NUMBER.findall(text)), None)
    if rounded is not None:
        yield f"the number {rounded} is beyond 2^53, and may have been rounded by JavaScript"
    if _has_sorted_keys(value, FEWEST_ORDERS_CHANGED if is_changed else FEWEST_ORDERS):
        yield "its keys are sorted: software that sorts them may have written it again"


def lost_compression(headers: Headers, body: bytes) -> str | None:
    """That a body which came compressed is not so here, as a phrase; None if it is not so."""
    coding = _value_of(headers, "content-encoding").lower()
    if coding not in COMPRESSED or not body or body.startswith(COMPRESSED_STARTS):
        return None
    if coding == "br" and not _is_text(body):  # which has no sign of its own
        return None
    return (
        f"Content-Encoding says {coding} and the body is not compressed: if the compressed bytes "
        "were signed, whatever inflated them has lost them"
    )


def sign_of_change(headers: Headers, body: bytes) -> str | None:
    """What shows that JSON is not as it was sent, besides its length, as a phrase."""
    is_text = len(body) <= LARGEST_READ and _is_text(body)
    is_typed = JSON_TYPE.search(_value_of(headers, "content-type")) is not None
    has_other_length = content_length(headers) not in {None, len(body)}  # which shows it better
    text = body.decode().removeprefix("\ufeff") if is_text else ""
    if not is_typed or has_other_length or text[:1] not in {"{", "["} or _json(text) is not None:
        return None
    if TYPOGRAPHIC.search(text):
        return (
            "typographic quotation marks stand where JSON has plain ones: "
            "a chat or a word processor puts them there"
        )
    if text.rstrip()[-1:] not in {"}", "]"}:
        return f"the body ends in the middle of its JSON: it was cut off after {len(body)} bytes"
    return None


def _value_of(headers: Headers, wanted: str) -> str:
    """The value of the first header of this name; empty without one."""
    return next((value for name, value in headers if name.lower() == wanted), "").strip()


def _is_text(body: bytes) -> bool:
    try:
        return "\x00" not in body.decode()
    except ValueError:
        return False


def _tokens(headers: Headers) -> Iterator[str]:
    """Headers that hold a JSON Web Token or Signature."""
    for name, value in headers:
        match = TOKEN.fullmatch(value.strip())
        if match is None:
            continue
        try:
            algorithm = json.loads(loose_base64(match[1])).get("alg")
        except (ValueError, AttributeError, RecursionError):
            continue
        yield (
            f"the header {name[:60]} holds a JSON Web Token ({str(algorithm)[:10]}): a library for "
            "such tokens verifies it, and it is not known here"
        )


def content_length(headers: Headers) -> int | None:
    """What the header Content-Length says; None if there is not exactly one."""
    lengths = [value.strip() for name, value in headers if name.lower() == "content-length"]
    return int(lengths[0]) if len(lengths) == 1 and WHOLE_NUMBER.fullmatch(lengths[0]) else None


def _odd_length(length: int, body: bytes) -> Iterator[str]:
    """A body that was changed in transit may differ in length from its Content-Length."""
    yield (
        f"the body has {len(body)} bytes and its Content-Length says {length}: "
        "it was changed on its way"
    )
    if not body:
        yield "the body is empty: something read it before, such as a body parser"
    elif len(body) < length and _json(body.decode(errors="replace")) is None:
        if body[:1] in {b"{", b"["}:
            yield f"it was cut off after {len(body)} bytes"
        elif b"=" not in body:
            yield "it is no JSON: it may be one member of the body that was sent"
    elif len(body) < length:
        yield "it was written again, or it is one member of the body that was sent"


def _odd_characters(text: str, is_shorter: bool) -> Iterator[str]:
    if REPLACEMENT in text:
        yield (
            f"U+FFFD stands at character {text.index(REPLACEMENT) + 1}: bytes that were no UTF-8 "
            "were replaced, and the original is lost"
        )
    if is_shorter and text.isascii() and QUESTION_MARK.search(text):
        yield (
            "there are question marks and no character beyond ASCII: software that could not write "
            "such characters puts ? in their place, and then the original is lost"
        )


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return None


def _signatures_within(value: Any, path: str = "", depth: int = 3) -> Iterator[str]:
    if not isinstance(value, Mapping) or not depth:
        return
    for name, inner in value.items():
        if isinstance(inner, str):
            if SIGNATURE_NAME.search(name) and SIGNATURE_TEXT.fullmatch(inner):
                yield f"{path}{name}"[:80]
        else:
            yield from _signatures_within(inner, f"{path}{name}.", depth - 1)


def _has_sorted_keys(value: Any, orders_to_tell: int) -> bool:
    """Whether the keys of all objects are in order, and enough to tell that it is no chance."""
    orders = 1
    for keys in islice(_all_keys(value), MOST_OBJECTS):
        if keys != sorted(keys):
            return False
        orders *= factorial(min(len(keys), FEWEST_KEYS))
    return orders >= orders_to_tell


def _all_keys(value: Any, depth: int = DEEPEST) -> Iterator[list[str]]:
    if not depth:
        return
    if isinstance(value, Mapping):
        yield list(value)
    children = value.values() if isinstance(value, Mapping) else value
    for each in children if isinstance(value, Mapping | list) else ():
        yield from _all_keys(each, depth - 1)


def _starts_with_integer_keys(value: Any, depth: int = DEEPEST) -> bool:
    """Whether any object begins with integer-like keys in ascending order and has others after."""
    if isinstance(value, list):
        return depth > 0 and any(_starts_with_integer_keys(each, depth - 1) for each in value)
    if not isinstance(value, Mapping) or not depth:
        return False
    keys = list(value)
    integers = [int(key) for key in keys if re.fullmatch("0|[1-9][0-9]{0,9}", key)]
    leading = keys[: len(integers)] == [str(each) for each in sorted(integers)]
    return (0 < len(integers) < len(keys) and leading) or any(
        _starts_with_integer_keys(each, depth - 1) for each in value.values()
    )
