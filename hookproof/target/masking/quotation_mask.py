"""Masks API keys and credentials in texts that quote what a target has said.

A key, or the value of a header that target.yaml adds, is replaced by the name of an environment
variable, so that anybody who has it can repeat a request from a report. Any other credential is
replaced by a name that is the same throughout the run (`credential_names.py`).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from hookproof.process.encoded_credentials import EncodedCredentials, spellings
from hookproof.process.terminal_text import without_passwords
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.answers import answers_of
from hookproof.spec.dialect.model import Dialect
from hookproof.target.hooks.provision import KeyedProject
from hookproof.target.masking.credential_names import Credentials, is_distinctive

VARIABLE: Final = "HOOKPROOF_API_KEY"
# What the variables begin with that stand for the values of the target's further headers.
HEADER_VARIABLE: Final = "HOOKPROOF_HEADER_"
# Keys of fewer characters are masked in Authorization only: elsewhere they may be part of any word.
SHORTEST: Final = 4


class Replacer:
    """Replaces texts by others, the longest first, since one may begin with another."""

    def __init__(self, parts: Mapping[str, str]):
        self._parts = tuple(sorted(parts.items(), key=lambda item: (-len(item[0]), item)))
        # Hardly any text holds a key. If the keys have a common prefix, one search tells.
        self._prefix = _common_prefix(parts)

    def text(self, text: str) -> str:
        if self._prefix not in text:
            return text
        for part, name in self._parts:
            text = text.replace(part, name)
        return text

    def content(self, content: bytes) -> bytes:
        if self._prefix.encode() not in content:
            return content
        for part, name in self._parts:
            content = content.replace(part.encode(), name.encode())
        return content

    def value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self.text(name): self.value(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return self.text(value) if isinstance(value, str) else value


class QuotationMask:
    """Masks the keys of a run's projects, and the credentials that were found so far, in texts.

    Without projects there are no keys to mask. What is masked already stays as it is. `headers` are
    those that target.yaml adds to each request: their values may be credentials, too. `words` are
    what is said anyway, whatever stands where a credential belongs.
    """

    def __init__(
        self,
        projects: Sequence[KeyedProject],
        dialect: Dialect,
        headers: Sequence[tuple[str, str]] = (),
        words: Collection[str] = (),
    ):
        self._variables = {
            p.id: VARIABLE if i == 0 else f"{VARIABLE}_{i + 1}" for i, p in enumerate(projects)
        }
        # The truncated key of an access experiment is masked too.
        variables = {
            part: f"${self._variables[project.id]}"
            for project in projects
            for part in (project.api_key, project.api_key[:-1])
            if len(part) >= SHORTEST
        }
        self._keys = Replacer(variables)
        self._known = EncodedCredentials()
        self._known.add(variables.items())
        # As it is, and what stands behind the name of a scheme.
        self._known.add(
            (part, f"${header_variable(name)}")
            for name, value in headers
            for part in (value, *value.split())
        )
        self._credentials = Credentials(unmasked=(dialect.representation.mask,))
        self._words = frozenset((*words, *_words_of(dialect)))
        self._known_count, self._known_replacer = 0, Replacer({})

    def text(self, text: str) -> str:
        """A text without keys, passwords of URLs, and the credentials found so far."""
        if not text:  # as most reasons are, and to look for all that was found takes long
            return text
        known = self._credentials.known
        if len(known) != self._known_count:
            self._known_count = len(known)
            self._known_replacer = all_of(self._without_words(known))
        masked = self._known.text(self._known_replacer.text(self._keys.text(text)))
        return without_passwords(masked)

    def quotation(self, text: str) -> str:
        """The same of a text that quotes an answer, in which credentials are found as in a body."""
        if not text:
            return text
        found = self._credentials.content(text.encode("utf-8", "surrogatepass"), {})
        return self.text(found.decode("utf-8", "surrogatepass"))

    def learn(self, content: bytes) -> None:
        """Look for the credentials of a body in all that is quoted from now on."""
        found_names: dict[str, str] = {}
        self._credentials.content(content, found_names)
        self._known.add(self._without_words(found_names).items())

    def _without_words(self, names: Mapping[str, str]) -> Mapping[str, str]:
        """The credentials that are masked elsewhere than in the member that holds them."""
        return {text: name for text, name in names.items() if text not in self._words}


def _words_of(dialect: Dialect) -> Iterator[str]:
    for _, answer in answers_of(dialect):
        for value in answer.allowed if isinstance(answer, Answer) else (answer,):
            if isinstance(value, str):
                yield value


def header_variable(name: str) -> str:
    """The environment variable that stands for the value of a header."""
    return HEADER_VARIABLE + re.sub("[^A-Z0-9]", "_", name.upper())


def all_of(named: Mapping[str, str]) -> Replacer:
    """A replacer of these credentials, in all spellings, by their names."""
    return Replacer(
        {
            way: name
            for text, name in named.items()
            if is_distinctive(text)
            for way in spellings(text)
        }
    )


def _common_prefix(texts: Collection[str]) -> str:
    """The longest common prefix of these texts."""
    first, last = min(texts, default=""), max(texts, default="")
    alike = (
        place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]
    )
    return first[: next(alike, min(len(first), len(last)))]
