"""Which deliveries a query is about."""

from dataclasses import dataclass
from typing import Final

from hookproof.receiver.inbox.arrival import Arrival


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryFilter:
    """Matches deliveries by method and header; None matches any.

    Header names are compared without case, values exactly. A `value` of None matches any value.
    """

    method: str | None = None
    header: str | None = None
    value: str | None = None

    @classmethod
    def parse(cls, method: str | None, header: str | None) -> "DeliveryFilter":
        """Read a method, and `Name` or `Name: value`; raises ValueError."""
        if method is None and header is None:
            return EVERYTHING
        name, colon, value = (header or "").partition(":")
        if header is not None and not name.strip():
            raise ValueError("header must be a name, or a name, a colon and a value")
        return cls(
            method=method.upper() if method else None,
            header=name.strip().lower() if header is not None else None,
            value=value.strip() if colon else None,
        )

    def matches(self, arrival: Arrival) -> bool:
        if self.method is not None and arrival.method.upper() != self.method:
            return False
        if self.header is None:
            return True
        values = [value for name, value in arrival.text_headers() if name.lower() == self.header]
        return bool(values) if self.value is None else self.value in values


EVERYTHING: Final = DeliveryFilter()
