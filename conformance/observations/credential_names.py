"""Finds the credentials in requests and answers and replaces each by a name: `secret#1`.

They are recognised by the members that hold them (sections 2.3 to 2.7), in any JSON text, valid or
not, and in JSON within JSON. The same credential has the same name throughout a run, so that
evidence still shows which were equal. Empty texts, what the target has masked itself, and names of
credentials stay as they are.
"""

import base64
import json
import re
import threading
from collections.abc import Collection, Mapping
from typing import Any, Final

from hookproof.conformance.observations.masking.encoded_credentials import (
    array_like,
    byte_array,
    may_be_word,
)

# Members whose texts are always credentials; the last two are fields of our own observations.
MEMBERS: Final = (
    "secret",
    "client_secret",
    "password",
    "header_value",
    "client_key",
    "secret_key",
    "access_key_id",
    "service_account",
    "auth_key",
    "token",
    "old_secret",
    "new_secret",
)

# Members beside which `token` is that of a portal link, not of the receiver.
PORTAL_LINK: Final = frozenset({"auth_key", "auth_type"})

# Members that are credentials within these (sections 2.4 and 2.5).
INNER: Final = {"secrets": ("value",), "signing_key": ("d", "p", "q", "dp", "dq", "qi")}

FORM_MEMBERS: Final = (b"client_secret", b"client_assertion", b"password")
FORM: Final = re.compile(rb"(?:^|(?<=&))(%s)=([^&\s]+)" % b"|".join(FORM_MEMBERS))

# Fields of observations that hold credentials in a list: access tokens that the receiver's token
# server issued, secrets that signed.
LISTED: Final = frozenset({"issued", "secrets", "known_secrets", "in_order", "given"})

NAME: Final = re.compile(r"secret#[0-9]+")
_NAME_IN_BODY: Final = re.compile(NAME.pattern.encode())
# In characters. A text shorter than LONG may be part of any word and is masked only where a member
# holds it; so is a text without a digit that is shorter than DISTINCTIVE.
LONG: Final = 8
DISTINCTIVE: Final = 20

_TEXT: Final = rb'"(?:[^"\\]|\\.)*"'
_MEMBER: Final = re.compile(rb'("(?:%s)"\s*:\s*)(%s)' % ("|".join(MEMBERS).encode(), _TEXT))
# The same in JSON within JSON: each quote has a backslash before it, each backslash too.
_MEMBER_WITHIN: Final = re.compile(
    rb'(\\"(?:%s)\\"\s*:\s*)\\"((?:[^"\\]|\\\\(?:\\["\\]|[^"\\]))*)\\"' % "|".join(MEMBERS).encode()
)
# A credential as an array of bytes (section 2.7).
_BYTES_MEMBER: Final = re.compile(rb'("service_account"\s*:\s*)(\[[\d,\s]*\])')
_BLOCK: Final = re.compile(
    rb'"(?:secrets"\s*:\s*\[(?:[^\]"]|%s)*\]|signing_key"\s*:\s*\{(?:[^}"]|%s)*\})' % (_TEXT, _TEXT)
)
_INNER: Final = re.compile(
    rb'("(?:%s)"\s*:\s*)(%s)'
    % ("|".join(name for names in INNER.values() for name in names).encode(), _TEXT)
)

# A body with none of these has no credentials, so that it need not be searched.
_SIGNS: Final = tuple(
    name.encode()
    for name in ("secret", "password", "_key", "token", "header_value", "service_account")
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
        if not any(sign in content for sign in _SIGNS):
            return content
        content = _BLOCK.sub(
            lambda block: _INNER.sub(lambda match: self._named(match, found_names), block[0]),
            content,
        )
        content = _MEMBER.sub(lambda match: self._named(match, found_names), content)
        content = _MEMBER_WITHIN.sub(lambda match: self._named_within(match, found_names), content)
        content = _BYTES_MEMBER.sub(lambda match: self._named_bytes(match, found_names), content)
        if not any(name + b"=" in content for name in FORM_MEMBERS):
            return content
        return FORM.sub(
            lambda match: (
                match[1] + b"=" + self.name(match[2].decode("latin-1"), found_names).encode()
            ),
            content,
        )

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
        if isinstance(value, list | tuple):
            return [self.value(item, found_names, members) for item in value]
        if not isinstance(value, dict):
            return value
        tokens_of_receiver = {"token"} if PORTAL_LINK.isdisjoint(value) else set()
        credential_members = {*MEMBERS, *members} - tokens_of_receiver
        return {
            name: self._member(name, item, found_names, name in credential_members)
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

    def _member(
        self, name: str, value: Any, found_names: dict[str, str], is_credential: bool
    ) -> Any:
        if is_credential and isinstance(value, str):
            return self.name(value, found_names)
        if is_credential and isinstance(value, list | tuple) and (known := byte_array(value)):
            return list(self.name(_text_of(known), found_names).encode())
        if name in LISTED and isinstance(value, list | tuple):
            inner = INNER.get(name, ())
            return [
                self.name(item, found_names)
                if isinstance(item, str)
                else self.value(item, found_names, inner)
                for item in value
            ]
        return self.value(value, found_names, INNER.get(name, ()))

    def _named(self, match: re.Match[bytes], found_names: dict[str, str]) -> bytes:
        try:
            text = json.loads(match[2])
        except ValueError:
            text = match[2][1:-1].decode("utf-8", "replace")
        name = self.name(text, found_names)
        return match[0] if name == text else match[1] + b'"' + name.encode() + b'"'

    def _named_within(self, match: re.Match[bytes], found_names: dict[str, str]) -> bytes:
        try:
            text = json.loads(json.loads(b'"' + match[2] + b'"').join(('"', '"')))
        except ValueError:
            text = match[2].decode("utf-8", "replace")
        name = self.name(text, found_names)
        return match[0] if name == text else match[1] + b'\\"' + name.encode() + b'\\"'

    def _named_bytes(self, match: re.Match[bytes], found_names: dict[str, str]) -> bytes:
        try:
            known = byte_array(json.loads(match[2]))
        except ValueError:
            known = None
        if known is None:
            return match[0]
        name = self.name(_text_of(known), found_names)
        return match[1] + array_like(match[2], name.encode())


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
