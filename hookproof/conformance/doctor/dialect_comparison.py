"""Compares a dialect with the first answers of a target: which of its fields disagree with them.

Only what a single answer shows is compared; `hookproof learn` finds out the rest.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import Resource, resources, shown
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import IDENTIFIER_PATTERNS, TIMESTAMP_PATTERNS

TIMES: Final = ("created_at", "updated_at")
NO_KNOWN_FORM: Final = "none of the known forms"


def disagreements(dialect: Dialect, created: Exchange, broadcast: Exchange | None) -> Iterator[str]:
    """One sentence for each field of the dialect that the creation of an active endpoint, or a
    broadcast, disagrees with.
    """
    answers = [created, *([broadcast] if broadcast is not None else [])]
    found = [resource for answer in answers for resource in resources(answer)]
    yield from _identifiers(dialect, found)
    yield from _form(
        "representation.timestamp",
        dialect.representation.timestamp,
        TIMESTAMP_PATTERNS,
        [resource.text(name) for resource in found for name in TIMES],
    )
    for answer in answers:
        yield from _value(
            "success.created", dialect.success.created, answer.status, answer.operation_id
        )
    words = dialect.words
    for field, known, shown_by in (
        ("words.endpoint_active", words.endpoint_active, created),
        ("words.event_created", words.event_created, broadcast),
    ):
        status = None if shown_by is None else shown(shown_by).get("status")
        if isinstance(status, str) and shown_by is not None:
            yield from _value(field, known, status, shown_by.operation_id)


def _identifiers(dialect: Dialect, found: Sequence[Resource]) -> Iterator[str]:
    patterns = dialect.representation.identifier_of
    usual = [each.text("uid") for each in found if each.kind not in patterns]
    field = "representation.identifier"
    yield from _form(field, dialect.representation.identifier, IDENTIFIER_PATTERNS, usual)
    for kind, pattern in patterns.items():
        texts = [uid for each in found if each.kind == kind and (uid := each.text("uid"))]
        others = [text for text in texts if re.fullmatch(pattern, text) is None]
        if others:
            yield f"{field}_of.{kind} says {pattern}; {len(others)} values differ: {others[0]}"


def _form(
    field: str, known: Answer[Any], patterns: Mapping[Any, str], values: Sequence[str | None]
) -> Iterator[str]:
    texts = [value for value in values if value]
    fitting = [
        form for form, pattern in patterns.items() if all(re.match(pattern, text) for text in texts)
    ]
    if not texts or not known.decided or any(map(known.allows, fitting)):
        return
    looks = f"like {fitting[0]}" if fitting else f"like {NO_KNOWN_FORM}"
    yield f"{field} says {_said(known)}; {len(texts)} values look {looks}, such as {texts[0]}"


def _value(
    field: str, known: Answer[Any], actual: object, operation_id: str | None
) -> Iterator[str]:
    if not known.allows(actual):
        yield f"{field} says {_said(known)}; {operation_id} answered {actual}"


def _said(known: Answer[Any]) -> str:
    return " or ".join(map(str, known.allowed))
