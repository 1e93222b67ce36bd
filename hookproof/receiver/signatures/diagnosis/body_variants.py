"""Other bytes that a sender may have signed in place of the body that it sent."""

import base64
import json
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any, Final
from urllib.parse import parse_qsl, unquote_plus, urlencode

from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, Variant, Variants
from hookproof.receiver.signatures.diagnosis.json_text import JsonText

# In bytes; rewriting a larger body would take too long, so only its ends are varied.
LARGEST_REWRITTEN: Final = 64 * 1024
LARGEST_INFLATED: Final = 1024 * 1024
MOST_MEMBERS: Final = 8
BYTE_ORDER_MARK: Final = "\ufeff".encode()

# Raises ValueError, TypeError or RecursionError for a body that it does not apply to.
Rewriting = Callable[[bytes], bytes]


def body_variants(body: bytes, known: Mapping[str, bytes]) -> Variants[bytes]:
    """The body and what may have been signed in its place.

    `known` maps descriptions of other bodies to these.
    """

    @cache
    def text() -> JsonText | None:
        return JsonText.parse(body) if len(body) <= LARGEST_REWRITTEN else None

    def generate(distance: int) -> Iterator[Variant[bytes]]:
        if distance == 0:
            yield Variant(value=body)
        if distance == 1:
            yield from _ends(body)
            yield from (
                _variant(f"signed {name}, sent another body", other)
                for name, other in known.items()
            )
        if distance and (json_text := text()):
            yield from json_text.forms(distance)
        if distance == 1 and len(body) <= LARGEST_REWRITTEN:
            yield from _rewritings(body)
            yield from _members(text())

    return Variants(generate)


def _variant(words: str, value: bytes, *, rare: bool = False) -> Variant[bytes]:
    return Variant(value=value, deviations=(Deviation(aspect=Aspect.BODY, words=words),), rare=rare)


def _ends(body: bytes) -> Iterator[Variant[bytes]]:
    """Variants at the ends of a body, and an empty body."""
    for name, end in (("line end", b"\n"), ("carriage return and line end", b"\r\n")):
        if body.endswith(end):
            yield _variant(
                f"signed the body without its last {name}, sent it with one", body.removesuffix(end)
            )
        yield _variant(f"signed the body with a {name} after it, sent it without", body + end)
    yield _variant("signed the body without the white space around it, sent it with", body.strip())
    yield _variant("signed an empty body, sent one that is not", b"")
    yield _variant(
        "signed the body with a byte order mark before it, sent it without", BYTE_ORDER_MARK + body
    )
    yield _variant(
        "signed the body without its byte order mark, sent it with",
        body.removeprefix(BYTE_ORDER_MARK),
    )


def _rewritings(body: bytes) -> Iterator[Variant[bytes]]:
    for words, rewrite in REWRITINGS.items():
        try:
            yield _variant(words, rewrite(body), rare=True)
        except (ValueError, TypeError, RecursionError):
            continue


def _members(text: JsonText | None) -> Iterator[Variant[bytes]]:
    for name, value in islice(text.members() if text else (), 2 * MOST_MEMBERS):
        yield _variant(f"signed the member {name[:40]!r} of the body alone", value, rare=True)


def _to_form(body: bytes) -> bytes:
    members = json.loads(body)
    if not isinstance(members, dict):
        raise TypeError("only an object has names and values")
    pairs = {
        name: value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        for name, value in members.items()
    }
    return urlencode(pairs).encode()


def _to_json(separators: tuple[str, str]) -> Rewriting:
    def rewrite(body: bytes) -> bytes:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=True)
        return json.dumps(dict(pairs), separators=separators, ensure_ascii=False).encode()

    return rewrite


def _text_of_json_string(body: bytes) -> bytes:
    value = json.loads(body)
    if not isinstance(value, str):
        raise TypeError("not a JSON string")
    return value.encode()


def _inflate(body: bytes) -> bytes:
    try:
        # 32 more than the window's size: the header, gzip or zlib, is detected.
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(body, LARGEST_INFLATED)
    except zlib.error as error:
        raise ValueError(str(error)) from None


def _decoded_base64(body: bytes) -> bytes:
    return base64.b64decode(body.strip(), validate=True)


def _listed_bytes(body: bytes) -> bytes:
    value: Any = json.loads(body)
    if not isinstance(value, list):
        raise TypeError("not a list")
    return bytes(value)


# What was signed, in words, and how to make it from the body that was sent.
REWRITINGS: Final[Mapping[str, Rewriting]] = {
    "signed the body with line feeds as line ends, sent carriage returns with them": lambda body: (
        body.replace(b"\r\n", b"\n")
    ),
    "signed the body with carriage returns before its line feeds, sent line feeds alone": (
        lambda body: body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    ),
    "signed the form encoding of the body, sent it as JSON": _to_form,
    "signed the compact JSON of the body, sent it form-encoded": _to_json((",", ":")),
    "signed the JSON of the body with spaces, sent it form-encoded": _to_json((", ", ": ")),
    "signed the body with its percent escapes resolved, sent them": lambda body: unquote_plus(
        body.decode(), errors="strict"
    ).encode(),
    "signed the body in base64, sent it as it is": base64.b64encode,
    "signed the bytes behind the body's base64, sent the base64": _decoded_base64,
    "signed the bytes that the body lists as numbers, sent the list": _listed_bytes,
    "signed the body in hex, sent it as it is": lambda body: body.hex().encode(),
    "signed the body as a string of JSON, sent it as it is": lambda body: json.dumps(
        body.decode(), ensure_ascii=False
    ).encode(),
    "signed the text within the string of JSON that it sent": _text_of_json_string,
    "signed the body before it was compressed": _inflate,
    "signed the body in Latin-1, sent it in UTF-8": lambda body: body.decode().encode("latin-1"),
    "signed the body in UTF-16, sent it in UTF-8": lambda body: body.decode().encode("utf-16-le"),
    "signed the body with its UTF-8 read as Latin-1 and encoded again": lambda body: body.decode(
        "latin-1"
    ).encode(),
    "signed the body with bytes that are not UTF-8 replaced by U+FFFD": lambda body: body.decode(
        errors="replace"
    ).encode(),
    "signed the body without its characters beyond ASCII": lambda body: body.decode().encode(
        "ascii", "ignore"
    ),
    "signed the body with question marks for its characters beyond ASCII": lambda body: (
        body.decode().encode("ascii", "replace")
    ),
    "signed the body in composed Unicode, sent it decomposed": lambda body: unicodedata.normalize(
        "NFC", body.decode()
    ).encode(),
    "signed the body in decomposed Unicode, sent it composed": lambda body: unicodedata.normalize(
        "NFD", body.decode()
    ).encode(),
}
