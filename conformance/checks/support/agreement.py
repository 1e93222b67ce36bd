"""Whether a resource is shown alike in two places."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import has_value


def differences(
    names: Iterable[str],
    left: Mapping[str, Any],
    right: Mapping[str, Any],
    masked: Collection[str] = (),
) -> list[str]:
    """Which of these fields are shown with different values.

    A field without a value is the same however that is shown (section 2.9). What is at the dotted
    paths `masked` is not compared: a mask stands for no value in particular.
    """
    return [
        name
        for name in names
        if _comparable(left.get(name), name, masked) != _comparable(right.get(name), name, masked)
    ]


def agreement(
    requirement: str,
    message: str,
    names: Iterable[str],
    expected: Mapping[str, Any],
    actual: Mapping[str, Any],
    exchanges: Iterable[Exchange],
    masked: Collection[str] = (),
) -> Judgement:
    """Whether the fields of these names are shown alike."""
    different = differences(names, expected, actual, masked)
    return judged(
        not different,
        requirement,
        message,
        expected={name: expected.get(name) for name in different},
        actual={name: actual.get(name) for name in different},
        exchanges=exchanges,
    )


def _comparable(value: Any, path: str, masked: Collection[str]) -> Any:
    """A value without masked members and without members that have no value; None if nothing is
    left.
    """
    if path in masked:
        return None
    if isinstance(value, Mapping):
        members = {
            name: _comparable(member, f"{path}.{name}", masked) for name, member in value.items()
        }
        value = {name: member for name, member in members.items() if member is not None}
    return value if has_value(value) else None
