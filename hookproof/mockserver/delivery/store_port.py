"""The store that the delivery engine needs, as a protocol, and the values that pass between them.

The engine keeps no deliveries of its own: what is pending is in the store, so a delivery survives
the process and a million of them need no memory. The engine remembers only which endpoints have
work, and reads a few deliveries of each at a time.

Every method is synchronous and is called from the thread of the event loop. The next read sees what
a method wrote. All times are unix seconds. The values made for every attempt are msgspec structs,
because one costs a tenth of a data class.
"""

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

import msgspec

from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import CertificateEncoding

# Returns the current time in unix seconds.
Clock = Callable[[], float]


class DeliveryState(StrEnum):
    """The state of a delivery; only a pending delivery is attempted."""

    PENDING = "pending"
    DELIVERED = "delivered"
    EXHAUSTED = "exhausted"
    DROPPED = "dropped"
    DISCARDED = "discarded"


class Failure(StrEnum):
    """Why an attempt got no response."""

    TIMEOUT = "timeout"
    CONNECTION = "connection"
    TLS = "tls"
    EGRESS = "egress"
    PROTOCOL = "protocol"
    CREDENTIALS = "credentials"
    CONFIGURATION = "configuration"
    RATE_LIMIT = "rate_limit"
    ENDPOINT = "endpoint"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningSecret:
    """A secret of an endpoint (section 2.4); `expires_at` is None for the current one."""

    value: str
    expires_at: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCertificate:
    """The mtls_client_cert of an endpoint (section 2.3): certificate and key in PEM."""

    certificate: str
    key: str

    def in_pem(self, encoding: CertificateEncoding) -> "ClientCertificate":
        """The same pair, of which both halves are written like this; raises ValueError."""
        if encoding is CertificateEncoding.PEM:
            return self
        return ClientCertificate(
            certificate=_pem("CERTIFICATE", self.certificate), key=_pem("PRIVATE KEY", self.key)
        )


def _pem(label: str, text: str) -> str:
    der = base64.encodebytes(base64.b64decode(text, validate=True)).decode()
    return f"-----BEGIN {label}-----\n{der}-----END {label}-----"


def certificate_encoding(dialect: Dialect) -> CertificateEncoding:
    """How endpoints write their certificates: in PEM, unless the dialect says otherwise."""
    encoding = dialect.requests.client_certificate
    return encoding.value if encoding.decided else CertificateEncoding.PEM


class EndpointSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine needs to know about an endpoint (section 2.3).

    Where a request left out a setting, the dialect's default is here; an `http_timeout_s` of 0 was
    requested. `rate_limit` is None without a limit, otherwise at least 1, with `rate_window_s`
    above 0. `secrets` are ordered from the oldest to the newest, without deleted ones; they may
    include expired ones.

    `authentication` is the object of section 2.5 as it was sent, unmasked. `receives` is true for
    an active endpoint, and for a disabled one if the dialect lets it receive.
    """

    uid: str
    url: str
    content_type: str
    advanced_signatures: bool
    http_timeout_s: float
    rate_limit: int | None
    rate_window_s: float
    secrets: tuple[SigningSecret, ...]
    authentication: Mapping[str, object] | None
    client_certificate: ClientCertificate | None
    receives: bool
    project: str = ""


class PendingDelivery(msgspec.Struct, frozen=True, kw_only=True):
    """One event to be delivered to one endpoint.

    `body` is the JSON text of the event's `data`, byte for byte as it was received. `attempts`
    counts the attempts that are over; `due_at` is when the next one may start.
    """

    id: int
    event_uid: str
    event_type: str
    endpoint_uid: str
    body: bytes
    custom_headers: Mapping[str, str]
    attempts: int
    due_at: float


class AttemptOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How an attempt ended: with a status, or with a failure and one line of explanation.

    `detail` contains no credential. `number` counts from 1; it is None if nothing was attempted,
    because the delivery was dropped or discarded.
    """

    number: int | None
    started_at: float
    finished_at: float
    status: int | None
    failure: Failure | None
    detail: str


class Record(NamedTuple):
    """What became of a delivery; `due_at` is the next attempt of a pending one, otherwise None."""

    delivery: PendingDelivery
    outcome: AttemptOutcome
    state: DeliveryState
    due_at: float | None


class Start(NamedTuple):
    """The start of an attempt at a rate-limited endpoint (section 8).

    `counts_until` is the latest time until which it counts against the limit.
    """

    delivery: PendingDelivery
    at: float
    counts_until: float


class DeliveryStore(Protocol):
    """The deliveries and endpoints that the engine reads and writes."""

    def waiting_endpoints(self) -> Iterable[str]:
        """Return the uids of all endpoints with a pending delivery; called at the start."""

    def pending(self, endpoint_uid: str, limit: int) -> Sequence[PendingDelivery]:
        """Return up to `limit` pending deliveries of an endpoint, ordered by `due_at`.

        Deliveries with the same `due_at` are in order of acceptance. Those that are due later are
        included, and those under way as well: the engine knows which ones these are.
        """

    def endpoint(self, uid: str) -> EndpointSettings | None:
        """Return the current settings of an endpoint, or None if it is unknown.

        Called before each attempt, so that a rolled secret signs at once (section 4.3): an
        implementation should cache parsed settings.
        """

    def holds_starts(self) -> bool:
        """Return whether any start of an attempt is stored; called at the start."""

    def recent_starts(self, endpoint_uid: str, since: float) -> Sequence[float]:
        """Return when attempts of a rate-limited endpoint started, since `since`, oldest first."""

    def record_starts(self, starts: Sequence[Start]) -> None:
        """Store the starts of attempts at rate-limited endpoints, all or none.

        They survive a killed process once this returns, because the limit holds across restarts.
        """

    def record(self, records: Sequence[Record]) -> None:
        """Store what became of deliveries, all or none; it survives a killed process.

        `attempts` of a delivery grows by one if `outcome.number` is given. A delivery that is no
        longer in the store is skipped.
        """

    def exhausted_in_a_row(self, endpoint_uid: str) -> int:
        """Return how many deliveries were exhausted since the last one that was delivered."""

    def deactivate(self, endpoint_uid: str) -> bool:
        """Disable an endpoint that keeps failing; return whether it was active (section 3).

        Afterwards `receives` of its settings is false, unless the dialect lets disabled endpoints
        receive.
        """


class OutcomeObserver(Protocol):
    """Is notified of deliveries that failed permanently, after that was stored."""

    def given_up(
        self, delivery: PendingDelivery, outcome: AttemptOutcome, *, deactivated: bool
    ) -> None:
        """Handle a delivery whose last attempt failed; `deactivated` if that disabled its endpoint.

        Must neither raise nor block, because deliveries wait for it to return.
        """
