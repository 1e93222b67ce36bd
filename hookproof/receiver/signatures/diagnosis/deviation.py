"""What a diagnosis is given and results in: how a sender deviated from its dialect."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

T = TypeVar("T")


class Aspect(StrEnum):
    """The step of signing that a deviation concerns."""

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
    """One mistake, as a phrase whose subject is the sender: "signed the body alone".

    Most often it was the receiver's side that made the difference, which `remedies` tells from the
    rest of the delivery; `remedy` is for mistakes with another remedy than their aspect's.
    """

    aspect: Aspect
    words: str
    remedy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What explains a delivery that is not verified.

    `cause` is one sentence, `deviations` are the mistakes that it consists of. If `explained`, the
    signature is valid with exactly these mistakes. `hashes` is how many hashes the search computed.
    `signed_body` is what was signed, where it is known; `remedy` is for what is not explained.
    `scheme_lines` are the lines of a scheme that says how a sender signs whom none describes.
    """

    cause: str
    deviations: tuple[Deviation, ...]
    explained: bool
    hashes: int
    signed_body: bytes | None = None
    remedy: str | None = None
    scheme_lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant(Generic[T]):
    """One way to do one step of signing, and how it deviates from the dialect.

    A `rare` variant is only tried with all other steps done right.
    """

    value: T
    deviations: tuple[Deviation, ...] = ()
    rare: bool = False


class Variants(Generic[T]):
    """The ways to do one step, by their number of deviations; each number is generated on demand.

    A value that was generated before is left out, so the simpler explanation remains.
    """

    def __init__(self, generate: Callable[[int], Iterable[Variant[T]]]) -> None:
        self._generate = generate
        self._generated: list[Sequence[Variant[T]]] = []
        self._seen: set[T] = set()

    def at(self, distance: int, *, rare: bool) -> Sequence[Variant[T]]:
        """The variants with this many deviations, including rare ones if wanted."""
        while len(self._generated) <= distance:
            self._generated.append(tuple(self._unseen(self._generate(len(self._generated)))))
        variants = self._generated[distance]
        return variants if rare else [variant for variant in variants if not variant.rare]

    def _unseen(self, variants: Iterable[Variant[T]]) -> Iterator[Variant[T]]:
        for variant in variants:
            if variant.value not in self._seen:
                self._seen.add(variant.value)
                yield variant


def sentence(deviations: Iterable[Deviation]) -> str:
    """Join the deviations to one sentence."""
    return "; ".join(deviation.words for deviation in deviations)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownValues:
    """Secrets, bodies and times that a sender may have confused with the right ones.

    The keys of `secrets` and `bodies` describe them: "the secret of endpoint 2", "the body of
    attempt 1". `times` are Unix seconds, of earlier attempts for example.
    """

    secrets: Mapping[str, str] = field(default_factory=dict)
    bodies: Mapping[str, bytes] = field(default_factory=dict)
    times: tuple[float, ...] = ()
