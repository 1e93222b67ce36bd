"""One request as the receiver saw it: raw, in order, with its times.

`ReceivedDelivery` is what the control API shows and what the client hands back. Nothing in it was
parsed and written again, since a parsed copy hides exactly the faults that a signature is there to
reveal.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import msgspec


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFacts:
    """What was agreed on in the TLS handshake; `server_name` is the name that the sender asked for,
    if any.
    """

    version: str
    cipher: str
    server_name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedDelivery:
    """A request to one of the receiver's tokens.

    `sequence` counts the token's requests from 1. `path` is the request target as sent, query
    included. Headers are Latin-1 text with the order and case that they had on the wire.
    `arrived_at` is in Unix seconds; the monotonic times, in seconds too, share the clock of all
    processes on the machine. `completed_monotonic` and `status` stay None until an answer was sent
    whole; `closed_monotonic` is when the exchange broke off before that, by the sender or by the
    script. `client_certificate` is the SHA-256 of its DER form, in hex; `tls` is None without TLS.
    """

    token: str
    sequence: int
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    arrived_at: float
    arrived_monotonic: float
    completed_monotonic: float | None
    closed_monotonic: float | None = None
    peer_port: int
    client_certificate: str | None
    tls: TlsFacts | None = None
    status: int | None

    def header(self, name: str) -> str | None:
        """The first value of a header, its name in any case; None if it was not sent."""
        return next(iter(self.all_headers(name)), None)

    def all_headers(self, name: str) -> tuple[str, ...]:
        """All values of a header in the order in which they were sent, its name in any case."""
        wanted = name.lower()
        return tuple(value for key, value in self.headers if key.lower() == wanted)

    def to_json(self) -> dict[str, object]:
        """The delivery as a JSON object, its body under `body_b64`."""
        shown: dict[str, object] = {name: getattr(self, name) for name in _SHOWN}
        shown["tls"] = asdict(self.tls) if self.tls else None
        return shown | {"body_b64": base64.b64encode(self.body).decode("ascii")}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ReceivedDelivery":
        """The delivery behind `to_json`; raises ValueError if a member is missing or of another
        type.
        """
        try:
            body = base64.b64decode(value["body_b64"], validate=True)
        except (KeyError, TypeError, binascii.Error):
            raise ValueError("body_b64 must hold the body in base64") from None
        return msgspec.convert({**value, "body": body}, cls)


_SHOWN = tuple(
    field.name for field in fields(ReceivedDelivery) if field.name not in {"body", "tls"}
)
