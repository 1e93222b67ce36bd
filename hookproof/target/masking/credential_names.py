"""Finds the credentials in requests and answers and replaces each by a name: `secret#1`.

They are recognised by the members that hold them (sections 2.3 to 2.7), in any JSON text, valid or
not, and in JSON within JSON; and in URLs. The same credential has the same name throughout a run,
so that evidence still shows which were equal. Empty texts, what the target has masked itself, and
names of credentials stay as they are.
"""

import base64
import binascii
import json
import re
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

from hookproof.process.encoded_credentials import (
    DEPTH,
    SHORTEST,
    Part,
    array_like,
    byte_array,
    is_unmistakable,
    spliced,
)
from hookproof.target.masking.credential_places import (
    NAMES,
    NUMBER,
    PLAIN_MEMBERS,
    PLAIN_PUBLIC,
    PLAIN_SIGNING_KEY,
    SECRETS,
    TEXT,
    VALUE,
    credential_places,
    may_have_credentials,
    plain_name,
    with_plain_names,
)

# JSON within a JSON text: as a text, as an array of bytes, as base64. Servers show what they store
# in such ways, for instance the payload of an event. A text with such a name in it is JSON within
# JSON; other texts need not be read.
_NAME_WITHIN: Final = re.compile(rb'\\(?:"|u0022)(?:%s)\\+(?:"|u0022)' % NAMES, re.IGNORECASE)
_TEXT: Final = re.compile(TEXT, re.DOTALL)
# An array of bytes that may be JSON: it begins with a bracket, a quote or white space.
_BYTES: Final = re.compile(rb"\[\s*(?:123|91|34|32|10|13|9)(?:\s*,\s*\d{1,3}){7,}+\s*\]")
# The beginning of an object or a list in base64, and all that follows; JSON may escape a slash.
_BASE64: Final = re.compile(rb'"((?:e[yw]|W[13wyz])(?:[A-Za-z0-9+_-]|\\*/){8,}+={0,2})')
_BASE64_BEGINS: Final = ("ey", "ew", "W1", "W3", "Ww", "Wy", "Wz")


class Nested(NamedTuple):
    """A content within another: where it stands, what it is, and how it is written there."""

    start: int
    end: int
    content: bytes
    written: Callable[[bytes], bytes]


def has_nested_texts(content: bytes) -> bool:
    return _NAME_WITHIN.search(content) is not None


def may_be_nested(text: str) -> bool:
    """Whether a text may be JSON, or base64 of it."""
    return '"' in text or text.startswith(_BASE64_BEGINS)


def nested_texts(content: bytes) -> Iterator[Nested]:
    for text in _TEXT.finditer(content):
        if _NAME_WITHIN.search(text[0]) and (inner := _of_text(text[0])) is not None:
            yield Nested(*text.span(), inner, _text_like(text[0]))


def nested_bytes(content: bytes) -> Iterator[Nested]:
    for numbers in _BYTES.finditer(content):
        try:
            inner = byte_array(json.loads(numbers[0]))
        except ValueError:
            continue
        if inner is not None:
            yield Nested(*numbers.span(), inner, partial(array_like, numbers[0]))


def nested_base64(content: bytes) -> Iterator[Nested]:
    for encoded in _BASE64.finditer(content):
        inner = decoded(encoded[1])
        if inner is not None and inner[:1] in {b"{", b"["}:
            yield Nested(*encoded.span(1), inner, _base64_like(encoded[1]))


def decoded(encoded: bytes) -> bytes | None:
    """What base64 stands for, in either alphabet, with or without padding."""
    plain = encoded.replace(b"\\", b"").rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    try:
        return base64.b64decode(plain + b"=" * (-len(plain) % 4), validate=True)
    except binascii.Error:
        return None


def _base64_like(old: bytes) -> Callable[[bytes], bytes]:
    def written(new: bytes) -> bytes:
        urls = b"-" in old or b"_" in old
        encoded = (base64.urlsafe_b64encode if urls else base64.b64encode)(new)
        encoded = encoded if old.endswith(b"=") else encoded.rstrip(b"=")
        return encoded.replace(b"/", b"\\/") if b"\\" in old else encoded

    return written


def _of_text(written: bytes) -> bytes | None:
    try:
        text = json.loads(written.decode(), strict=False)
        return str(text).encode("utf-8", "surrogatepass")
    except ValueError:
        return None


def _text_like(old: bytes) -> Callable[[bytes], bytes]:
    def written(new: bytes) -> bytes:
        text = json.dumps(new.decode("utf-8", "surrogatepass"), ensure_ascii=old.isascii())
        text = text.replace("/", "\\/") if b"\\/" in old else text
        return text.encode("utf-8", "surrogatepass")

    return written


# In URLs: what a parameter such as `token` gives, and the path of a webhook of Slack. Others may be
# anything: the path of another host is where it takes a delivery, for instance. A content with none
# of these has no such URL.
_SIGNS: Final = (b"token=", b"key=", b"secret=", b"password=", b"hooks.slack")
# An ampersand and a slash may be written with escapes in JSON.
_IN_URL: Final = re.compile(
    rb"(?:[?&]|\\u0026)(?:(?:access|auth|refresh)?[_-]?token|(?:auth|api)[_-]?key"
    rb"|(?:client[_-]?)?secret|password)=([\w.~%%+/=:-]{%d,})"
    rb"|hooks\.slack(?:-gov)?\.com\\?/(\w+(?:\\?/\w+)+)" % SHORTEST,
    re.IGNORECASE,
)


def may_be_url(text: str) -> bool:
    """Whether a text may be a URL with a credential."""
    return "://" in text and ("=" in text or "slack" in text.lower())


def url_credentials(content: bytes) -> Iterator[tuple[int, int]]:
    """Where there are credentials in the URLs of a text, from left to right."""
    lowered = content.lower()
    if any(sign in lowered for sign in _SIGNS):
        for match in _IN_URL.finditer(content):
            yield match.span(match.lastindex or 0)


# All names are in the form in which they are compared.
# Members beside which `token` is that of a portal link, not of the receiver.
PORTAL_LINK: Final = frozenset({"authkey", "authtype"})

FORM_MEMBERS: Final = (b"client_secret", b"client_assertion", b"password")
FORM: Final = re.compile(rb"(?:^|(?<=&))(%s)=([^&\s]+)" % b"|".join(FORM_MEMBERS))

# Fields of observations that hold credentials in a list: access tokens that the receiver's token
# server issued, secrets that signed.
LISTED: Final = frozenset({"issued", SECRETS, "knownsecrets", "inorder", "given"})

NAME: Final = re.compile(r"secret#[0-9]+")
# So many bodies of at most so many bytes are remembered in their masked form.
MOST_KEPT: Final = 6000
LONGEST_KEPT: Final = 8 * 1024
MOST_LONG_KEPT: Final = 200
LONGEST_LONG_KEPT: Final = 160 * 1024

# A number with fewer digits is no credential.
LONG_NUMBER: Final = 6

# A member of JSON within JSON that cannot be read: each quote has a backslash before it, each
# backslash too.
_MEMBER_WITHIN: Final = re.compile(
    rb'(\\"(?:%s)\\"\s*:\s*)\\"((?:[^"\\]|\\\\(?:\\["\\]|[^"\\]))*)\\"' % NAMES, re.IGNORECASE
)
_AUTHORIZATION: Final = re.compile(r"(\S+ +)?(.+)")


def is_name(text: str) -> bool:
    """Whether a text is the name of a masked credential."""
    return NAME.fullmatch(text) is not None


def readable_basic(value: str) -> str:
    """Basic credentials in a header as user name and password (RFC 7617); any other value as it is,
    also what was made readable before.
    """
    scheme, _, encoded = value.partition(" ")
    pair = _decoded(encoded)
    return f"{scheme} {pair}" if scheme.lower() == "basic" and ":" in pair else value


class Credentials:
    """The names of a run's credentials, in order of appearance; thread-safe.

    `unmasked` are texts that a target shows in place of credentials.
    """

    def __init__(self, unmasked: Collection[str] = ()):
        self._unmasked = set(unmasked)
        self._names: dict[str, str] = {}
        self._count = 0
        self._new: deque[tuple[str, str]] = deque()
        self._lock = threading.Lock()
        # What an exchange shows is looked through when it is made, and again when it is written.
        self._remembered = lru_cache(MOST_KEPT)(self._content)
        self._long_remembered = lru_cache(MOST_LONG_KEPT)(self._content)
        self._looked_through: set[int] = set()
        self._without: set[int] = set()

    def give(self, text: str, name: str) -> None:
        """Let a credential have this name."""
        with self._lock:
            self._names.setdefault(text, name)

    def leave(self, text: str) -> None:
        """Let this text stay, too, where a credential belongs."""
        self._unmasked.add(text)

    def new(self) -> list[tuple[str, str]]:
        """The credentials that were found since this was asked, each with its name."""
        found = []
        with suppress(IndexError):
            while True:
                found.append(self._new.popleft())
        return found

    def content(self, content: bytes) -> bytes:
        """A body with names in place of the credentials in its JSON or form members."""
        if len(content) <= LONGEST_KEPT:
            return self._remembered(content)
        if (key := hash(content)) in self._without:
            return content
        is_kept = len(content) <= LONGEST_LONG_KEPT
        masked = (self._long_remembered if is_kept else self._content)(content)
        self._looked_through.add(key)
        if masked == content:
            self._without.add(key)
        return masked

    def look_through(self, content: bytes) -> None:
        """Find the credentials of a body, unless that was done before."""
        if (key := hash(content)) not in self._looked_through:
            self.content(content)
            self._looked_through.add(key)

    def _content(self, content: bytes) -> bytes:
        content = self._json(content, DEPTH)
        if not any(name + b"=" in content for name in FORM_MEMBERS):
            return content
        return FORM.sub(
            lambda match: match[1] + b"=" + self.name(match[2].decode("latin-1")).encode(),
            content,
        )

    def _json(self, content: bytes, depth: int) -> bytes:
        """A JSON text with names, and so the texts within it down to this depth."""
        content = with_plain_names(content)
        if may_have_credentials(content):
            content = spliced(
                content,
                (
                    (start, end, self._token(content[start:end]))
                    for start, end in credential_places(content)
                ),
            )
            if has_nested_texts(content):
                content = self._nested(content, nested_texts(content), depth)
                content = _MEMBER_WITHIN.sub(self._named_within, content)
        content = spliced(content, self._named_in_urls(content))
        content = self._nested(content, nested_bytes(content), depth)
        return self._nested(content, nested_base64(content), depth)

    def _nested(self, content: bytes, nested: Iterable[Nested], depth: int) -> bytes:
        if not depth:
            return content
        return spliced(content, self._nested_parts(nested, depth - 1))

    def _nested_parts(self, nested: Iterable[Nested], depth: int) -> Iterator[Part]:
        for each in nested:
            masked = self._json(each.content, depth)
            if masked != each.content:
                yield each.start, each.end, each.written(masked)

    def _named_in_urls(self, content: bytes) -> Iterator[Part]:
        for start, end in url_credentials(content):
            text = content[start:end].replace(b"\\/", b"/").decode("utf-8", "replace")
            if is_unmistakable(text) and (name := self.name(text)) != text:
                yield start, end, name.encode()

    def value(self, value: Any, members: Collection[str] = ()) -> Any:
        """A JSON value with names in place of its credentials.

        `members` are further members that hold credentials.
        """
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list | tuple):
            return [self.value(item, members) for item in value]
        if not isinstance(value, dict):
            return value
        names = {name: plain_name(name) for name in value}
        of_receiver = {"token"} if PORTAL_LINK.isdisjoint(names.values()) else set()
        credential_members = {*PLAIN_MEMBERS, *members} - of_receiver
        return {
            name: self._below(item)
            if names[name] in credential_members
            else self._member(names[name], item)
            for name, item in value.items()
        }

    def header(self, value: str) -> str:
        """The value of an Authorization header that a target sent, with a name for the credential.

        Of Basic credentials the user name stays: `Basic user:secret#1`, not encoded.
        """
        scheme, _, encoded = value.partition(" ")
        if is_name(encoded.rpartition(":")[2]):
            return value
        if (readable := readable_basic(value)) != value:
            user, _, password = readable.partition(" ")[2].partition(":")
            return f"{scheme} {user}:{self.name(password)}"
        return _AUTHORIZATION.sub(
            lambda match: (match[1] or "") + self.name(match[2]), value, count=1
        )

    def _text(self, text: str) -> str:
        if not (may_be_nested(text) or may_be_url(text)):
            return text
        written = json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")
        masked = self._json(written, DEPTH)
        return text if masked == written else str(json.loads(masked))

    def name(self, text: str, *, elsewhere: bool = True) -> str:
        """The name of a credential; a text that is not one is returned as it is.

        It is looked for `elsewhere`, too.
        """
        if (
            not any(map(str.isalnum, text))
            or text in self._unmasked
            or is_name(text)
            or text.startswith("$HOOKPROOF")
        ):
            return text
        with self._lock:
            if text not in self._names:
                self._count += 1
                self._names[text] = f"secret#{self._count}"
                if elsewhere:
                    self._new.append((text, self._names[text]))
            return self._names[text]

    def _member(self, name: str, value: Any) -> Any:
        """The value of a member that does not hold credentials alone."""
        if name == PLAIN_SIGNING_KEY:
            if not isinstance(value, dict):
                return self._below(value)
            return {
                inner: item if plain_name(inner) in PLAIN_PUBLIC else self._below(item)
                for inner, item in value.items()
            }
        if name not in LISTED:
            return self.value(value)
        items = value if isinstance(value, list | tuple) else [value]
        if byte_array(items) is not None:
            return self._below(value)
        masked = [
            self.value(item, (VALUE,) if name == SECRETS else ())
            if isinstance(item, dict)
            else self._below(item)
            for item in items
        ]
        return masked if items is value else masked[0]

    def _below(self, value: Any) -> Any:
        """A value of which every part is a credential."""
        if isinstance(value, dict):
            return {name: self._below(item) for name, item in value.items()}
        if isinstance(value, list | tuple) and byte_array(value) is None:
            return [self._below(item) for item in value]
        return self._single(value)

    def _single(self, value: Any) -> Any:
        """A text, a number or an array of bytes that is a credential."""
        if isinstance(value, str):
            return self._credential(value)
        if isinstance(value, list | tuple):
            known = byte_array(value) or b""
            return list(self._credential(_text_of(known)).encode())
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value
        number = self._number(repr(value))
        return value if number == repr(value) else int(number)

    def _token(self, token: bytes) -> bytes:
        """A credential as it is written in JSON, with its name in its place."""
        if token.startswith(b"["):
            try:
                known = byte_array(json.loads(token))
            except ValueError:
                known = None
            if known is None:
                return NUMBER.sub(lambda number: self._token(number[0]), token)
            return array_like(token, self._credential(_text_of(known)).encode())
        if not token.startswith(b'"'):
            return self._number(token.decode("latin-1")).encode()
        end = b'"' if len(token) > 1 and token.endswith(b'"') else b""
        text = token[1 : len(token) - len(end)].decode("utf-8", "replace")
        if "\\" in text:
            with suppress(ValueError):
                text = json.loads(token)
        name = self._credential(text)
        return token if name == text else b'"' + name.encode() + end

    def _credential(self, text: str) -> str:
        """The name of a credential; what it holds, if it is JSON, gets names too."""
        if text not in self._names:
            for held in _held_in(text):
                self.name(held)
        return self.name(text)

    def _number(self, number: str) -> str:
        """The number of a credential's name in place of a number, which remains one."""
        if sum(map(str.isdigit, number)) < LONG_NUMBER:
            return number
        # What is not unmistakable is looked for as a text; a name would be no number.
        name = self.name(number, elsewhere=is_unmistakable(number))
        return number if name == number else name.partition("#")[2] or "0"

    def _named_within(self, match: re.Match[bytes]) -> bytes:
        try:
            text = json.loads(json.loads(b'"' + match[2] + b'"').join(('"', '"')))
        except ValueError:
            text = match[2].decode("utf-8", "replace")
        name = self.name(text)
        return match[0] if name == text else match[1] + b'\\"' + name.encode() + b'\\"'


def _text_of(content: bytes) -> str:
    """The text of a credential that is shown as bytes, whatever they are."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _decoded(text: str) -> str:
    """The text of base64; empty if it is not base64 of UTF-8."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except ValueError:
        return ""


def _held_in(text: str) -> list[str]:
    """The unmistakable texts in a credential that is JSON, or JSON in base64."""
    content = text.encode("utf-8", "replace")
    if not content.lstrip().startswith((b"{", b"[")):
        content = decoded(content) or b""
    try:
        return list(filter(is_unmistakable, _texts(json.loads(content))))
    except (ValueError, RecursionError):
        return []


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
