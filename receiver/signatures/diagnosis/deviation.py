"""The words of an explanation: what a sender did otherwise than its dialect says."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

T = TypeVar("T")


class Aspect(StrEnum):
    """What a deviation is about."""

    BODY = "body"
    SECRET = "secret"  # noqa: S105 - it names an aspect
    JOIN = "join"
    TIME = "time"
    HASH = "hash"
    ENCODING = "encoding"
    LABEL = "label"
    HEADER = "header"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """One mistake, as a part of a sentence whose subject is the sender: "signed the body alone"."""

    aspect: Aspect
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bisection:
    """What explains a delivery that is not verified.

    `cause` is one sentence; `deviations` are the mistakes that it is made of. `explained`: with
    them and no others the signature is valid. `hashes` is how many were computed on the way.
    """

    cause: str
    deviations: tuple[Deviation, ...]
    explained: bool
    hashes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant(Generic[T]):
    """One way to do one step of signing, and how it deviates from the dialect's way.

    What is `rare` is tried with every other step done right, and not together with further
    deviations.
    """

    value: T
    deviations: tuple[Deviation, ...] = ()
    rare: bool = False


class Variants(Generic[T]):
    """The ways to do one step, by how far they deviate; each distance is worked out when it is
    first asked for.

    A value that was seen at a smaller distance, or before at the same one, is left out: the simpler
    words stay.
    """

    def __init__(self, make: Callable[[int], Iterable[Variant[T]]]) -> None:
        self._make = make
        self._made: list[Sequence[Variant[T]]] = []
        self._seen: set[T] = set()

    def at(self, distance: int, *, rare: bool) -> Sequence[Variant[T]]:
        """The variants with so many deviations, the rare ones among them if they are wanted."""
        while len(self._made) <= distance:
            self._made.append(tuple(self._fresh(self._make(len(self._made)))))
        made = self._made[distance]
        return made if rare else [variant for variant in made if not variant.rare]

    def _fresh(self, variants: Iterable[Variant[T]]) -> Iterator[Variant[T]]:
        for variant in variants:
            if variant.value not in self._seen:
                self._seen.add(variant.value)
                yield variant


def sentence(deviations: Iterable[Deviation]) -> str:
    """The deviations as one sentence."""
    return "; ".join(deviation.words for deviation in deviations)
