"""The exchanges and deliveries of a run, one observation after the other.

They are read without the classes of observations, so that runs of other versions can be compared.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.results.records.compression import is_whole, unpack_evidence
from hookproof.conformance.results.run_file import DAMAGED, NotARun, open_run, parsed_lines
from hookproof.receiver.inbox.delivery import ReceivedDelivery

T = TypeVar("T")

CASE: Final = '{"event":"case"'


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCase:
    """What one observation of a run holds, without what is not whole in the file.

    `not_whole` is how many exchanges are not.
    """

    experiment: str
    name: str
    repetition: int
    exchanges: tuple[Exchange, ...]
    deliveries: tuple[ReceivedDelivery, ...]
    not_whole: int = 0


def stored_cases(path: Path) -> Iterator[StoredCase]:
    """Each observation in the order of the file; raises NotARun if the file is damaged."""
    try:
        with open_run(path) as lines:
            for number, line in enumerate(lines, 1):
                if not line.startswith(CASE):
                    continue
                try:
                    cases = [_case(event) for event in parsed_lines([line])]
                except DAMAGED as error:
                    raise NotARun(
                        f"{path}:{number}: no evidence: {type(error).__name__}: {error}"
                    ) from None
                yield from cases
    except OSError as error:
        raise NotARun(f"{path} cannot be read: {error.strerror or error}") from None


def _case(event: Mapping[str, Any]) -> StoredCase:
    evidence = unpack_evidence({name: value for name, value in event.items() if name in _READ})
    exchanges = _whole(event, "exchanges", map(Exchange.from_json, evidence["exchanges"]))
    return StoredCase(
        experiment=msgspec.convert(event["experiment"], str),
        name=msgspec.convert(event["name"], str),
        repetition=msgspec.convert(event["repetition"], int),
        exchanges=exchanges,
        deliveries=_whole(
            event, "deliveries", map(ReceivedDelivery.from_json, evidence["deliveries"])
        ),
        not_whole=len(evidence["exchanges"]) - len(exchanges),
    )


_READ: Final = ("exchanges", "deliveries")


def _whole(event: Mapping[str, Any], kind: str, records: Iterator[T]) -> tuple[T, ...]:
    return tuple(record for place, record in enumerate(records) if is_whole(event, kind, place))
