"""Identifiers are made in the form of the dialect, or by a resource's own pattern (section 2.9)."""

import re
from random import Random

import pytest

from hookproof.mockserver.store.identifiers import create_identifier_source
from hookproof.spec.dialect.vocabulary import IDENTIFIER_PATTERNS, IdentifierForm

PATTERNS = ["ep_[A-Za-z0-9]{22}", "evt-[0-9a-f]{10,14}", "x~[0-9][a-z_-]{9}", "a{3}[0-9]{12}:"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_an_identifier_has_the_pattern_of_its_resource(pattern: str) -> None:
    source = create_identifier_source(
        IdentifierForm.ULID, Random(1).randbytes, lambda: 5, {"Endpoint": pattern}
    )
    made = [source("Endpoint") for _ in range(300)]
    assert all(re.fullmatch(pattern, text) for text in made)
    assert len({*made}) == len(made)
    assert re.fullmatch(IDENTIFIER_PATTERNS[IdentifierForm.ULID], source("Event"))
    assert re.fullmatch(IDENTIFIER_PATTERNS[IdentifierForm.ULID], source())


def test_every_letter_and_every_length_of_a_pattern_occurs() -> None:
    source = create_identifier_source(
        IdentifierForm.ULID, Random(1).randbytes, lambda: 5, {"Endpoint": "[0-9a-f]{2,4}"}
    )
    made = [source("Endpoint") for _ in range(300)]
    assert {len(text) for text in made} == {2, 3, 4}
    assert {*"".join(made)} == {*"0123456789abcdef"}
