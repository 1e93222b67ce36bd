"""Keeps API keys and credentials out of everything that is written down.

A key is replaced by the name of the environment variable that would hold it, so that a request
shown in a report can be sent again by whoever has the key; any other credential by a name that
stands for it throughout (`credentials.py`).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from hookproof.conformance.model.evidence import Evidence, Exchange, NotObserved, Observation
from hookproof.conformance.observations.credential_names import (
    Credentials,
    is_telling,
    spellings,
    without_words,
)
from hookproof.conformance.results.evidence_records import own_fields, own_values
from hookproof.conformance.target.client import Key
from hookproof.conformance.target.definition import Project
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect

VARIABLE: Final = "HOOKPROOF_API_KEY"
HIDDEN: Final = "(masked)"
# Keys of fewer characters are masked in Authorization alone: anywhere else they may be part of any
# word.
SHORTEST: Final = 4


class Replacer:
    """Puts texts in place of others, the longest first: one may begin with another."""

    def __init__(self, parts: Mapping[str, str]):
        self._parts = tuple(sorted(parts.items(), key=lambda item: (-len(item[0]), item)))
        # Hardly any text holds a key. Where the keys begin alike, one look tells, however many
        # projects there are.
        self._sign = _common_beginning(parts)

    def text(self, text: str) -> str:
        """A text without them."""
        if self._sign not in text:
            return text
        for part, name in self._parts:
            text = text.replace(part, name)
        return text

    def content(self, content: bytes) -> bytes:
        """Bytes without them."""
        if self._sign.encode() not in content:
            return content
        for part, name in self._parts:
            content = content.replace(part.encode(), name.encode())
        return content

    def value(self, value: Any) -> Any:
        """A JSON value without them."""
        if isinstance(value, dict):
            return {self.text(name): self.value(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(one) for one in value]
        return self.text(value) if isinstance(value, str) else value


class Mask:
    """Masks the keys of a run's projects, and the credentials that evidence shows.

    Without projects it knows no key; what is masked already stays as it is.
    """

    def __init__(self, projects: Sequence[Project], dialect: Dialect):
        self._format = dialect.authentication.key_format
        self._variables = {
            p.id: VARIABLE if i == 0 else f"{VARIABLE}_{i + 1}" for i, p in enumerate(projects)
        }
        # The truncated key of an access experiment is masked too.
        self._keys = Replacer(
            {
                part: f"${self._variables[project.id]}"
                for project in projects
                for part in (project.api_key, project.api_key[:-1])
                if len(part) >= SHORTEST
            }
        )
        self._credentials = Credentials(left=(dialect.representation.mask,))
        self._many, self._telling = 0, Replacer({})

    def text(self, text: str) -> str:
        """A text without keys, and without the credentials met so far."""
        known = self._credentials.known
        if len(known) != self._many:
            self._many, self._telling = len(known), _all_of(known)
        return self._telling.text(self._keys.text(text))

    def evidence(self, evidence: Evidence) -> Evidence:
        """An observation without keys and credentials."""
        met: dict[str, str] = {}
        facts = {}
        if isinstance(evidence, Observation):
            facts = self._credentials.value(self._keys.value(own_fields(evidence)), met)
        called = [self._exchange(exchange, met) for exchange in evidence.exchanges]
        arrived = [self._delivery(delivery, met) for delivery in evidence.deliveries]
        telling = _all_of(met)
        name = telling.text(self._keys.text(evidence.name))
        exchanges = tuple(_exchange_without(exchange, telling, met) for exchange in called)
        deliveries = tuple(_delivery_without(delivery, telling, met) for delivery in arrived)
        if isinstance(evidence, NotObserved):
            return replace(
                evidence,
                name=name,
                exchanges=exchanges,
                deliveries=deliveries,
                reason=self.text(evidence.reason),
            )
        own = own_values(type(evidence), telling.value(facts))
        return replace(evidence, name=name, exchanges=exchanges, deliveries=deliveries, **own)

    def unmask(self, content: bytes) -> bytes:
        """A masked request body as it was, to be sent once more."""
        return self._credentials.unmask(content)

    def exchange(self, exchange: Exchange) -> Exchange:
        """An exchange without keys and credentials."""
        met: dict[str, str] = {}
        return _exchange_without(self._exchange(exchange, met), _all_of(met), met)

    def _exchange(self, exchange: Exchange, met: dict[str, str]) -> Exchange:
        sent = exchange.request_body
        return replace(
            exchange,
            url=self._keys.text(exchange.url),
            request_headers=tuple(self._request_headers(exchange)),
            request_body=None
            if sent is None
            else self._credentials.content(self._keys.content(sent), met),
            response_headers=tuple(
                (name, self._keys.text(value)) for name, value in exchange.response_headers
            ),
            response_body=self._credentials.content(
                self._keys.content(exchange.response_body), met
            ),
            problem=None if exchange.problem is None else self._keys.text(exchange.problem),
        )

    def _delivery(self, delivery: ReceivedDelivery, met: dict[str, str]) -> ReceivedDelivery:
        headers = ((name, self._keys.text(value)) for name, value in delivery.headers)
        return replace(
            delivery,
            headers=tuple(
                (
                    name,
                    self._credentials.header(value, met)
                    if name.lower() == "authorization"
                    else value,
                )
                for name, value in headers
            ),
            body=self._credentials.content(self._keys.content(delivery.body), met),
            path=self._keys.text(delivery.path),
        )

    def _request_headers(self, exchange: Exchange) -> Iterator[tuple[str, str]]:
        for name, value in exchange.request_headers:
            credential = name.lower() == "authorization" and bool(value) and bool(self._variables)
            yield name, self._authorization(exchange) if credential else self._keys.text(value)

    def _authorization(self, exchange: Exchange) -> str:
        variable = self._variables.get(exchange.project, VARIABLE)
        match exchange.key:
            case Key.OWN:
                return self._format.replace("{key}", f"${variable}")
            case Key.TRUNCATED:
                return self._format.replace("{key}", f"${{{variable}%?}}")
            case Key.BARE:
                return f"${variable}"
            case _:
                return HIDDEN


def _all_of(named: Mapping[str, str]) -> Replacer:
    """Puts the names of these credentials in their places, however they are spelled."""
    return Replacer(
        {way: name for text, name in named.items() if is_telling(text) for way in spellings(text)}
    )


def _exchange_without(exchange: Exchange, telling: Replacer, met: Mapping[str, str]) -> Exchange:
    if not met:
        return exchange
    sent = exchange.request_body
    return replace(
        exchange,
        url=telling.text(exchange.url),
        request_headers=tuple(
            (name, telling.text(value)) for name, value in exchange.request_headers
        ),
        request_body=None if sent is None else without_words(sent, met),
        response_headers=tuple(
            (name, telling.text(value)) for name, value in exchange.response_headers
        ),
        response_body=without_words(exchange.response_body, met),
    )


def _delivery_without(
    delivery: ReceivedDelivery, telling: Replacer, met: Mapping[str, str]
) -> ReceivedDelivery:
    if not met:
        return delivery
    return replace(
        delivery,
        headers=tuple((name, telling.text(value)) for name, value in delivery.headers),
        body=telling.content(delivery.body),
        path=telling.text(delivery.path),
    )


def _common_beginning(texts: Collection[str]) -> str:
    """What all these texts begin with."""
    first, last = min(texts, default=""), max(texts, default="")
    alike = (
        place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]
    )
    return first[: next(alike, min(len(first), len(last)))]
