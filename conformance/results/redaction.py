"""Keeps API keys and credentials out of everything that is written down.

A key is replaced by the name of the environment variable that would hold it, so that a request
shown in a report can be sent again by whoever has the key; any other credential by a name that
stands for it throughout (`credentials.py`).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from hookproof.conformance.model.evidence import Case, Exchange
from hookproof.conformance.model.ledger import Entry, Finding
from hookproof.conformance.model.verdict import Judgement
from hookproof.conformance.observations.credential_names import (
    Credentials,
    is_telling,
    spellings,
    without_words,
)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """A case as it is written; `deep` if masking took more from its exchanges than credentials in
    their own places.
    """

    case: Case
    deep: bool


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

    def case(self, case: Case) -> Case:
        """A case without keys and credentials."""
        return self.masked(case).case

    def masked(self, case: Case) -> Masked:
        """The same, and whether more was taken out than credentials in their own places."""
        met: dict[str, str] = {}
        facts = self._credentials.value(self._keys.value(dict(case.facts)), met)
        called = [self._exchange(one, met) for one in case.exchanges]
        arrived = [self._delivery(one, met) for one in case.deliveries]
        telling = _all_of(met)
        exchanges = tuple(_exchange_without(one, telling, met) for one in called)
        kept = replace(
            case,
            name=telling.text(self._keys.text(case.name)),
            exchanges=exchanges,
            deliveries=tuple(_delivery_without(one, telling, met) for one in arrived),
            facts=telling.value(facts),
            obstacle=None if case.obstacle is None else self.text(case.obstacle),
        )
        return Masked(case=kept, deep=exchanges != tuple(called) or self._hides_key(case))

    def _hides_key(self, case: Case) -> bool:
        """Whether a key stands in a case anywhere but in the Authorization of a request."""
        bodies = [
            body for one in case.exchanges for body in (one.request_body or b"", one.response_body)
        ]
        bodies += [one.body for one in case.deliveries]
        texts = [
            text for one in case.exchanges for text in (one.url, one.problem or "", *_values(one))
        ]
        texts += [
            text
            for one in case.deliveries
            for text in (one.path, *(value for _, value in one.headers))
        ]
        return (
            any(self._keys.content(body) is not body for body in bodies)
            or any(
                self._keys.text(text) is not text
                for text in (*texts, case.name, case.obstacle or "")
            )
            or self._keys.value(dict(case.facts)) != dict(case.facts)
        )

    def judgement(self, judgement: Judgement) -> Judgement:
        """A judgement without keys and credentials."""
        exchanges, deliveries = self._proof(judgement.exchanges, judgement.deliveries)
        return replace(
            judgement,
            message=self.text(judgement.message),
            expected=self.text(judgement.expected),
            actual=self.text(judgement.actual),
            exchanges=exchanges,
            deliveries=deliveries,
        )

    def finding(self, finding: Finding) -> Finding:
        """A finding without keys and credentials."""
        exchanges, deliveries = self._proof(finding.exchanges, finding.deliveries)
        return replace(
            finding,
            message=self.text(finding.message),
            expected=self.text(finding.expected),
            actual=self.text(finding.actual),
            exchanges=exchanges,
            deliveries=deliveries,
            case=self.text(finding.case),
            cause=self.text(finding.cause),
        )

    def entry(self, entry: Entry) -> Entry:
        """An entry without keys and credentials."""
        findings = tuple(map(self.finding, entry.findings))
        return replace(entry, findings=findings, reasons=tuple(map(self.text, entry.reasons)))

    def _proof(
        self, exchanges: Sequence[Exchange], deliveries: Sequence[ReceivedDelivery]
    ) -> tuple[tuple[Exchange, ...], tuple[ReceivedDelivery, ...]]:
        """Exchanges and deliveries without keys and credentials, first in their own places, then
        wherever else.
        """
        met: dict[str, str] = {}
        called = [self._exchange(one, met) for one in exchanges]
        arrived = [self._delivery(one, met) for one in deliveries]
        telling = _all_of(met)
        return (
            tuple(_exchange_without(one, telling, met) for one in called),
            tuple(_delivery_without(one, telling, met) for one in arrived),
        )

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


def _values(exchange: Exchange) -> list[str]:
    sent = [value for name, value in exchange.request_headers if name.lower() != "authorization"]
    return [*sent, *(value for _, value in exchange.response_headers)]


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


def is_altered(case: Case, masked: Case) -> bool:
    """Whether masking took from a case what a check may look at: anything but what Authorization
    held.

    The variable that stands for the value of Authorization tells it apart from all others, as the
    value did.
    """
    return _without_authorization(case) != _without_authorization(masked)


def _without_authorization(case: Case) -> Case:
    kept = (
        replace(
            one,
            request_headers=tuple(
                pair for pair in one.request_headers if pair[0].lower() != "authorization"
            ),
        )
        for one in case.exchanges
    )
    return replace(case, exchanges=tuple(kept))
