"""Whether a resource is shown alike in two places."""

from collections.abc import Iterable, Mapping
from typing import Any

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged


def agreement(
    requirement: str,
    message: str,
    names: Iterable[str],
    expected: Mapping[str, Any],
    actual: Mapping[str, Any],
    exchanges: Iterable[Exchange],
) -> Judgement:
    """Whether the fields of these names are equal; an absent field counts as null."""
    different = [name for name in names if expected.get(name) != actual.get(name)]
    return judged(
        not different,
        requirement,
        message,
        expected={name: expected.get(name) for name in different},
        actual={name: actual.get(name) for name in different},
        exchanges=exchanges,
    )
