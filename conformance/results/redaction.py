"""Masks API keys and credentials in everything that is written.

A key, or the value of a header that target.yaml adds, is replaced by the name of an environment
variable, so that anybody who has it can repeat a request from a report. Any other credential is
replaced by a name that is the same throughout the run (`credential_names.py`).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Self

from hookproof.conformance.model.evidence import Evidence, Exchange, NotObserved, Observation
from hookproof.conformance.observations.credential_names import (
    Credentials,
    is_distinctive,
    replace_words,
)
from hookproof.conformance.observations.delivery.arrival.broadcasts import FORM
from hookproof.conformance.observations.delivery.security.credentials import KEY_HEADER
from hookproof.conformance.observations.destinations import CONTENT_TYPE
from hookproof.conformance.results.records.evidence_records import own_fields, own_values
from hookproof.conformance.target.client import Key
from hookproof.conformance.target.definition import Project, Target
from hookproof.process.encoded_credentials import (
    EncodedCredentials,
    encodings,
    is_unmistakable,
    spellings,
)
from hookproof.process.terminal_text import without_passwords
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.answers import answers_of
from hookproof.spec.dialect.model import Dialect

VARIABLE: Final = "HOOKPROOF_API_KEY"
# What the variables begin with that stand for the values of the target's further headers.
HEADER_VARIABLE: Final = "HOOKPROOF_HEADER_"
HIDDEN: Final = "(masked)"
# Encodings of a credential with fewer different characters may be those of anything.
VARIED: Final = 5
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


class Found:
    """Replaces the credentials that one observation shows, and all that are `known` elsewhere."""

    def __init__(self, names: Mapping[str, str], known: EncodedCredentials) -> None:
        self._known = known
        # Those that are too short to be looked for everywhere.
        self._names = {text: name for text, name in names.items() if not is_unmistakable(text)}
        self._replacer = _all_of(self._names)
        self._encoded = Replacer(
            {
                encoded: name
                for text, name in self._names.items()
                if is_distinctive(text) and len(set(text)) >= VARIED
                for encoded in encodings(text)
            }
        )

    def text(self, text: str) -> str:
        return self._known.text(self._encoded.text(self._replacer.text(text)))

    def value(self, value: Any) -> Any:
        return self._known.value(self._encoded.value(self._replacer.value(value)))

    def content(self, content: bytes) -> bytes:
        """A body, in which only whole words are replaced by names."""
        words = replace_words(content, self._names) if self._names else content
        return self._known.content(self._encoded.content(words))

    def exchange(self, exchange: Exchange) -> Exchange:
        sent, problem = exchange.request_body, exchange.problem
        return replace(
            exchange,
            url=self.text(exchange.url),
            request_headers=self._headers(exchange.request_headers),
            request_body=None if sent is None else self.content(sent),
            response_headers=self._headers(exchange.response_headers),
            response_body=self.content(exchange.response_body),
            problem=None if problem is None else self.text(problem),
        )

    def delivery(self, delivery: ReceivedDelivery) -> ReceivedDelivery:
        return replace(
            delivery,
            headers=self._headers(delivery.headers),
            body=self._known.content(self._encoded.content(self._replacer.content(delivery.body))),
            path=self.text(delivery.path),
        )

    def _headers(self, headers: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        return tuple((name, self.text(value)) for name, value in headers)


class Mask:
    """Masks the keys of a run's projects, and the credentials that evidence shows.

    Without projects there are no keys to mask. What is masked already stays as it is. `headers` are
    those that target.yaml adds to each request: their values may be credentials, too.
    """

    def __init__(
        self,
        projects: Sequence[Project],
        dialect: Dialect,
        headers: Sequence[tuple[str, str]] = (),
    ):
        self._format = dialect.authentication.key_format
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
        self._further_headers = {name.lower(): f"${header_variable(name)}" for name, _ in headers}
        # As it is, and what stands behind the name of a scheme.
        self._known.add(
            (part, self._further_headers[name.lower()])
            for name, value in headers
            for part in (value, *value.split())
        )
        self._credentials = Credentials(unmasked=(dialect.representation.mask,))
        self._words = frozenset(_words(dialect))
        self._known_count, self._known_replacer = 0, Replacer({})

    @classmethod
    def of(cls, target: Target, dialect: Dialect) -> Self:
        """What masks the keys of this target and the headers that are added for it."""
        return cls(target.projects, dialect, target.connection.headers)

    def text(self, text: str) -> str:
        """A text without keys, passwords of URLs, and the credentials found so far."""
        if not text:  # as most reasons are, and to look for all that was found takes long
            return text
        known = self._credentials.known
        if len(known) != self._known_count:
            self._known_count = len(known)
            self._known_replacer = _all_of(self._without_words(known))
        masked = self._known.text(self._known_replacer.text(self._keys.text(text)))
        return without_passwords(masked)

    def quotation(self, text: str) -> str:
        """The same of a text that quotes an answer, in which credentials are found as in a body."""
        if not text:
            return text
        found = self._credentials.content(text.encode("utf-8", "surrogatepass"), {})
        return self.text(found.decode("utf-8", "surrogatepass"))

    def evidence(self, evidence: Evidence) -> Evidence:
        """An observation without keys and credentials."""
        found_names: dict[str, str] = {}
        facts = {}
        if isinstance(evidence, Observation):
            facts = self._credentials.value(self._keys.value(own_fields(evidence)), found_names)
        exchanged = [self._exchange(exchange, found_names) for exchange in evidence.exchanges]
        arrived = [self._delivery(delivery, found_names) for delivery in evidence.deliveries]
        found = self._found(found_names)
        name = found.text(self._keys.text(evidence.name))
        exchanges = tuple(map(found.exchange, exchanged))
        deliveries = tuple(map(found.delivery, arrived))
        if isinstance(evidence, NotObserved):
            return replace(
                evidence,
                name=name,
                exchanges=exchanges,
                deliveries=deliveries,
                reason=self.quotation(evidence.reason),
            )
        own = own_values(type(evidence), found.value(facts))
        return replace(evidence, name=name, exchanges=exchanges, deliveries=deliveries, **own)

    def unmask(self, content: bytes) -> bytes:
        """A masked request body as it was, to be sent once more."""
        return self._credentials.unmask(content)

    def exchange(self, exchange: Exchange) -> Exchange:
        """An exchange without keys and credentials."""
        found_names: dict[str, str] = {}
        masked = self._exchange(exchange, found_names)
        return self._found(found_names).exchange(masked)

    def _found(self, found_names: Mapping[str, str]) -> Found:
        """What replaces these credentials, which are looked for in all later evidence too."""
        found_names = self._without_words(found_names)
        self._known.add(found_names.items())
        return Found(found_names, self._known)

    def _without_words(self, names: Mapping[str, str]) -> Mapping[str, str]:
        """The credentials that are masked elsewhere than in the member that holds them."""
        return {text: name for text, name in names.items() if text not in self._words}

    def _exchange(self, exchange: Exchange, found_names: dict[str, str]) -> Exchange:
        sent = exchange.request_body
        return replace(
            exchange,
            url=self._keys.text(exchange.url),
            request_headers=tuple(self._request_headers(exchange)),
            request_body=None
            if sent is None
            else self._credentials.content(self._keys.content(sent), found_names),
            response_headers=tuple(
                (name, self._keys.text(value)) for name, value in exchange.response_headers
            ),
            response_body=self._credentials.content(
                self._keys.content(exchange.response_body), found_names
            ),
            problem=None if exchange.problem is None else self._keys.text(exchange.problem),
        )

    def _delivery(
        self, delivery: ReceivedDelivery, found_names: dict[str, str]
    ) -> ReceivedDelivery:
        headers = ((name, self._keys.text(value)) for name, value in delivery.headers)
        return replace(
            delivery,
            headers=tuple(
                (
                    name,
                    self._credentials.header(value, found_names)
                    if name.lower() == "authorization"
                    else value,
                )
                for name, value in headers
            ),
            body=self._credentials.content(self._keys.content(delivery.body), found_names),
            path=self._keys.text(delivery.path),
        )

    def _request_headers(self, exchange: Exchange) -> Iterator[tuple[str, str]]:
        for name, value in exchange.request_headers:
            if name.lower() in self._further_headers:
                yield name, self._further_headers[name.lower()]
                continue
            credential = name.lower() == "authorization" and bool(value) and bool(self._variables)
            yield name, self._authorization(exchange) if credential else self._keys.text(value)

    def _authorization(self, exchange: Exchange) -> str:
        variable = self._variables.get(exchange.project, VARIABLE)
        match exchange.key:
            case Key.OWN | Key.FOREIGN:
                return self._format.replace("{key}", f"${variable}")
            case Key.TRUNCATED:
                return self._format.replace("{key}", f"${{{variable}%?}}")
            case Key.BARE:
                return f"${variable}"
            case _:
                return HIDDEN


def _words(dialect: Dialect) -> Iterator[str]:
    """What answers and deliveries say anyway, whatever stands where a credential belongs."""
    yield from (CONTENT_TYPE, FORM, KEY_HEADER)
    for _, answer in answers_of(dialect):
        for value in answer.allowed if isinstance(answer, Answer) else (answer,):
            if isinstance(value, str):
                yield value


def header_variable(name: str) -> str:
    """The environment variable that stands for the value of a header."""
    return HEADER_VARIABLE + re.sub("[^A-Z0-9]", "_", name.upper())


def _all_of(named: Mapping[str, str]) -> Replacer:
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
