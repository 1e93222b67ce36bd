"""Which deliveries a query is about."""

from dataclasses import dataclass
from typing import Final

from hookproof.receiver.inbox.arrival import Arrival


@dataclass(frozen=True, slots=True, kw_only=True)
class Sieve:
    """Lets through what has this method and this header; None lets everything through.

    A header's name is compared in any case, its value exactly; a value of None asks for its
    presence alone.
    """

    method: str | None = None
    header: str | None = None
    value: str | None = None

    @classmethod
    def parse(cls, method: str | None, header: str | None) -> "Sieve":
        """Read the words of a query: a method, and `Name` or `Name: value`; raises ValueError."""
        if method is None and header is None:
            return ALL
        name, colon, value = (header or "").partition(":")
        if header is not None and not name.strip():
            raise ValueError("header must be a name, or a name, a colon and a value")
        return cls(
            method=method.upper() if method else None,
            header=name.strip().lower() if header is not None else None,
            value=value.strip() if colon else None,
        )

    def passes(self, arrival: Arrival) -> bool:
        """Whether the sieve lets this through."""
        if self.method is not None and arrival.method.upper() != self.method:
            return False
        if self.header is None:
            return True
        values = [value for name, value in arrival.text_headers() if name.lower() == self.header]
        return bool(values) if self.value is None else self.value in values


ALL: Final = Sieve()
