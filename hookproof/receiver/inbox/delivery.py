"""One request as the receiver saw it: raw, in order, with its times.

`ReceivedDelivery` is what the control API shows and what its client returns. Nothing in it has been
parsed and serialized again: a parsed copy would hide the very mistakes that a signature reveals.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any

import msgspec

# A moment or a duration in seconds, such as can be counted with.
Seconds = Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFacts:
    """The outcome of the TLS handshake.

    `server_name` is the name that the sender asked for, if any.
    """

    version: str
    cipher: str
    server_name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedDelivery:
    """A request to one of the receiver's tokens.

    `sequence` counts the token's requests from 1. `path` is the request target as sent, with the
    query. Headers are decoded as Latin-1 and keep their order and case. `arrived_at` is in Unix
    seconds; the monotonic times, also in seconds, use the clock that all processes on the machine
    share. `completed_monotonic` and `status` are None until an answer was sent completely;
    `closed_monotonic` is when the exchange ended before that, by the sender or by the script.
    `client_certificate` is the SHA-256 of its DER form, in hex; `tls` is None without TLS.
    """

    token: str
    sequence: int
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    arrived_at: Seconds
    arrived_monotonic: Seconds
    completed_monotonic: Seconds | None
    closed_monotonic: Seconds | None = None
    peer_port: int
    client_certificate: str | None
    tls: TlsFacts | None = None
    status: int | None

    @property
    def lasted_s(self) -> float:
        """Seconds from its arrival to its end; 0 while it is open."""
        ended = self.completed_monotonic or self.closed_monotonic
        return 0.0 if ended is None else max(0.0, ended - self.arrived_monotonic)

    def header(self, name: str) -> str | None:
        """The first value of a header, or None; names are compared without case."""
        return next(iter(self.all_headers(name)), None)

    def all_headers(self, name: str) -> tuple[str, ...]:
        """All values of a header in the order sent; names are compared without case."""
        wanted = name.lower()
        return tuple(value for key, value in self.headers if key.lower() == wanted)

    def to_json(self) -> dict[str, object]:
        """The delivery as a JSON object, the body in base64 under `body_b64`."""
        shown: dict[str, object] = {name: getattr(self, name) for name in _SHOWN}
        shown["tls"] = asdict(self.tls) if self.tls else None
        return shown | {"body_b64": base64.b64encode(self.body).decode("ascii")}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ReceivedDelivery":
        """Read what `to_json` returns.

        Raises ValueError if a member is missing or has another type.
        """
        try:
            body = base64.b64decode(value["body_b64"], validate=True)
        except (KeyError, TypeError, binascii.Error):
            raise ValueError("body_b64 must hold the body in base64") from None
        return msgspec.convert({**value, "body": body}, cls)


_SHOWN = tuple(
    field.name for field in fields(ReceivedDelivery) if field.name not in {"body", "tls"}
)
