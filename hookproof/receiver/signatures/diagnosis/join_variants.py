"""Other templates by which a sender may have joined body, time and identifier."""

from collections.abc import Collection, Iterator, Sequence
from itertools import permutations
from typing import Final

from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, Variant, Variants
from hookproof.receiver.signatures.signed_message import PLACEHOLDER

NAMES: Final = {"id": "identifier", "timestamp": "time", "body": "body"}
SEPARATORS: Final = (".", ",", ":", "|", "", "\n", "-", "_", "&", ";", "/", " ")
# A widely used template that starts with a label.
VERSIONED: Final = "v0:{timestamp}:{body}"


def join_variants(template: str, sent: Collection[str]) -> Variants[str]:
    """The dialect's template, and others.

    `sent` names the fields that a delivery has besides its body.
    """
    expected = [part for index, part in enumerate(PLACEHOLDER.split(template)) if index % 2]

    def generate(distance: int) -> Iterator[Variant[str]]:
        if distance == 0:
            if set(expected) <= {"body", *sent}:
                yield Variant(value=template)
            return
        for parts in _arrangements(sent):
            for separator in SEPARATORS if len(parts) > 1 else ("",):
                joined = separator.join(f"{{{part}}}" for part in parts)
                deviations = tuple(_deviations_of(template, expected, parts, separator, joined))
                if len(deviations) == distance:
                    yield Variant(value=joined, deviations=deviations)
        if distance == 1 and "timestamp" in sent:
            yield Variant(value=VERSIONED, deviations=(_other_template(template, VERSIONED),))

    return Variants(generate)


def _arrangements(sent: Collection[str]) -> Iterator[Sequence[str]]:
    """Every choice of fields, in every order; each includes the body."""
    names = [name for name in NAMES if name == "body" or name in sent]
    for count in range(1, len(names) + 1):
        yield from (chosen for chosen in permutations(names, count) if "body" in chosen)


def _deviations_of(
    template: str, expected: Sequence[str], parts: Sequence[str], separator: str, joined: str
) -> Iterator[Deviation]:
    missing = [part for part in expected if part not in parts]
    added = [part for part in parts if part not in expected]
    if missing:
        alone = ", signed the body alone" if list(parts) == ["body"] else ""
        yield _deviation(f"left the {_listed(missing)} out of what is signed{alone}")
    if added:
        yield _deviation(f"signed the {_listed(added)} too, as {joined!r}")
    kept = [part for part in expected if part in parts]
    is_reordered = kept != [part for part in parts if part in expected]
    if is_reordered:
        yield _other_template(template, joined)
    elif len(kept) > 1 and separator not in template_separators(template):
        yield _deviation(f"joined what is signed by {separator!r} where {template!r} is expected")
    elif not missing and not added and joined != template:
        yield _other_template(template, joined)
    if is_reordered and separator not in template_separators(template):
        yield _deviation(f"joined it by {separator!r}")


def template_separators(template: str) -> frozenset[str]:
    """The texts between the fields of a template."""
    return frozenset(PLACEHOLDER.split(template)[2:-1:2])


def _other_template(template: str, joined: str) -> Deviation:
    return _deviation(f"signed {joined!r} where {template!r} is expected")


def _deviation(words: str) -> Deviation:
    return Deviation(aspect=Aspect.JOIN, words=words)


def _listed(parts: Sequence[str]) -> str:
    return " and the ".join(NAMES.get(part, part) for part in parts)
