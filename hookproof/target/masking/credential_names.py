"""Finds the credentials in requests and answers and replaces each by a name: `secret#1`.

They are recognised by the members that hold them (sections 2.3 to 2.7), in any JSON text, valid or
not, and in JSON within JSON; and in URLs. The same credential has the same name throughout a run,
so that evidence still shows which were equal. Empty texts, what the target has masked itself, and
names of credentials stay as they are.
"""

import base64
import json
import re
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from hookproof.process.encoded_credentials import (
    DEPTH,
    array_like,
    byte_array,
    is_unmistakable,
    may_be_word,
)
from hookproof.target.masking.credential_places import (
    NAMES,
    NUMBER,
    PLAIN_MEMBERS,
    PLAIN_PUBLIC,
    PLAIN_SIGNING_KEY,
    SECRETS,
    VALUE,
    credential_places,
    may_have_credentials,
    plain_name,
    with_plain_names,
)
from hookproof.target.masking.nested_texts import (
    Nested,
    decoded,
    has_nested_texts,
    may_be_nested,
    nested_base64,
    nested_bytes,
    nested_texts,
)
from hookproof.target.masking.url_credentials import (
    may_be_url,
    url_credentials,
)

# All names are in the form in which they are compared.
# Members beside which `token` is that of a portal link, not of the receiver.
PORTAL_LINK: Final = frozenset({"authkey", "authtype"})

FORM_MEMBERS: Final = (b"client_secret", b"client_assertion", b"password")
FORM: Final = re.compile(rb"(?:^|(?<=&))(%s)=([^&\s]+)" % b"|".join(FORM_MEMBERS))

# Fields of observations that hold credentials in a list: access tokens that the receiver's token
# server issued, secrets that signed.
LISTED: Final = frozenset({"issued", SECRETS, "knownsecrets", "inorder", "given"})

NAME: Final = re.compile(r"secret#[0-9]+")
_NAME_IN_BODY: Final = re.compile(NAME.pattern.encode())
# In characters. A text shorter than LONG may be part of any word and is masked only where a member
# holds it; so is a text without a digit that is shorter than DISTINCTIVE.
LONG: Final = 8
DISTINCTIVE: Final = 20

# A number with fewer digits is no credential.
LONG_NUMBER: Final = 6

# A member of JSON within JSON that cannot be read: each quote has a backslash before it, each
# backslash too.
_MEMBER_WITHIN: Final = re.compile(
    rb'(\\"(?:%s)\\"\s*:\s*)\\"((?:[^"\\]|\\\\(?:\\["\\]|[^"\\]))*)\\"' % NAMES, re.IGNORECASE
)
_RUN: Final = re.compile(rb"[A-Za-z0-9_\-+/=]{8,}")
_DIVIDER: Final = re.compile(rb"([/=])")
_AUTHORIZATION: Final = re.compile(r"(\S+ +)?(.+)")


def is_name(text: str) -> bool:
    """Whether a text is the name of a masked credential."""
    return NAME.fullmatch(text) is not None


class Credentials:
    """The names of a run's credentials, in order of appearance; thread-safe.

    `unmasked` are texts that a target shows in place of credentials. Each method adds the
    credentials that it finds, with their names, to `found_names`.
    """

    def __init__(self, unmasked: Collection[str] = ()):
        self._unmasked = frozenset(unmasked)
        self._names: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def known(self) -> Mapping[str, str]:
        """The name of every credential found so far."""
        with self._lock:
            return dict(self._names)

    def content(self, content: bytes, found_names: dict[str, str]) -> bytes:
        """A body with names in place of the credentials in its JSON or form members."""
        content = self._json(content, found_names, DEPTH)
        if not any(name + b"=" in content for name in FORM_MEMBERS):
            return content
        return FORM.sub(
            lambda match: (
                match[1] + b"=" + self.name(match[2].decode("latin-1"), found_names).encode()
            ),
            content,
        )

    def _json(self, content: bytes, found_names: dict[str, str], depth: int) -> bytes:
        """A JSON text with names, and so the texts within it down to this depth."""
        content = with_plain_names(content)
        if may_have_credentials(content):
            content = _spliced(
                content,
                (
                    (start, end, self._token(content[start:end], found_names))
                    for start, end in credential_places(content)
                ),
            )
            if has_nested_texts(content):
                content = self._nested(content, nested_texts(content), found_names, depth)
                content = _MEMBER_WITHIN.sub(
                    lambda match: self._named_within(match, found_names), content
                )
        content = _spliced(content, self._named_in_urls(content, found_names))
        content = self._nested(content, nested_bytes(content), found_names, depth)
        return self._nested(content, nested_base64(content), found_names, depth)

    def _nested(
        self, content: bytes, nested: Iterable[Nested], found_names: dict[str, str], depth: int
    ) -> bytes:
        if not depth:
            return content
        return _spliced(content, self._nested_parts(nested, found_names, depth - 1))

    def _nested_parts(
        self, nested: Iterable[Nested], found_names: dict[str, str], depth: int
    ) -> "Iterator[_Part]":
        for each in nested:
            masked = self._json(each.content, found_names, depth)
            if masked != each.content:
                yield each.start, each.end, each.written(masked)

    def _named_in_urls(self, content: bytes, found_names: dict[str, str]) -> "Iterator[_Part]":
        for start, end in url_credentials(content):
            text = content[start:end].replace(b"\\/", b"/").decode("utf-8", "replace")
            if is_unmistakable(text) and (name := self.name(text, found_names)) != text:
                yield start, end, name.encode()

    def unmask(self, content: bytes) -> bytes:
        """A JSON body with the credentials in place of their names, to be sent again."""
        known = {
            name.encode(): json.dumps(text)[1:-1].encode() for text, name in self.known.items()
        }
        return _NAME_IN_BODY.sub(lambda match: known.get(match[0], match[0]), content)

    def value(self, value: Any, found_names: dict[str, str], members: Collection[str] = ()) -> Any:
        """A JSON value with names in place of its credentials.

        `members` are further members that hold credentials.
        """
        if isinstance(value, str):
            return self._text(value, found_names)
        if isinstance(value, list | tuple):
            return [self.value(item, found_names, members) for item in value]
        if not isinstance(value, dict):
            return value
        names = {name: plain_name(name) for name in value}
        of_receiver = {"token"} if PORTAL_LINK.isdisjoint(names.values()) else set()
        credential_members = {*PLAIN_MEMBERS, *members} - of_receiver
        return {
            name: self._below(item, found_names)
            if names[name] in credential_members
            else self._member(names[name], item, found_names)
            for name, item in value.items()
        }

    def header(self, value: str, found_names: dict[str, str]) -> str:
        """The value of an Authorization header that a target sent, with a name for the credential.

        Of Basic credentials (RFC 7617) the user name stays: `Basic user:secret#1`, not encoded.
        """
        scheme, _, encoded = value.partition(" ")
        if is_name(encoded.rpartition(":")[2]):
            return value
        user, colon, password = _decoded(encoded).partition(":")
        if scheme.lower() == "basic" and colon:
            return f"{scheme} {user}:{self.name(password, found_names)}"
        return _AUTHORIZATION.sub(
            lambda match: (match[1] or "") + self.name(match[2], found_names), value, count=1
        )

    def _text(self, text: str, found_names: dict[str, str]) -> str:
        if not (may_be_nested(text) or may_be_url(text)):
            return text
        written = json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")
        masked = self._json(written, found_names, DEPTH)
        return text if masked == written else str(json.loads(masked))

    def name(self, text: str, found_names: dict[str, str]) -> str:
        """The name of a credential; a text that is not one is returned as it is."""
        if (
            not any(map(str.isalnum, text))
            or text in self._unmasked
            or is_name(text)
            or text.startswith("$HOOKPROOF")
        ):
            return text
        with self._lock:
            found_names[text] = self._names.setdefault(text, f"secret#{len(self._names) + 1}")
        return found_names[text]

    def _member(self, name: str, value: Any, found_names: dict[str, str]) -> Any:
        """The value of a member that does not hold credentials alone."""
        if name == PLAIN_SIGNING_KEY:
            if not isinstance(value, dict):
                return self._below(value, found_names)
            return {
                inner: item if plain_name(inner) in PLAIN_PUBLIC else self._below(item, found_names)
                for inner, item in value.items()
            }
        if name not in LISTED:
            return self.value(value, found_names)
        items = value if isinstance(value, list | tuple) else [value]
        if byte_array(items) is not None:
            return self._below(value, found_names)
        masked = [
            self.value(item, found_names, (VALUE,) if name == SECRETS else ())
            if isinstance(item, dict)
            else self._below(item, found_names)
            for item in items
        ]
        return masked if items is value else masked[0]

    def _below(self, value: Any, found_names: dict[str, str]) -> Any:
        """A value of which every part is a credential."""
        if isinstance(value, dict):
            return {name: self._below(item, found_names) for name, item in value.items()}
        if isinstance(value, list | tuple) and byte_array(value) is None:
            return [self._below(item, found_names) for item in value]
        return self._single(value, found_names)

    def _single(self, value: Any, found_names: dict[str, str]) -> Any:
        """A text, a number or an array of bytes that is a credential."""
        if isinstance(value, str):
            return self._credential(value, found_names)
        if isinstance(value, list | tuple):
            known = byte_array(value) or b""
            return list(self._credential(_text_of(known), found_names).encode())
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value
        number = self._number(repr(value), found_names)
        return value if number == repr(value) else int(number)

    def _token(self, token: bytes, found_names: dict[str, str]) -> bytes:
        """A credential as it is written in JSON, with its name in its place."""
        if token.startswith(b"["):
            try:
                known = byte_array(json.loads(token))
            except ValueError:
                known = None
            if known is None:
                return NUMBER.sub(lambda number: self._token(number[0], found_names), token)
            return array_like(token, self._credential(_text_of(known), found_names).encode())
        if not token.startswith(b'"'):
            return self._number(token.decode("latin-1"), found_names).encode()
        end = b'"' if len(token) > 1 and token.endswith(b'"') else b""
        text = token[1 : len(token) - len(end)].decode("utf-8", "replace")
        if "\\" in text:
            with suppress(ValueError):
                text = json.loads(token)
        name = self._credential(text, found_names)
        return token if name == text else b'"' + name.encode() + end

    def _credential(self, text: str, found_names: dict[str, str]) -> str:
        """The name of a credential; what it holds, if it is JSON, gets names too."""
        if text not in self._names:
            for held in _held_in(text):
                self.name(held, found_names)
        return self.name(text, found_names)

    def _number(self, number: str, found_names: dict[str, str]) -> str:
        """The number of a credential's name in place of a number, which remains one."""
        if sum(map(str.isdigit, number)) < LONG_NUMBER:
            return number
        # What is not unmistakable is looked for as a text; a name would be no number.
        found = found_names if is_unmistakable(number) else {}
        return self.name(number, found).partition("#")[2] or number

    def _named_within(self, match: re.Match[bytes], found_names: dict[str, str]) -> bytes:
        try:
            text = json.loads(json.loads(b'"' + match[2] + b'"').join(('"', '"')))
        except ValueError:
            text = match[2].decode("utf-8", "replace")
        name = self.name(text, found_names)
        return match[0] if name == text else match[1] + b'\\"' + name.encode() + b'\\"'


def is_distinctive(text: str) -> bool:
    """Whether a credential is unlikely to be part of a word, so that it is masked anywhere."""
    has_digit = any(map(str.isdigit, text))
    is_rare = len(text) >= DISTINCTIVE or (len(text) >= LONG and has_digit)
    return is_rare and not may_be_word(text)


def replace_words(content: bytes, named: Mapping[str, str]) -> bytes:
    """A body with names in place of these credentials where they are whole words.

    One pass is enough for any number of them: a page of a list may show hundreds. Most bodies have
    none of them.
    """
    names = {text.encode(): name.encode() for text, name in named.items()}
    if not any(text in content for text in names):
        return content

    def with_names(run: re.Match[bytes]) -> bytes:
        whole = run[0]
        if whole in names or not (b"/" in whole or b"=" in whole):
            return names.get(whole, whole)
        return b"".join(names.get(word, word) for word in _DIVIDER.split(whole))

    return _RUN.sub(with_names, content)


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


_Part = tuple[int, int, bytes]


def _spliced(content: bytes, parts: Iterable[_Part]) -> bytes:
    """A content with other bytes at some places, which are given from left to right."""
    pieces, end = [], 0
    for start, stop, new in parts:
        pieces += [content[end:start], new]
        end = stop
    return b"".join([*pieces, content[end:]]) if pieces else content


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
