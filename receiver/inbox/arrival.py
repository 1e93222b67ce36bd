"""A request as the inbox keeps it: what the wire carried, and what became of it since.

It is lean, since one is made for each request: headers stay bytes until somebody asks for the
delivery, and what the requests of one connection have in common is kept once.
"""

import msgspec

from hookproof.receiver.inbox.delivery import ReceivedDelivery, TlsFacts

RawHeaders = tuple[tuple[bytes, bytes], ...]
# About what an arrival takes in memory beside its headers and its body.
OVERHEAD_BYTES = 640


class Sender(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Who is at the other end of a connection, as in `ReceivedDelivery`."""

    peer_port: int
    client_certificate: str | None = None
    tls: TlsFacts | None = None


class Arrival(msgspec.Struct, kw_only=True, array_like=True, gc=False):
    """One request; its members are those of `ReceivedDelivery`.

    The inbox gives it its `sequence`, its `weight` in memory in bytes, and a `place` as soon as it
    no longer is there.
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
        """The headers as text, each byte one character."""
        return tuple(
            [(name.decode("latin-1"), value.decode("latin-1")) for name, value in self.headers]
        )

    def weighed(self) -> int:
        """About how many bytes of memory it takes."""
        return (
            len(self.body)
            + sum([len(name) + len(value) for name, value in self.headers])
            + OVERHEAD_BYTES
        )

    def delivery(self) -> ReceivedDelivery:
        """The request as it stands now."""
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
