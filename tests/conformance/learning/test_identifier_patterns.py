"""A pattern of identifiers is learned from enough of them, and is wider than what was seen."""

import re

import pytest

from hookproof.conformance.learning.probes.representation import pattern_of

ULIDS = [f"01M84D5DNYQEBPH1F1JGM7SRW{letter}" for letter in "ABCD"]
# With the time in their first part, which is the same for a minute.
UUIDS = [f"a1a208d6-9e43-7e1f-8210-2189f923bd1{digit}" for digit in "0123"]


@pytest.mark.parametrize(
    ("texts", "pattern"),
    [
        ([f"ep_{number}" for number in range(10, 14)], "ep_[0-9A-Za-z]{1,4}"),
        ([f"whk-{'b' * (8 + number)}" for number in range(4)], "whk-[0-9A-Za-z]{4,22}"),
        (["e_a-b", "e_c-d", "e_e_f", "e_abc"], "e_[0-9A-Za-z_-]{1,6}"),
        (["ep_1", "ep_2", "ep_3"], None),
        (["ep_1", "ep_2", "ep_3", "ex_4"], None),
        (["ep_1", "ep_2", "ep_3", "ep_ 4"], None),
        (["ep_1", "ep_2", "ep_3", "ep_"], None),
        (ULIDS, None),
        (UUIDS, None),
        ([], None),
    ],
)
def test_a_pattern_is_a_prefix_letters_and_a_range_of_lengths(
    texts: list[str], pattern: str | None
) -> None:
    assert pattern_of(texts) == pattern
    assert pattern is None or all(re.fullmatch(pattern, text) for text in texts)
