"""What a target does otherwise than the recorded one did; times are no difference."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from hookproof.conformance.replay.recording import RequestKey, request_key
from hookproof.conformance.reports.behaviour.two_runs import TwoBehaviours
from hookproof.conformance.results.behaviour.answers import (
    AnsweredRequest,
    RequestPlace,
    answered_request,
)
from hookproof.conformance.results.behaviour.behaviour import Behaviour, behaviour_of
from hookproof.conformance.results.behaviour.stored_cases import StoredCase


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """`missing` says for each observation how many of its deliveries did not arrive."""

    both: TwoBehaviours
    missing: tuple[str, ...]
    missing_count: int

    @classmethod
    def of(cls, before: Sequence[StoredCase], after: Sequence[StoredCase]) -> Self:
        """Compare the observations of a recording with the same ones of its replay."""
        both = TwoBehaviours(before=_behaviour(before, before), after=_behaviour(after, before))
        arrived = {(each.token, each.sequence) for case in after for each in case.deliveries}
        recorded = {(each.token, each.sequence) for case in before for each in case.deliveries}
        return cls(
            both=both,
            missing=tuple(_missing(before, after)),
            missing_count=len(recorded - arrived),
        )

    @property
    def found(self) -> bool:
        return bool(self._other_statuses or self._fields or self.missing_count)

    @property
    def words(self) -> str:
        return "; ".join(
            (
                f"with another status: {self._other_statuses:,}",
                f"fields that differ: {self._fields:,}",
                f"deliveries that did not arrive: {self.missing_count:,}",
            )
        )

    @property
    def _other_statuses(self) -> int:
        return sum(each.count for each in self.both.other_statuses[1])

    @property
    def _fields(self) -> int:
        return sum(1 for _ in self.both.differing_shapes)


def _behaviour(cases: Sequence[StoredCase], before: Sequence[StoredCase]) -> Behaviour:
    """What a target did, with a place of its own for each request, although many are alike."""
    places: dict[RequestPlace, AnsweredRequest] = {}
    known: set[RequestKey] = set()
    for recorded, case in zip(before, cases, strict=True):
        for request, exchange in zip(recorded.exchanges, case.exchanges, strict=True):
            if request_key(request) not in known:
                known.add(request_key(request))
                place = RequestPlace(
                    repetition=case.repetition,
                    experiment=case.experiment,
                    case=case.name,
                    role=exchange.role,
                    number=len(known),
                )
                places[place] = answered_request(exchange, with_values=True)
    return replace(behaviour_of(cases), places=places)


def _missing(before: Sequence[StoredCase], after: Sequence[StoredCase]) -> Iterator[str]:
    for recorded, replayed in zip(before, after, strict=True):
        count = len(recorded.deliveries) - len(replayed.deliveries)
        if count:
            of = len(recorded.deliveries)
            yield f"{count:,} of {of:,} in {recorded.experiment}: {recorded.name}"
