"""What reports mark in the deliveries of a proof."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The parts of a delivery that are wrong: `texts` of its headers, and the bytes `body` of its
    body, from the first of them to before the second.
    """

    texts: tuple[str, ...] = ()
    body: tuple[int, int] | None = None

    def to_json(self) -> dict[str, Any]:
        return {"texts": list(self.texts), "body": None if self.body is None else list(self.body)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """Reverse `to_json`; raises KeyError, TypeError or ValueError."""
        body = record["body"]
        if body is not None:
            first, end = map(int, body)
            body = (first, end)
        return cls(texts=tuple(map(str, record["texts"])), body=body)


NO_MARKS = Marks()
