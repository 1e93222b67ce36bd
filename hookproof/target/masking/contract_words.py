"""The words of the API: what requests and answers say anyway, whatever keys and secrets are.

A key that is one of them is masked only where a field says that a credential stands there.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.answers import answers_of
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.openapi_document import openapi_document

# Of JSON (RFC 8259), URLs and HTTP (RFC 9110), and of the document in its prose.
_PROTOCOL: Final = (
    *("true", "false", "null", "http", "https", "localhost", "utf-8", "charset", "keep-alive"),
    *("authorization", "bearer", "basic", "digest", "host", "accept", "server", "date", "etag"),
    *("connection", "close", "chunked", "gzip", "identity", "content-type", "content-length"),
    *("transfer-encoding", "application", "application/json", "text/plain", "text/html"),
    *("application/x-www-form-urlencoded", "application/problem+json", "form", "text"),
    *("get", "put", "post", "patch", "delete", "head", "options", "created", "accepted"),
    *("webhook", "service", "resource", "key", "keys", "value", "values", "test.event"),
)
# What an example says is nothing that the API says.
_EXAMPLES: Final = frozenset({"example", "examples"})
_WORD: Final = re.compile(r"[A-Za-z]+")
_PARTS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def words_of(dialect: Dialect) -> frozenset[str]:
    """The words of the document and of this dialect, in lower case."""
    answers = {
        value.lower()
        for _, answer in answers_of(dialect)
        for value in (answer.allowed if isinstance(answer, Answer) else (answer,))
        if isinstance(value, str)
    }
    return _document_words() | answers


@cache
def _document_words() -> frozenset[str]:
    """Names, values and parts of paths, as they are and each word of which they consist."""
    document = openapi_document()
    named = {text for text in _texts(document) if " " not in text}
    words = {part for text in named for part in _PARTS.findall(text)}
    parts = {part for text in named for part in _WORD.findall(text)}
    return frozenset(map(str.lower, named | words | parts)) | frozenset(_PROTOCOL)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield str(name)
            if name not in _EXAMPLES:
                yield from _texts(member)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value
