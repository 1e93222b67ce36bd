"""Which fields that a requirement speaks of had no value in any answer to an operation."""

import re
from collections.abc import Iterable
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import LISTS, SHOWS
from hookproof.conformance.results.documented_fields import PAGINATION, FieldCounter

WORD: Final = re.compile(r"\w+")


def fields_without_value(text: str, operation_id: str, answers: Iterable[Exchange]) -> list[str]:
    """The documented fields that a requirement's text names, and that none of these answers to an
    operation shows with a value; none if no answer shows anything.

    A text may speak of one secret where the field is `secrets`.
    """
    counter, words = FieldCounter(), set(WORD.findall(text.lower()))
    for answer in answers:
        counter.add(answer)
    kinds: set[str | None] = {LISTS.get(operation_id), SHOWS.get(operation_id)}
    if operation_id in LISTS:
        kinds.add(PAGINATION)
    unseen: list[str] = []
    for count in counter.counts():
        kind, name, *inner = count.name.split(".")
        is_named = name in words or (name.endswith("s") and name[:-1] in words)
        if kind in kinds and not inner and is_named and not count.shown:
            unseen.append(name)
    return unseen
