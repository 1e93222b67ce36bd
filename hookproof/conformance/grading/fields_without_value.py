"""Which fields that a requirement speaks of had no value in any answer to an operation."""

import re
from collections.abc import Iterable
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import LISTS, SHOWS
from hookproof.conformance.results.documented_fields import (
    PAGINATION,
    FieldCounter,
    documented_fields,
)

WORD: Final = re.compile(r"\w+")
# What a text calls a field otherwise, and what it means no field by.
SINGULARS: Final = {"secret": "secrets"}
NO_FIELD: Final = "under the name"


def fields_without_value(text: str, operation_id: str, answers: Iterable[Exchange]) -> list[str]:
    """The documented fields that a requirement's text names, and that none of these answers to an
    operation shows with a value; none if no answer shows anything.

    A text may speak of one secret where the field is `secrets`.
    """
    words = WORD.findall(text.lower().replace(NO_FIELD, ""))
    names = {SINGULARS.get(word, word) for word in words}
    kinds: set[str] = {kind[operation_id] for kind in (LISTS, SHOWS) if operation_id in kind}
    if operation_id in LISTS:
        kinds.add(PAGINATION)
    if not any(name in names for kind in kinds for name in documented_fields(kind)):
        return []  # without counting, which takes long
    counter = FieldCounter()
    for answer in answers:
        counter.add(answer)
    unseen: list[str] = []
    for count in counter.counts():
        kind, name, *inner = count.name.split(".")
        if kind in kinds and not inner and name in names and not count.shown:
            unseen.append(name)
    return unseen
