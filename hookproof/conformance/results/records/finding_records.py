"""Converts findings and requirements to their JSON in run.jsonl and back."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar, get_type_hints

import msgspec

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.ledger import Entry, Finding
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.records.compression import EVIDENCE, pack, unpack
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.catalogue import Requirement

T = TypeVar("T")

OF_REQUIREMENT: Final = [
    "id",
    "section",
    "level",
    "operations",
    "text",
    "gaps",
    "untestable",
    "severe",
]
OF_ENTRY: Final = ["exercised", "checks", "shown_by", "shown_in_s", "reasons", "judged", "accepted"]


def typed(kind: type[T], written: Mapping[str, Any], **ready: Any) -> T:
    """An object of a data class, each of whose members has the type that it is declared with.

    Members that it does not have, which another version wrote, are left unread; `ready` are those
    that need no conversion. Raises ValueError or TypeError.
    """
    types = types_of(kind)  # type: ignore[arg-type] # a class can be hashed
    known = {
        name: msgspec.convert(value, types[name])
        for name, value in written.items()
        if name in types and name not in ready
    }
    return kind(**known, **ready)


@cache
def types_of(kind: type[Any]) -> Mapping[str, Any]:
    return get_type_hints(kind)


def finding_json(finding: Finding) -> dict[str, Any]:
    own = (name for name in types_of(Finding) if name not in EVIDENCE)
    return {
        **_written(finding, own),
        **{
            kind: pack([record.to_json() for record in getattr(finding, kind)]) for kind in EVIDENCE
        },
    }


def finding_of(event: Mapping[str, Any]) -> Finding:
    """Reverse `finding_json`; raises KeyError, TypeError or ValueError."""
    return typed(
        Finding,
        event,
        exchanges=tuple(map(Exchange.from_json, unpack(event["exchanges"]))),
        deliveries=tuple(map(ReceivedDelivery.from_json, unpack(event["deliveries"]))),
    )


def entry_json(entry: Entry) -> dict[str, Any]:
    """An entry without its findings."""
    return {
        **_written(entry.requirement, OF_REQUIREMENT),
        "verdict": entry.verdict.key,
        **_written(entry, OF_ENTRY),
        "seen": [verdict.key for verdict in entry.seen],
    }


def _written(value: object, names: Iterable[str]) -> dict[str, Any]:
    return {name: msgspec.to_builtins(getattr(value, name)) for name in names}


def entry_of(event: Mapping[str, Any], findings: Sequence[Finding]) -> Entry:
    """Reverse `entry_json`; the entry gets those of the findings that are about it.

    Raises KeyError, TypeError or ValueError.
    """
    if not f"{event['id']}{event['section']}".isprintable():
        raise ValueError("a requirement has an id or a section that cannot be one")
    return typed(
        Entry,
        event,
        requirement=typed(Requirement, event),
        verdict=verdict_of(event["verdict"]),
        findings=tuple(finding for finding in findings if finding.requirement == event["id"]),
        seen=tuple(map(verdict_of, event["seen"])),
    )


def verdict_of(key: str) -> Verdict:
    return Verdict[key.upper()]
