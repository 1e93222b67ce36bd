"""How operations answered: statuses, times and shapes, and the answers in each place of a run."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from hookproof.conformance.model.evidence import NOT_JSON, Exchange
from hookproof.conformance.observations.answer import LISTS, PARTS, pagination, resources
from hookproof.conformance.results.behaviour.shapes import FieldShape, ShapeCounter
from hookproof.conformance.results.behaviour.stored_cases import StoredCase

NO_ANSWER: Final = "no answer"
# What answers consist of beside resources (sections 2.1, 2.2 and 7).
ENVELOPE, PAGINATION, REFUSAL = "envelope", "pagination", "refusal"
# The experiment whose requests are generated: with other values, another request has their place.
GENERATED: Final = "sweep"
# In place of the name of an operation, for paths and methods of none.
NO_OPERATION: Final = "(no operation)"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPlace:
    """Where in a run a request is: the same in every run of one profile and seed that sends it."""

    repetition: int
    experiment: str
    case: str
    role: str
    number: int

    @property
    def words(self) -> str:
        return f"{self.experiment}: {self.case} ({self.role})"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredRequest:
    """What was asked, and the status of the answer.

    `asked` are operation, method, kind of key, and the names of parameters and fields; with
    values, the path, the query and the body.
    """

    operation: str
    asked: tuple[Any, ...]
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationBehaviour:
    """How one operation answered in a run; `took_s` are the times of its successes, sorted."""

    statuses: Mapping[str, int]
    took_s: tuple[float, ...]


@dataclass(slots=True)
class AnswerCounter:
    """Gathers how the operations answer."""

    _statuses: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    _took: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    _shapes: defaultdict[str, ShapeCounter] = field(
        default_factory=lambda: defaultdict(ShapeCounter)
    )
    places: dict[RequestPlace, AnsweredRequest] = field(default_factory=dict)

    def add(self, case: StoredCase) -> None:
        numbers: Counter[str] = Counter()
        for exchange in case.exchanges:
            numbers[exchange.role] += 1
            place = RequestPlace(
                repetition=case.repetition,
                experiment=case.experiment,
                case=case.name,
                role=exchange.role,
                number=numbers[exchange.role],
            )
            is_generated = case.experiment == GENERATED
            request = answered_request(exchange, with_values=is_generated)
            self.places.setdefault(place, request)
            self._add(exchange)

    def operations(self) -> dict[str, OperationBehaviour]:
        return {
            operation: OperationBehaviour(
                statuses=dict(sorted(self._statuses[operation].items())),
                took_s=tuple(sorted(self._took[operation])),
            )
            for operation in sorted(self._statuses)
        }

    def shapes(self) -> dict[str, dict[str, FieldShape]]:
        """The fields of each kind of object: resources, pages, envelopes and refusals."""
        return {kind: counter.shapes() for kind, counter in sorted(self._shapes.items())}

    def _add(self, exchange: Exchange) -> None:
        operation = operation_of(exchange)
        self._statuses[operation][status_of(exchange)] += 1
        if exchange.succeeded:
            self._took[operation].append(exchange.duration_s)
            self._add_shapes(exchange)
        elif exchange.status is not None and exchange.json is not NOT_JSON:
            self._shapes[REFUSAL].add(exchange.json)

    def _add_shapes(self, exchange: Exchange) -> None:
        if exchange.json is not NOT_JSON:
            self._shapes[ENVELOPE].add(exchange.json, ("data",))
        if exchange.operation_id in LISTS:
            self._shapes[PAGINATION].add(pagination(exchange))
        for resource in resources(exchange):
            self._shapes[resource.kind].add(resource.fields, PARTS.get(resource.kind, ()))


def operation_of(exchange: Exchange) -> str:
    return exchange.operation_id or NO_OPERATION


def status_of(exchange: Exchange) -> str:
    return NO_ANSWER if exchange.status is None else str(exchange.status)


def answered_request(exchange: Exchange, *, with_values: bool) -> AnsweredRequest:
    url, body = urlsplit(exchange.url), exchange.request_json
    asked: tuple[Any, ...] = (exchange.operation_id, exchange.method, exchange.key)
    if with_values:
        asked += (url.path, url.query, exchange.request_body)
    else:
        query = parse_qsl(url.query, keep_blank_values=True)
        names = frozenset(body) if isinstance(body, dict) else type(body)
        asked += (tuple(sorted(name for name, _ in query)), names, exchange.request_body is None)
    return AnsweredRequest(
        operation=operation_of(exchange), asked=asked, status=status_of(exchange)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherStatus:
    """A status and another one that the same requests got, how often, and where first."""

    operation: str
    before: str
    after: str
    count: int
    example: str


def other_statuses(
    before: Mapping[RequestPlace, AnsweredRequest], after: Mapping[RequestPlace, AnsweredRequest]
) -> tuple[int, list[OtherStatus]]:
    """How many requests are in both runs, and the statuses that they got in one of them alone."""
    common = list(_common(before, after))
    pairs = Counter(
        (first.operation, first.status, second.status)
        for _, first, second in common
        if first.status != second.status
    )
    examples = {
        (first.operation, first.status, second.status): place.words
        for place, first, second in reversed(common)
    }
    return len(common), [
        OtherStatus(
            operation=pair[0], before=pair[1], after=pair[2], count=count, example=examples[pair]
        )
        for pair, count in sorted(pairs.items(), key=lambda item: (item[0][0], -item[1], item[0]))
    ]


def _common(
    before: Mapping[RequestPlace, AnsweredRequest], after: Mapping[RequestPlace, AnsweredRequest]
) -> Iterator[tuple[RequestPlace, AnsweredRequest, AnsweredRequest]]:
    for place, first in before.items():
        second = after.get(place)
        if second is not None and first.asked == second.asked:
            yield place, first, second


def quantile(sorted_values: Sequence[float], share: float) -> float:
    """The smallest value that this share of them does not exceed."""
    return sorted_values[max(0, ceil(share * len(sorted_values)) - 1)]
