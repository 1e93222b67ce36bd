"""Masks API keys and credentials in all that a run writes, at the moment when it is written."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, Self

from hookproof.conformance.model.evidence import Evidence, Exchange, NotObserved, Observation
from hookproof.conformance.model.judgement import Marks
from hookproof.conformance.model.ledger import Entry, Finding, Ledger
from hookproof.conformance.observations.destinations import CONTENT_TYPE, FORM, KEY_HEADER
from hookproof.conformance.results.records.evidence_records import own_fields, own_values
from hookproof.conformance.target.client import Key
from hookproof.conformance.target.definition import Target
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect
from hookproof.target.hooks.provision import KeyedProject
from hookproof.target.masking.quotation_mask import VARIABLE, QuotationMask, header_variable

HIDDEN: Final = "(masked)"
# In bytes. Longer bodies, of which most are our own text, are not read again at the end of a run.
LONGEST_READ_AGAIN: Final = 64 * 1024


class Mask(QuotationMask):
    """Masks the keys of a run's projects, and the credentials that evidence shows, everywhere."""

    def __init__(
        self,
        projects: Sequence[KeyedProject],
        dialect: Dialect,
        headers: Sequence[tuple[str, str]] = (),
    ):
        self._format = dialect.authentication.key_format
        self._by_header: dict[str, str] = {}
        self._further_headers: dict[str, str] = {}
        super().__init__(projects, dialect, headers, (CONTENT_TYPE, FORM, KEY_HEADER))

    def know(
        self, projects: Sequence[KeyedProject], headers: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Mask the keys of these projects, and these headers, too."""
        super().know(projects, headers)
        for project in projects:  # which may have one key in common
            written = self._format.replace("{key}", project.api_key)
            self._by_header.setdefault(written, self._variables[project.id])
        self._further_headers |= {name.lower(): f"${header_variable(name)}" for name, _ in headers}

    @classmethod
    def of(cls, target: Target, dialect: Dialect) -> Self:
        """What masks the keys of this target and the headers that are added for it."""
        return cls(target.projects, dialect, target.connection.headers)

    def learn_exchange(self, exchange: Exchange) -> None:
        """Look for the credentials of an exchange in all that is written from now on."""
        for body in filter(None, (exchange.request_body, exchange.response_body)):
            self.learn(body)

    def learn_evidence(self, evidence: Evidence) -> None:
        """The same of all that an observation shows."""
        self._facts(evidence)
        self._learned(evidence)

    def evidence(self, evidence: Evidence) -> Evidence:
        with self._lock:
            facts, delivered = self._facts(evidence), self._learned(evidence)
            self._look_for_new()
            shared: dict[str, Any] = {
                "name": self.text(evidence.name),
                "exchanges": tuple(map(self._exchange, evidence.exchanges)),
                "deliveries": tuple(map(self._delivery, delivered)),
            }
            if isinstance(evidence, NotObserved):
                return replace(evidence, **shared, reason=self.quotation(evidence.reason))
            own = own_values(type(evidence), self._known.value(facts))
            return replace(evidence, **shared, **own)

    @property
    def known_count(self) -> int:
        """How many credentials have been looked for so far."""
        return len(self._known.names)

    def shown_early(self, written: Sequence[tuple[int, Evidence]]) -> Iterator[int]:
        """The places of the evidence that shows a credential which became known only when it was
        written; with each evidence, how many were known then.
        """
        with self._lock:
            self._look_for_new()
            became_known: dict[bytes, int] = {}
            for place, (_, name) in enumerate(self._known.names):
                became_known.setdefault(name.encode(), place)
            for place, (count, evidence) in enumerate(written):
                if any(
                    became_known.get(name, 0) >= count
                    for content in _contents(evidence)
                    if len(content) <= LONGEST_READ_AGAIN
                    for name in self._known.names_in(content)
                ):
                    yield place

    def exchange(self, exchange: Exchange) -> Exchange:
        with self._lock:
            self.learn_exchange(exchange)
            self._look_for_new()
            return self._exchange(exchange)

    def quoted(self, value: Any) -> Any:
        """A value that a finding quotes, before it is cut to its beginning."""
        if isinstance(value, str):
            return self.quotation(value)
        with self._lock:
            self._look_for_new()
            return self._known.value(self._credentials.value(value))

    def entry(self, entry: Entry) -> Entry:
        """The result for a requirement, with what its findings say and show."""
        return replace(
            entry,
            findings=tuple(map(self.finding, entry.findings)),
            reasons=tuple(map(self.quotation, entry.reasons)),
            shown_by=self.text(entry.shown_by),
        )

    def finding(self, finding: Finding) -> Finding:
        marks = finding.marks
        return replace(
            finding,
            message=self.quotation(finding.message),
            expected=self.quotation(finding.expected),
            actual=self.quotation(finding.actual),
            cause=self.quotation(finding.cause),
            case=self.text(finding.case),
            exchanges=tuple(map(self.exchange, finding.exchanges)),
            deliveries=tuple(map(self.delivery, finding.deliveries)),
            marks=Marks(
                texts=tuple(map(self.text, marks.texts)),
                body=marks.body and self._place(marks.body, finding.deliveries),
            ),
        )

    def delivery(self, delivery: ReceivedDelivery) -> ReceivedDelivery:
        with self._lock:
            named = self._named(delivery)
            self._look_for_new()
            return self._delivery(named)

    def ledger(self, ledger: Ledger) -> Ledger:
        return replace(
            ledger,
            entries=tuple(map(self.entry, ledger.entries)),
            cut=ledger.cut and self.text(ledger.cut),
            faults=tuple(map(self.quotation, ledger.faults)),
        )

    def _place(
        self, place: tuple[int, int], deliveries: Sequence[ReceivedDelivery]
    ) -> tuple[int, int] | None:
        """Where a part of a body is when it is masked; that of several bodies is not said."""
        whole = {delivery.body for delivery in deliveries}
        if all(self._body(body) == body for body in whole):
            return place
        if len(whole) > 1:
            return None
        (body,) = whole
        first, end = (len(self._body(body[:at])) for at in place)
        return first, max(first, end)

    def _learned(self, evidence: Evidence) -> list[ReceivedDelivery]:
        """Learn from exchanges and deliveries; the latter with names where credentials belong."""
        for exchange in evidence.exchanges:
            self.learn_exchange(exchange)
        return list(map(self._named, evidence.deliveries))

    def _facts(self, evidence: Evidence) -> Any:
        return (
            self._credentials.value(own_fields(evidence))
            if isinstance(evidence, Observation)
            else {}
        )

    def _body(self, body: bytes) -> bytes:
        return self._known.content(self._credentials.content(body))

    def _exchange(self, exchange: Exchange) -> Exchange:
        sent, problem = exchange.request_body, exchange.problem
        return replace(
            exchange,
            url=self._known.header(exchange.url),
            request_headers=tuple(self._request_headers(exchange)),
            request_body=None if sent is None else self._body(sent),
            response_headers=self._headers(exchange.response_headers),
            response_body=self._body(exchange.response_body),
            problem=None if problem is None else self._known.text(problem),
        )

    def _named(self, delivery: ReceivedDelivery) -> ReceivedDelivery:
        """A delivery with names where credentials belong."""
        return replace(
            delivery,
            headers=tuple(
                (
                    name,
                    self._credentials.header(value) if name.lower() == "authorization" else value,
                )
                for name, value in delivery.headers
            ),
            body=self._credentials.content(delivery.body),
        )

    def _delivery(self, named: ReceivedDelivery) -> ReceivedDelivery:
        return replace(
            named,
            headers=self._headers(named.headers),
            body=self._known.content(named.body),
            path=self._known.header(named.path),
        )

    def _headers(self, headers: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        return tuple((self._known.text(name), self._known.header(value)) for name, value in headers)

    def _request_headers(self, exchange: Exchange) -> Iterator[tuple[str, str]]:
        for name, value in exchange.request_headers:
            if name.lower() in self._further_headers:
                yield name, self._further_headers[name.lower()]
                continue
            credential = name.lower() == "authorization" and bool(value) and bool(self._variables)
            shown = (
                self._authorization(exchange, value) if credential else self._known.header(value)
            )
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


def _contents(evidence: Evidence) -> Iterator[bytes]:
    """What the target has sent, byte for byte."""
    headers: list[tuple[str, str]] = []
    for exchange in evidence.exchanges:
        yield exchange.response_body
        headers += exchange.response_headers
    for delivery in evidence.deliveries:
        yield delivery.body
        headers += delivery.headers
    yield "\n".join(value for _, value in headers).encode("utf-8", "surrogatepass")
