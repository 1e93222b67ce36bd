"""A request as the inbox stores it, and the filter by which a query chooses some.

One is made for each request, so it is lean: headers stay bytes until somebody asks for the
delivery, and what the requests of one connection have in common is stored once.
"""

from dataclasses import dataclass
from typing import Final

import msgspec

from hookproof.receiver.inbox.delivery import ReceivedDelivery, TlsFacts

RawHeaders = tuple[tuple[bytes, bytes], ...]
# The approximate size of an arrival in memory, without its headers and its body.
OVERHEAD_BYTES = 640


class Sender(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The other end of a connection; fields as in `ReceivedDelivery`."""

    peer_port: int
    client_certificate: str | None = None
    tls: TlsFacts | None = None


class Arrival(msgspec.Struct, kw_only=True, array_like=True, gc=False):
    """One request; fields as in `ReceivedDelivery`.

    The inbox sets `sequence`, `weight` (its size in memory, in bytes) and, once it has moved to
    disk, `place`.
    """

    token: str
    method: str
    path: str
    headers: RawHeaders
    body: bytes
    arrived_at: float
    arrived_monotonic: float
    sender: Sender
    sequence: int = 0
    weight: int = 0
    place: int | None = None
    completed_monotonic: float | None = None
    closed_monotonic: float | None = None
    status: int | None = None

    def text_headers(self) -> tuple[tuple[str, str], ...]:
        """The headers decoded as Latin-1."""
        return tuple(
            [(name.decode("latin-1"), value.decode("latin-1")) for name, value in self.headers]
        )

    def memory_bytes(self) -> int:
        """The approximate size in memory, in bytes."""
        return (
            len(self.body)
            + sum([len(name) + len(value) for name, value in self.headers])
            + OVERHEAD_BYTES
        )

    def delivery(self) -> ReceivedDelivery:
        return ReceivedDelivery(
            token=self.token,
            sequence=self.sequence,
            method=self.method,
            path=self.path,
            headers=self.text_headers(),
            body=self.body,
            arrived_at=self.arrived_at,
            arrived_monotonic=self.arrived_monotonic,
            completed_monotonic=self.completed_monotonic,
            closed_monotonic=self.closed_monotonic,
            peer_port=self.sender.peer_port,
            client_certificate=self.sender.client_certificate,
            tls=self.sender.tls,
            status=self.status,
        )


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
