"""Masks API keys and credentials in the evidence of a run, before anything is written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Self

from hookproof.conformance.model.evidence import Evidence, Exchange, NotObserved, Observation
from hookproof.conformance.observations.delivery.arrival.broadcasts import FORM
from hookproof.conformance.observations.delivery.security.credentials import KEY_HEADER
from hookproof.conformance.observations.destinations import CONTENT_TYPE
from hookproof.conformance.results.records.evidence_records import own_fields, own_values
from hookproof.conformance.target.client import Key
from hookproof.conformance.target.definition import Project, Target
from hookproof.process.encoded_credentials import EncodedCredentials, encodings, is_unmistakable
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect
from hookproof.target.masking.credential_names import is_distinctive, replace_words
from hookproof.target.masking.quotation_mask import (
    VARIABLE,
    QuotationMask,
    Replacer,
    all_of,
    header_variable,
)

HIDDEN: Final = "(masked)"
# Encodings of a credential with fewer different characters may be those of anything.
VARIED: Final = 5


class Found:
    """Replaces the credentials that one observation shows, and all that are `known` elsewhere."""

    def __init__(self, names: Mapping[str, str], known: EncodedCredentials) -> None:
        self._known = known
        # Those that are too short to be looked for everywhere.
        self._names = {text: name for text, name in names.items() if not is_unmistakable(text)}
        self._replacer = all_of(self._names)
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


class Mask(QuotationMask):
    """Masks the keys of a run's projects, and the credentials that evidence shows, everywhere."""

    def __init__(
        self,
        projects: Sequence[Project],
        dialect: Dialect,
        headers: Sequence[tuple[str, str]] = (),
    ):
        super().__init__(projects, dialect, headers, (CONTENT_TYPE, FORM, KEY_HEADER))
        self._format = dialect.authentication.key_format
        # The projects may have one key in common.
        self._by_header = {
            self._format.replace("{key}", project.api_key): self._variables[project.id]
            for project in reversed(projects)
        }
        self._further_headers = {name.lower(): f"${header_variable(name)}" for name, _ in headers}

    @classmethod
    def of(cls, target: Target, dialect: Dialect) -> Self:
        """What masks the keys of this target and the headers that are added for it."""
        return cls(target.projects, dialect, target.connection.headers)

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
            shown = self._authorization(exchange, value) if credential else self._keys.text(value)
            yield name, shown

    def _authorization(self, exchange: Exchange, value: str) -> str:
        variable = self._variables.get(exchange.project, VARIABLE)
        match exchange.key:
            case Key.OWN:
                return self._format.replace("{key}", f"${variable}")
            case Key.FOREIGN:
                return self._format.replace("{key}", f"${self._by_header.get(value, variable)}")
            case Key.TRUNCATED:
                return self._format.replace("{key}", f"${{{variable}%?}}")
            case Key.BARE:
                return f"${variable}"
            case _:
                return HIDDEN
