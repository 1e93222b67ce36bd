"""Other bytes that a sender may have signed in place of the body that it sent."""

import ast
import base64
import html
import json
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, combinations, islice, product
from typing import Any, Final
from urllib.parse import parse_qsl, quote, quote_plus, unquote_plus, urlencode

from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, Variant, Variants
from hookproof.receiver.signatures.diagnosis.javascript import read_by_javascript
from hookproof.receiver.signatures.diagnosis.json_text import CLOSING, OPENING, JsonText

# In bytes; rewriting a larger body would take too long, so only its ends are varied.
LARGEST_REWRITTEN: Final = 64 * 1024
LARGEST_INFLATED: Final = 1024 * 1024
MOST_MEMBERS: Final = 8
# Every choice of so many places is tried.
MOST_EMPTIES: Final = 6
# Pieces here, pieces that were signed, and who made these of those.
EMPTIES: Final = (
    (("[", "]"), ("{", "}"), "PHP parsed"),
    (("null",), ('""',), "Laravel's ConvertEmptyStringsToNull parsed"),
)
PLAIN_QUOTATION_MARKS: Final = str.maketrans("\u201c\u201d\u201e\u2018\u2019", '"""\'\'')
BYTE_ORDER_MARK: Final = "\ufeff".encode()

# Raises ValueError, TypeError or RecursionError for a body that it does not apply to.
Rewriting = Callable[[bytes], bytes]


def body_variants(
    body: bytes, known: Mapping[str, bytes], length: int | None = None
) -> Variants[bytes]:
    """The body and what may have been signed in its place.

    `known` maps descriptions of other bodies to these. `length` is that of Content-Length.
    """

    @cache
    def text() -> JsonText | None:
        return JsonText.parse(body) if len(body) <= LARGEST_REWRITTEN else None

    def generate(distance: int) -> Iterator[Variant[bytes]]:
        if distance == 0:
            yield Variant(value=body)
        if distance == 1:
            yield from _ends(body)
            if length is not None and 0 < length < len(body):
                words = f"signed the first {length} bytes of the body, as Content-Length says"
                yield _variant(words, body[:length])
            yield from (
                _variant(f"signed {name}, sent another body", other)
                for name, other in known.items()
            )
        if distance and (json_text := text()):
            yield from json_text.forms(distance)
            if distance == 2:  # noqa: PLR2004 - written again, without the line end
                yield from _with_line_end(json_text.forms(1))
        if distance == 1 and len(body) <= LARGEST_REWRITTEN:
            yield from _rewritings(body)
            yield from _forms(body)
            yield from _members(text(), body)
            if json_text := text():
                yield from _emptied(json_text)
                yield from _in_lines(json_text)
                yield from read_by_javascript(json_text, length)

    return Variants(generate)


def _variant(words: str, value: bytes, *, rare: bool = False) -> Variant[bytes]:
    return Variant(value=value, deviations=(Deviation(aspect=Aspect.BODY, words=words),), rare=rare)


def _with_line_end(forms: Iterator[Variant[bytes]]) -> Iterator[Variant[bytes]]:
    ended = Deviation(aspect=Aspect.BODY, words="signed it with a line end after it")
    for form in forms:
        deviations = (*form.deviations, ended)
        yield Variant(value=form.value + b"\n", deviations=deviations, rare=True)


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
        except (ValueError, TypeError, RecursionError, SyntaxError, MemoryError):
            continue
    for words, rewrite in COPIES.items():
        try:
            value = rewrite(body)
        except (ValueError, TypeError, RecursionError, SyntaxError, MemoryError):
            continue
        deviation = Deviation(aspect=Aspect.BODY, words=words, remedy="copied")
        yield Variant(value=value, deviations=(deviation,), rare=True)


def _forms(body: bytes) -> Iterator[Variant[bytes]]:
    """The body as a member of a form, and a form encoded in other ways."""
    for name in FORM_MEMBERS:
        value = body.removeprefix(f"{name}=".encode())  # a form whose escapes were resolved
        for quoted in (quote_plus(value), quote(value, safe="")):
            yield _form_variant(
                f"signed the form {name}=..., in which this JSON is percent-encoded",
                f"{name}={quoted}",
            )
    if b"=" not in body or body[:1] in {b"{", b"["}:
        return
    pairs = parse_qsl(body.decode("latin-1"), keep_blank_values=True, encoding="latin-1")
    for (words, safe), plus in product(FORM_ESCAPES.items(), (True, False)):
        encode = quote_plus if plus else quote
        encoded = "&".join(
            f"{encode(name.encode('latin-1'), safe=safe)}"
            f"={encode(value.encode('latin-1'), safe=safe)}"
            for name, value in pairs
        )
        # Python leaves the tilde as it is, whatever is safe; PHP and others escape it.
        for text in dict.fromkeys((encoded, encoded.replace("~", "%7E"))):
            phrase = (
                f"signed the form with other characters percent-escaped, {words}, "
                f"and {'+' if plus else '%20'} for a space; this one was parsed and encoded again"
            )
            yield _form_variant(phrase, text)
            in_small = PERCENT_ESCAPE.sub(lambda match: match[0].lower(), text)
            yield _form_variant(f"{phrase}, in capital letters", in_small)
    yield from (
        _variant(
            f"signed the value of {name[:40]!r} alone, out of the form", value.encode("latin-1")
        )
        for name, value in pairs[:MOST_MEMBERS]
    )


def _form_variant(words: str, text: str) -> Variant[bytes]:
    return _variant(words, text.encode(), rare=True)


def _members(text: JsonText | None, body: bytes) -> Iterator[Variant[bytes]]:
    is_object = text is not None and text.pieces[0] == "{"
    members = json.loads(body, parse_int=str) if is_object else {}
    for name, value in islice(members.items(), MOST_MEMBERS):
        if isinstance(value, str):
            words = f"signed the text in the member {name[:40]!r} of the body alone"
            yield _variant(words, value.encode(errors="replace"), rare=True)
    for name, value in islice(text.members() if text else (), 2 * MOST_MEMBERS):
        yield _variant(f"signed the member {name[:40]!r} of the body alone", value, rare=True)


def _emptied(text: JsonText) -> Iterator[Variant[bytes]]:
    """Bodies with other empty values: PHP reads {} as an empty list, Laravel a "" as null."""
    for here, signed, reader in EMPTIES:
        places = list(_places(text.pieces, here))
        for pieces, spelled in ((text.pieces, ""), (text.unescaped(), ", and unescaped")):
            for chosen in _subsets(places):
                changed = [*pieces]
                for start in reversed(chosen):
                    changed[start : start + len(here)] = signed
                if text.layout is not None:
                    words = (
                        f"signed the body with {''.join(signed)} where {''.join(here)} is here"
                        f"{spelled}, as it was before {reader} it"
                    )
                    value = text.layout.write(changed).encode("utf-8", "surrogatepass")
                    yield _variant(words, value, rare=True)


def _places(pieces: Sequence[str], wanted: Sequence[str]) -> Iterator[int]:
    size = len(wanted)
    return (index for index in range(len(pieces)) if [*pieces[index : index + size]] == [*wanted])


def _subsets(places: Sequence[int]) -> Iterator[Sequence[int]]:
    """All of these, and every choice of the first few."""
    if len(places) > MOST_EMPTIES:
        yield places
    few = places[:MOST_EMPTIES]
    for count in range(len(few), 0, -1):
        yield from combinations(few, count)


def _in_lines(text: JsonText) -> Iterator[Variant[bytes]]:
    """A list with a line for each of its elements, and a line end after it."""
    if text.pieces[0] != "[" or text.layout is None:
        return
    depths = accumulate((piece in OPENING) - (piece in CLOSING) for piece in text.pieces)
    at_commas = [
        piece == "," and depth == 1 for piece, depth in zip(text.pieces, depths, strict=True)
    ]
    for name, end in (("CR LF", "\r\n"), ("LF", "\n")):
        written = "".join(
            f",{end}" if is_between else piece
            for piece, is_between in zip(text.pieces, at_commas, strict=True)
        )
        for after, words in ((end, "and after the last"), ("", "but the last")):
            yield _variant(
                f"signed the list with a line end ({name}) after each of its elements, {words}",
                f"{written}{after}".encode("utf-8", "surrogatepass"),
                rare=True,
            )


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


def _from_utf16(body: bytes) -> bytes:
    """UTF-16 as UTF-8; raises ValueError for what is none."""
    if b"\x00" not in body:
        raise ValueError("it is no UTF-16")
    return body.decode("utf-16").encode()


def _utf8_read_as(body: bytes, encoding: str) -> bytes:
    """What was UTF-8 before its bytes were read in another encoding; raises ValueError."""
    original = body.decode().encode(encoding)
    original.decode()
    return original


def _text_behind_escapes(body: bytes) -> bytes:
    text = json.loads(f'"{body.decode().strip()}"')
    return _text_of_json_string(json.dumps(text).encode())


def _behind_python_repr(body: bytes) -> bytes:
    value = _python_value(body)
    if isinstance(value, bytes):
        return value
    return value.encode() if isinstance(value, str) else _compact(value)


def _python_value(body: bytes) -> Any:
    """The value that a text of Python's repr stands for; raises ValueError for JSON too."""
    text = body.decode().strip()
    if "'" not in text or JsonText.parse(body) is not None:
        raise ValueError("not a text of Python's")
    return ast.literal_eval(text)


def _compact(value: Any) -> bytes:
    if not isinstance(value, dict | list):
        raise TypeError("not a JSON text")
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


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
    "signed the bytes that the body lists as numbers, sent the list": _listed_bytes,
    "signed the body in hex, sent it as it is": lambda body: body.hex().encode(),
    "signed the body as a string of JSON, sent it as it is": lambda body: json.dumps(
        body.decode(), ensure_ascii=False
    ).encode(),
    "signed the text within the string of JSON that it sent": _text_of_json_string,
    "signed the body before it was compressed": _inflate,
    "signed the body in UTF-8, which was read as Latin-1 and written as UTF-8 again here": (
        lambda body: _utf8_read_as(body, "latin-1")
    ),
    "signed the body in UTF-8, which was read as Windows-1252 and written as UTF-8 again here": (
        lambda body: _utf8_read_as(body, "cp1252")
    ),
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

# The same for bodies that were copied out of something, such as a log or an event.
COPIES: Final[Mapping[str, Rewriting]] = {
    "signed the bytes behind the body's base64, sent the base64": _decoded_base64,
    'signed the body without the backslashes before its quotation marks, this copy has \\" for "': (
        _text_behind_escapes
    ),
    "signed the body with plain quotation marks, this copy has typographic ones": lambda body: (
        body.decode().translate(PLAIN_QUOTATION_MARKS).encode()
    ),
    "signed the body in UTF-8, this copy is in UTF-16": _from_utf16,
    "signed the body without HTML escapes, this copy has them": lambda body: html.unescape(
        body.decode()
    ).encode(),
    "signed what this text of Python's repr stands for": _behind_python_repr,
    "signed the JSON of what this text of Python's repr stands for, with spaces": lambda body: (
        json.dumps(_python_value(body)).encode()
    ),
}
PERCENT_ESCAPE: Final = re.compile("%[0-9A-F]{2}")
FORM_MEMBERS: Final = ("payload", "data", "mandrill_events")
# By who leaves them: the characters that are not percent-escaped besides letters and digits.
FORM_ESCAPES: Final[Mapping[str, str]] = {
    "as PHP and Python do": "-_.",
    "as encodeURIComponent of JavaScript does": "-_.!~*'()",
    "as URLSearchParams of JavaScript does": "-_.*",
    "as Java does": "-_.*",
    "with ( ) ' * as they are": "-_.()'*",
    "with : and / as they are": "-_.:/",
    "with @ : / , as they are": "-_.@:/,",
}
