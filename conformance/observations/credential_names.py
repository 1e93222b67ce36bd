"""Finds the credentials that requests sent and answers showed, and gives each a name that stands
for it: `secret#1`.

They are known by the members that hold them (sections 2.3 to 2.7), in any JSON text, whole or
broken. The same credential has the same name throughout a run, so that evidence still shows which
were equal. What is empty, what a target has masked itself, and what stands for a credential already
are left alone.
"""

import base64
import json
import re
import threading
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

# Members whose texts are credentials wherever they stand; the last two are facts of our own
# experiments.
MEMBERS: Final = (
    *(
        "secret",
        "client_secret",
        "password",
        "header_value",
        "client_key",
        "secret_key",
        "auth_key",
        "token",
    ),
    *("old_secret", "new_secret"),
)

# Members beside which `token` is a portal link's, and no token of the receiver.
PORTAL_LINK: Final = frozenset({"auth_key", "auth_type"})

# Members that are credentials within these (sections 2.4 and 2.5).
INNER: Final = {"secrets": ("value",), "signing_key": ("d", "p", "q", "dp", "dq", "qi")}

FORM: Final = re.compile(rb"(?:^|(?<=&))(client_secret|client_assertion|password)=([^&\s]+)")
# Fields of observations that hold credentials in a list: access tokens that the receiver's token
# server issued, secrets that signed.
LISTED: Final = frozenset({"issued", "secrets", "known_secrets", "in_order", "given"})

NAME: Final = re.compile(r"secret#[0-9]+")
_NAME_IN_BODY: Final = re.compile(NAME.pattern.encode())
LONG: Final = 8
# In characters. A shorter text may be a part of any word, and is masked in its own place alone; so
# is a text without a digit that is not as long as the second.
TELLING: Final = 20

_TEXT: Final = rb'"(?:[^"\\]|\\.)*"'
_MEMBER: Final = re.compile(rb'("(?:%s)"\s*:\s*)(%s)' % ("|".join(MEMBERS).encode(), _TEXT))
_BLOCK: Final = re.compile(
    rb'"(?:secrets"\s*:\s*\[(?:[^\]"]|%s)*\]|signing_key"\s*:\s*\{(?:[^}"]|%s)*\})' % (_TEXT, _TEXT)
)
_INNER: Final = re.compile(
    rb'("(?:%s)"\s*:\s*)(%s)'
    % ("|".join(name for names in INNER.values() for name in names).encode(), _TEXT)
)
_SIGNS: Final = tuple(
    name.encode() for name in ("secret", "password", "_key", "token", "header_value")
)
_RUN: Final = re.compile(rb"[A-Za-z0-9_\-+/=]{8,}")
_AUTHORIZATION: Final = re.compile(r"(\S+ +)?(.+)")


def is_name(text: str) -> bool:
    """Whether a text stands for a credential that was masked."""
    return NAME.fullmatch(text) is not None


class Credentials:
    """The names of a run's credentials, in the order in which they were met; may be used from any
    thread.

    `left` are texts that a target shows in place of credentials. Each method adds what it meets to
    `met`.
    """

    def __init__(self, left: Collection[str] = ()):
        self._left = frozenset(left)
        self._names: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def known(self) -> Mapping[str, str]:
        """The name of every credential met so far."""
        with self._lock:
            return dict(self._names)

    def content(self, content: bytes, met: dict[str, str]) -> bytes:
        """A body with names in place of the credentials in its JSON or form members."""
        if not any(sign in content for sign in _SIGNS):
            return content
        content = _BLOCK.sub(
            lambda block: _INNER.sub(lambda found: self._named(found, met), block[0]), content
        )
        content = _MEMBER.sub(lambda found: self._named(found, met), content)
        return FORM.sub(
            lambda found: found[1] + b"=" + self.name(found[2].decode("latin-1"), met).encode(),
            content,
        )

    def unmask(self, content: bytes) -> bytes:
        """A JSON body with the credentials in place of their names, to be sent once more."""
        known = {
            name.encode(): json.dumps(text)[1:-1].encode() for text, name in self.known.items()
        }
        return _NAME_IN_BODY.sub(lambda found: known.get(found[0], found[0]), content)

    def value(self, value: Any, met: dict[str, str], members: Collection[str] = ()) -> Any:
        """The same for a JSON value; `members` are further names of credentials within it."""
        if isinstance(value, list | tuple):
            return [self.value(one, met, members) for one in value]
        if not isinstance(value, dict):
            return value
        of_receiver = {"token"} if PORTAL_LINK.isdisjoint(value) else set()
        secret = {*MEMBERS, *members} - of_receiver
        return {name: self._member(name, one, met, name in secret) for name, one in value.items()}

    def header(self, value: str, met: dict[str, str]) -> str:
        """The value of an Authorization header that a target sent, with a name for the credential.

        Of Basic credentials (RFC 7617) the user name stays: `Basic user:secret#1`, not encoded.
        """
        scheme, _, encoded = value.partition(" ")
        if is_name(encoded.rpartition(":")[2]):
            return value
        user, colon, password = _decoded(encoded).partition(":")
        if scheme.lower() == "basic" and colon:
            return f"{scheme} {user}:{self.name(password, met)}"
        return _AUTHORIZATION.sub(
            lambda found: (found[1] or "") + self.name(found[2], met), value, count=1
        )

    def name(self, text: str, met: dict[str, str]) -> str:
        """What stands for a credential."""
        if (
            not any(map(str.isalnum, text))
            or text in self._left
            or is_name(text)
            or text.startswith("$HOOKPROOF")
        ):
            return text
        with self._lock:
            met[text] = self._names.setdefault(text, f"secret#{len(self._names) + 1}")
        return met[text]

    def _member(self, name: str, value: Any, met: dict[str, str], secret: bool) -> Any:
        if secret and isinstance(value, str):
            return self.name(value, met)
        if name in LISTED and isinstance(value, list | tuple):
            inner = INNER.get(name, ())
            return [
                self.name(one, met) if isinstance(one, str) else self.value(one, met, inner)
                for one in value
            ]
        return self.value(value, met, INNER.get(name, ()))

    def _named(self, found: re.Match[bytes], met: dict[str, str]) -> bytes:
        try:
            text = json.loads(found[2])
        except ValueError:
            text = found[2][1:-1].decode("utf-8", "replace")
        name = self.name(text, met)
        return found[0] if name == text else found[1] + b'"' + name.encode() + b'"'


def is_telling(text: str) -> bool:
    """Whether a credential is no part of ordinary words, so that it can be looked for anywhere."""
    return len(text) >= LONG and (len(text) >= TELLING or any(map(str.isdigit, text)))


def spellings(text: str) -> Iterator[str]:
    """The ways in which a credential may be spelled: as it is, in JSON, in a URL."""
    yield from dict.fromkeys((text, json.dumps(text)[1:-1], quote(text, safe="")))


def without_words(content: bytes, named: Mapping[str, str]) -> bytes:
    """A body in which each of these credentials that stands as a word of its own has its name
    instead.

    One look is enough however many there are: a page of a list may show hundreds.
    """
    words = {text.encode(): name.encode() for text, name in named.items()}

    def swapped(run: re.Match[bytes]) -> bytes:
        whole = words.get(run[0])
        return (
            whole
            if whole is not None
            else b"".join(words.get(p, p) for p in re.split(rb"([/=])", run[0]))
        )

    return _RUN.sub(swapped, content) if words else content


def _decoded(text: str) -> str:
    """What base64 stands for, or nothing if it is not base64 of UTF-8."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except ValueError:
        return ""
