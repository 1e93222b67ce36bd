"""Where credentials stand in a JSON text, valid or not: whatever is below the members that hold
them in the document (sections 2.3 to 2.7), in whatever shape.

A target may write the names of members in its own way: `Secret`, `clientSecret`. So names are
compared in lower case and without underscores.
"""

import re
from collections.abc import Iterator
from typing import Final

# Members below which everything is a credential; the last two are fields of our own observations.
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
# A list of secrets, each in its member `value` (section 2.4).
SECRETS: Final = "secrets"
VALUE: Final = "value"
# A JSON Web Key (section 2.5) and its public members (RFC 7517, section 4; RFC 7518, section 6).
SIGNING_KEY: Final = "signing_key"
PUBLIC: Final = frozenset(
    (
        *("kty", "use", "key_ops", "alg", "kid", "crv", "x", "y", "n", "e"),
        *("x5u", "x5c", "x5t", "x5t#S256"),
    )
)

NAMES: Final = "|".join((*MEMBERS, SECRETS, SIGNING_KEY)).replace("_", "_?").encode()
TEXT: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'

# So many names above a value are looked at; a hostile text may have millions.
DEEPEST: Final = 32


def plain_name(name: str) -> str:
    """The name of a member in the form in which names are compared."""
    return name.lower().replace("_", "")


PLAIN_MEMBERS: Final = frozenset(map(plain_name, MEMBERS))
PLAIN_SIGNING_KEY: Final = plain_name(SIGNING_KEY)
PLAIN_PUBLIC: Final = frozenset(map(plain_name, PUBLIC))

# A content with none of these has no such member.
_SIGNS: Final = (
    *(b"secret", b"password", b"_key", b"token", b"header_value", b"service_account"),
    *(b"clientkey", b"authkey", b"signingkey", b"accesskey", b"headervalue", b"serviceaccount"),
)
_MEMBER: Final = re.compile(rb'"(%s)"\s*:\s*' % NAMES)
# The text of a body that was cut off has no end.
_TEXT: Final = re.compile(TEXT + rb"?", re.DOTALL)
NUMBER: Final = re.compile(rb"-?\d[\d.eE+-]*+")
_NUMBERS: Final = re.compile(rb"\[\s*\d[\d,\s]*+\]")
_TOKEN: Final = re.compile(rb"(%s?)(\s*:)?|[\[\]{}]|%s" % (TEXT, NUMBER.pattern), re.DOTALL)
# Secrets as in the document: nothing but objects, with nothing within them.
_PLAIN_SECRETS: Final = re.compile(
    rb'\[\s*(?:\{(?:[^\[\]{}"]|%s)*+\}[\s,]*+)*+\]' % TEXT, re.DOTALL
)
_VALUE: Final = re.compile(
    rb'"(?:%s|%s)"\s*:\s*(%s|%s)'
    % (VALUE.encode(), "|".join(MEMBERS).replace("_", "_?").encode(), TEXT, NUMBER.pattern),
    re.DOTALL,
)

# The name of a member may be written with escapes: `s\u0065cret`.
_ESCAPED_LETTER: Final = re.compile(rb"\\u00([46][1-9a-fA-F]|[57][0-9aA]|5[fF])")
_ESCAPED_NAME: Final = re.compile(rb'"((?:\w|%s)++)"(?=\s*:)' % _ESCAPED_LETTER.pattern)

Place = tuple[int, int]


def may_have_credentials(content: bytes) -> bool:
    lowered = content.lower()
    return any(sign in lowered for sign in _SIGNS)


def with_plain_names(content: bytes) -> bytes:
    """A JSON text in which no name of a member that holds credentials has escapes."""
    if b"\\u00" not in content or not _ESCAPED_LETTER.search(content):
        return content
    return _ESCAPED_NAME.sub(_plain_name, content)


def credential_places(content: bytes) -> Iterator[Place]:
    """Where the texts, numbers and arrays of bytes are that are credentials, from left to right.

    What it searches is in lower case, which changes no place.
    """
    content = content.lower()
    end = 0
    for member in _MEMBER.finditer(content):
        begin = member.end()
        if member.start() < end:  # within a value that was searched
            continue
        first = content[begin : begin + 1]
        if first in {b"[", b"{"}:
            places, end = _below(plain_name(member[1].decode()), content, begin)
            yield from places
        elif value := (_TEXT if first == b'"' else NUMBER).match(content, begin):
            end = value.end()
            yield value.span()


def _below(member: str, content: bytes, begin: int) -> tuple[list[Place], int]:
    """Where the credentials are in the value of a member, and where it ends."""
    plain = _PLAIN_SECRETS.match(content, begin) if member == SECRETS else None
    if plain is not None:
        values = _VALUE.finditer(content, begin, plain.end())
        return [value.span(1) for value in values], plain.end()
    leaves, end = _leaves(content, begin)
    return [place for place, names in leaves if _is_credential(member, names)], end


def _is_credential(member: str, names: tuple[str, ...]) -> bool:
    """Whether a value below a member is a credential; `names` are the members on the way."""
    if member in PLAIN_MEMBERS or not names or not PLAIN_MEMBERS.isdisjoint(names):
        return True
    return VALUE in names if member == SECRETS else names[0] not in PLAIN_PUBLIC


def _leaves(content: bytes, begin: int) -> tuple[list[tuple[Place, tuple[str, ...]]], int]:
    """The single values and arrays of bytes in a JSON value, each with the names above it, and
    where the value ends. One that was cut off lasts until the end of the content.
    """
    leaves: list[tuple[Place, tuple[str, ...]]] = []
    names: list[str] = []  # of the members under way, from the outside
    open_values: list[bytes] = []
    at = begin
    while token := _TOKEN.search(content, at):
        at = token.end()
        sign = token[0]
        if sign == b"[" and (numbers := _NUMBERS.match(content, token.start())):
            at = numbers.end()
            leaves.append((numbers.span(), tuple(names[:DEEPEST])))
        elif sign in {b"[", b"{"}:
            open_values.append(sign)
            names += [""] if sign == b"{" else []
        elif sign in {b"]", b"}"}:
            if open_values.pop() == b"{":
                names.pop()
        elif token[2] is not None and names:
            names[-1] = plain_name(token[1][1:-1].decode("utf-8", "replace"))
        else:
            end = token.end(1) if token[1] else at
            leaves.append(((token.start(), end), tuple(names[:DEEPEST])))
        if not open_values:
            break
    return leaves, at


def _plain_name(match: re.Match[bytes]) -> bytes:
    name = _ESCAPED_LETTER.sub(lambda letter: bytes.fromhex(letter[1].decode()), match[1])
    is_known = re.fullmatch(NAMES, name.lower()) or name.lower() == VALUE.encode()
    return b'"' + name + b'"' if is_known else match[0]
