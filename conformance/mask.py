"""Keeps API keys out of everything that is written down.

A key is replaced by the name of the environment variable that would hold it, so that a request shown in a report can be
sent again by whoever has the key.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from conformance.client import Key
from conformance.evidence import Case, Exchange
from conformance.ledger import Entry, Finding
from conformance.target import Project
from conformance.verdict import Judgement
from receiver.delivery import ReceivedDelivery
from spec.dialect import Dialect

VARIABLE: Final = "HOOKPROOF_API_KEY"
HIDDEN: Final = "(masked)"
SHORTEST: Final = 4
"""Keys of fewer characters are masked in Authorization alone: anywhere else they may be part of any word."""


class Mask:
    """Masks the keys of a run's projects; without projects it leaves everything as it is."""

    def __init__(self, projects: Sequence[Project], dialect: Dialect):
        self._format = dialect.authentication.key_format
        self._variables = {p.id: VARIABLE if i == 0 else f"{VARIABLE}_{i + 1}" for i, p in enumerate(projects)}
        # The truncated key of an access experiment is masked too. Long keys come first: one may begin with another.
        parts = {
            part: f"${self._variables[project.id]}"
            for project in projects
            for part in (project.api_key, project.api_key[:-1])
            if len(part) >= SHORTEST
        }
        self._parts = tuple(sorted(parts.items(), key=lambda item: (-len(item[0]), item)))
        # Hardly any text holds a key. Where the keys begin alike, one look tells, however many projects there are.
        self._sign = _common_beginning(parts)

    def text(self, text: str) -> str:
        """A text without keys."""
        if self._sign not in text:
            return text
        for part, name in self._parts:
            text = text.replace(part, name)
        return text

    def value(self, value: Any) -> Any:
        """A JSON value without keys."""
        if isinstance(value, dict):
            return {self.text(name): self.value(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(one) for one in value]
        return self.text(value) if isinstance(value, str) else value

    def exchange(self, exchange: Exchange) -> Exchange:
        """An exchange without keys."""
        return replace(
            exchange,
            url=self.text(exchange.url),
            request_headers=tuple(self._request_headers(exchange)),
            request_body=None if exchange.request_body is None else self._bytes(exchange.request_body),
            response_headers=tuple((name, self.text(value)) for name, value in exchange.response_headers),
            response_body=self._bytes(exchange.response_body),
            problem=None if exchange.problem is None else self.text(exchange.problem),
        )

    def delivery(self, delivery: ReceivedDelivery) -> ReceivedDelivery:
        """A delivery without keys; credentials in it were made up by an experiment and stay."""
        headers = tuple((name, self.text(value)) for name, value in delivery.headers)
        return replace(delivery, headers=headers, body=self._bytes(delivery.body), path=self.text(delivery.path))

    def case(self, case: Case) -> Case:
        """A case without keys."""
        return replace(
            case,
            name=self.text(case.name),
            exchanges=tuple(map(self.exchange, case.exchanges)),
            deliveries=tuple(map(self.delivery, case.deliveries)),
            facts=self.value(dict(case.facts)),
            obstacle=None if case.obstacle is None else self.text(case.obstacle),
        )

    def judgement(self, judgement: Judgement) -> Judgement:
        """A judgement without keys."""
        return replace(
            judgement,
            message=self.text(judgement.message),
            expected=self.text(judgement.expected),
            actual=self.text(judgement.actual),
            exchanges=tuple(map(self.exchange, judgement.exchanges)),
            deliveries=tuple(map(self.delivery, judgement.deliveries)),
        )

    def finding(self, finding: Finding) -> Finding:
        """A finding without keys."""
        return replace(
            finding,
            message=self.text(finding.message),
            expected=self.text(finding.expected),
            actual=self.text(finding.actual),
            exchanges=tuple(map(self.exchange, finding.exchanges)),
            deliveries=tuple(map(self.delivery, finding.deliveries)),
            case=self.text(finding.case),
            cause=self.text(finding.cause),
        )

    def entry(self, entry: Entry) -> Entry:
        """An entry without keys."""
        findings = tuple(map(self.finding, entry.findings))
        return replace(entry, findings=findings, reasons=tuple(map(self.text, entry.reasons)))

    def _request_headers(self, exchange: Exchange) -> Iterator[tuple[str, str]]:
        for name, value in exchange.request_headers:
            credential = name.lower() == "authorization" and bool(value) and bool(self._variables)
            yield name, self._authorization(exchange) if credential else self.text(value)

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

    def _bytes(self, content: bytes) -> bytes:
        if self._sign.encode() not in content:
            return content
        for part, name in self._parts:
            content = content.replace(part.encode(), name.encode())
        return content


def _common_beginning(texts: Collection[str]) -> str:
    """What all these texts begin with."""
    first, last = min(texts, default=""), max(texts, default="")
    alike = (place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1])
    return first[: next(alike, min(len(first), len(last)))]


def is_altered(case: Case, masked: Case) -> bool:
    """Whether masking took from a case what a check may look at: anything but what Authorization held.

    The variable that stands for the value of Authorization tells it apart from all others, as the value did.
    """
    return _without_authorization(case) != _without_authorization(masked)


def _without_authorization(case: Case) -> Case:
    kept = (
        replace(one, request_headers=tuple(pair for pair in one.request_headers if pair[0].lower() != "authorization"))
        for one in case.exchanges
    )
    return replace(case, exchanges=tuple(kept))
