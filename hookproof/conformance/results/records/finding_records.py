"""Converts findings and requirements to their JSON in run.jsonl and back."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar, get_type_hints

import msgspec

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import NO_MARKS, Marks
from hookproof.conformance.model.ledger import Entry, Finding
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.records.compression import pack, unpack
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.catalogue import Requirement

T = TypeVar("T")


def typed(kind: type[T], written: Mapping[str, Any], **ready: Any) -> T:
    """An object of a data class, each of whose members has the type that it is declared with.

    Members that it does not have, which another version wrote, are left unread; `ready` are those
    that need no conversion. Raises ValueError or TypeError.
    """
    types = _types(kind)  # type: ignore[arg-type] # a class can be hashed
    known = {
        name: msgspec.convert(value, types[name])
        for name, value in written.items()
        if name in types and name not in ready
    }
    return kind(**known, **ready)


@cache
def _types(kind: type[Any]) -> Mapping[str, Any]:
    return get_type_hints(kind)


def finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "requirement": finding.requirement,
        "check": finding.check,
        "message": finding.message,
        "expected": finding.expected,
        "actual": finding.actual,
        "count": finding.count,
        "experiment": finding.experiment,
        "case": finding.case,
        "cause": finding.cause,
        "shrunk": finding.shrunk,
        "follows_from": list(finding.follows_from),
        "marks": finding.marks.to_json(),
        **_proof_json(finding),
    }


def finding_of(event: Mapping[str, Any]) -> Finding:
    """Reverse `finding_json`; raises KeyError, TypeError or ValueError."""
    marks = Marks.from_json(event["marks"]) if "marks" in event else NO_MARKS
    return typed(Finding, event, marks=marks, **_proof_of(event))


def entry_json(entry: Entry) -> dict[str, Any]:
    """An entry without its findings."""
    requirement = entry.requirement
    return {
        "id": requirement.id,
        "section": requirement.section,
        "level": requirement.level.value,
        "operations": list(requirement.operations),
        "text": requirement.text,
        "gaps": list(requirement.gaps),
        "untestable": requirement.untestable,
        "severe": requirement.severe,
        "verdict": entry.verdict.key,
        "exercised": entry.exercised,
        "checks": list(entry.checks),
        "shown_by": entry.shown_by,
        "shown_in_s": entry.shown_in_s,
        "reasons": list(entry.reasons),
        "judged": entry.judged,
        "accepted": entry.accepted,
        "seen": [verdict.key for verdict in entry.seen],
    }


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


def _proof_json(finding: Finding) -> dict[str, Any]:
    return {
        "exchanges": pack([exchange.to_json() for exchange in finding.exchanges]),
        "deliveries": pack([delivery.to_json() for delivery in finding.deliveries]),
    }


def _proof_of(event: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "exchanges": tuple(map(Exchange.from_json, unpack(event["exchanges"]))),
        "deliveries": tuple(map(ReceivedDelivery.from_json, unpack(event["deliveries"]))),
    }
