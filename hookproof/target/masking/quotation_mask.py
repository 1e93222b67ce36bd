"""Masks API keys and credentials in texts that quote what a target has said.

A key, or the value of a header that target.yaml adds, is replaced by the name of an environment
variable, so that anybody who has it can repeat a request from a report. Any other credential is
replaced by a name that is the same throughout the run (`credential_names.py`).
"""

import re
import threading
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Any, Final

from hookproof.process.encoded_credentials import may_be_word
from hookproof.process.terminal_text import without_passwords
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.answers import answers_of
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.openapi_document import openapi_document
from hookproof.target.hooks.provision import KeyedProject
from hookproof.target.masking.credential_names import Credentials
from hookproof.target.masking.known_credentials import KnownCredentials, is_whole_value

# What requests and answers say anyway, whatever keys and secrets are: a key that is one of these
# words is masked only where a field says that a credential stands there. Of JSON (RFC 8259), URLs
# and HTTP (RFC 9110), and of the document in its prose.
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
    """Names, values and parts of paths, whole and split into their words."""
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


VARIABLE: Final = "HOOKPROOF_API_KEY"
# What the variables begin with that stand for the values of the target's further headers.
HEADER_VARIABLE: Final = "HOOKPROOF_HEADER_"
# How many projects a message names.
MOST_NAMED: Final = 3


class QuotationMask:
    """Masks the keys of a run's projects, and the credentials that were found so far, in texts.

    Without projects there are no keys to mask. What is masked already stays as it is. `headers` are
    those that target.yaml adds to each request: their values may be credentials, too. `words` are
    what is said anyway, whatever stands where a credential belongs. Thread-safe.
    """

    def __init__(
        self,
        projects: Sequence[KeyedProject],
        dialect: Dialect,
        headers: Sequence[tuple[str, str]] = (),
        words: Collection[str] = (),
    ):
        self._lock = threading.RLock()
        self._words = {*words_of(dialect), *map(str.lower, words)}
        self._known = KnownCredentials(self._words)
        self._credentials = Credentials(unmasked=(dialect.representation.mask,))
        self._variables: dict[str, str] = {}
        self.know(projects, headers)

    def know(
        self, projects: Sequence[KeyedProject], headers: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Mask the keys of these projects, and these headers, too."""
        with self._lock:
            self._words.update(project.id.lower() for project in projects)
            for project in projects:
                count = len(self._variables)
                variable = f"{VARIABLE}_{count + 1}" if count else VARIABLE
                name = f"${self._variables.setdefault(project.id, variable)}"
                self._credentials.give(project.api_key, name)
                self._known.add([(project.api_key, name)], given=True)
            # The truncated keys of an access experiment.
            self._known.add(
                (project.api_key[:-1], f"${self._variables[project.id]}") for project in projects
            )
            # As it is, and what stands behind the name of a scheme.
            self._known.add(
                (
                    (part, f"${header_variable(name)}")
                    for name, value in headers
                    for part in (value, *value.split())
                ),
                given=True,
            )

    def leave_answers_of(self, dialect: Dialect) -> None:
        """Let the answers of a dialect that was learned stay, unless one is a key."""
        with self._lock:
            self._words |= words_of(dialect)
            self._credentials.leave(dialect.representation.mask)

    def text(self, text: str) -> str:
        """A text without keys, passwords of URLs, and the credentials found so far."""
        if not text:  # as most reasons are
            return text
        with self._lock:
            self._look_for_new()
            return without_passwords(self._known.text(text))

    def quotation(self, text: str) -> str:
        """The same of a text that quotes an answer, in which credentials are found as in a body."""
        if not text:
            return text
        found = self._credentials.content(text.encode("utf-8", "surrogatepass"))
        return self.text(found.decode("utf-8", "surrogatepass"))

    def learn(self, content: bytes) -> None:
        """Look for the credentials of a body in all that is quoted from now on."""
        self._credentials.look_through(content)

    def _look_for_new(self) -> None:
        self._known.add(self._credentials.new())


def plain_keys(projects: Sequence[KeyedProject], dialect: Dialect) -> str:
    """A note on keys that may be ordinary words, so that they are not masked everywhere, or ""."""
    words = words_of(dialect)
    plain = [
        project.id
        for project in projects
        if project.api_key.lower() in words
        or not is_whole_value(project.api_key)
        or may_be_word(project.api_key)
    ]
    if not plain:
        return ""
    named = ", ".join(plain[:MOST_NAMED]) + (", ..." if len(plain) > MOST_NAMED else "")
    return (
        f"the API key of the project {named} is a word, or as short as one: it is masked where a"
        " credential belongs, and may be shown elsewhere"
    )


def header_variable(name: str) -> str:
    """The environment variable that stands for the value of a header."""
    return HEADER_VARIABLE + re.sub("[^A-Z0-9]", "_", name.upper())
