"""Which fields that a requirement is about had no value in any answer to an operation."""

from collections.abc import Iterable

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import LISTS, SHOWS
from hookproof.conformance.results.documented_fields import (
    PAGINATION,
    FieldCounter,
    documented_fields,
)


def fields_without_value(
    fields: Iterable[str], operation_id: str, answers: Iterable[Exchange]
) -> list[str]:
    """Of these fields, each by its path in `about`, the documented ones that none of these answers
    to an operation shows with a value; none if no answer shows anything.

    Of a member of a field, the field is named.
    """
    kind = {**SHOWS, **LISTS}[operation_id]
    wanted: set[tuple[str, str]] = set()
    for path in fields:
        first, *inner = path.split(".")
        is_paging = first == PAGINATION.lower() and inner
        holder, name = (PAGINATION, inner[0]) if is_paging else (kind, first)
        if name in documented_fields(holder):
            wanted.add((holder, name))
    if not wanted:
        return []  # without counting, which takes long
    counter = FieldCounter()
    for answer in answers:
        counter.add(answer)
    return [
        name
        for count in counter.counts()
        for holder, name, *inner in [count.name.split(".")]
        if (holder, name) in wanted and not inner and not count.shown
    ]
