"""Whether a request asks a receiver for what a URL says, however a client library spells it."""

import posixpath
from collections import Counter
from urllib.parse import parse_qsl, unquote, urlsplit


def asks_for(target: str, url: str, token: str) -> bool:
    """Whether a request target is that of a URL, as the receiver reads it behind the token.

    Libraries write escapes anew, remove dot segments and merge slashes; parameters may be added
    (RFC 6749, section 3.2, of token URLs). A proxy before the receiver may have altered what stands
    before the token.
    """
    path, parameters = _read(url, token)
    asked_path, asked_parameters = _read(target, token)
    return asked_path == path and not parameters - asked_parameters


def has_more(url: str, token: str) -> bool:
    """Whether a URL has a path or a query behind the token."""
    return bool(unquote(url).partition(token)[2])


def _read(url: str, token: str) -> tuple[str, Counter[tuple[str, str]]]:
    """The decoded path behind the token, and the parameters."""
    parts = urlsplit(url)
    rest = unquote(parts.path).partition(token)[2]
    path = posixpath.normpath(f"/{rest.lstrip('/')}") + "/" * rest.endswith("/")
    return path, Counter(parse_qsl(parts.query, keep_blank_values=True))
