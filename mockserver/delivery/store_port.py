"""What the delivery engine needs of a store, and the values that pass between the two.

The engine keeps no delivery of its own: whatever is pending stands in the store, so a delivery
survives the process and a million of them need no memory. The engine remembers only which endpoints
have work, and reads a few deliveries of each as they come up.

Every method is synchronous and is called from the event loop's thread. What a method wrote is seen
by the next read. All times are unix seconds. What is made for every attempt is a msgspec structure:
it costs a tenth of a data class.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

import msgspec

# Now, in unix seconds.
Clock = Callable[[], float]


class DeliveryState(StrEnum):
    """Where a delivery stands; only a pending one is ever attempted."""

    PENDING = "pending"
    DELIVERED = "delivered"
    EXHAUSTED = "exhausted"
    DROPPED = "dropped"
    DISCARDED = "discarded"


class Failure(StrEnum):
    """Why an attempt has no answer."""

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
    """The mtls_client_cert of an endpoint (section 2.3), both in PEM."""

    certificate: str
    key: str


class EndpointSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine needs to know of an endpoint (section 2.3), with the dialect's defaults
    filled in.

    `http_timeout_s` is above 0. `rate_limit` is None where nothing limits the endpoint, else at
    least 1, with `rate_window_s` above 0. `secrets` go from the oldest to the newest, deleted ones
    left out, expired ones allowed. `authentication` is the object of section 2.5 as it was given,
    unmasked. `receives` says whether deliveries go out at all: true for an active endpoint, and for
    a disabled one where the dialect lets it receive.
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


class PendingDelivery(msgspec.Struct, frozen=True, kw_only=True):
    """One event on its way to one endpoint. `body` is the JSON text of the event's `data`, byte for
    byte as it came.

    `attempts` counts the attempts that are over; `due_at` is when the next one may start.
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
    """How an attempt ended: a status, or else a failure with one line of explanation that holds no
    credential.

    `number` counts from 1. It is None when nothing was attempted: the delivery was dropped or
    discarded.
    """

    number: int | None
    started_at: float
    finished_at: float
    status: int | None
    failure: Failure | None
    detail: str


class Record(NamedTuple):
    """What became of a delivery: where it stands, and when its next attempt is due, if it is
    pending and only then.
    """

    delivery: PendingDelivery
    outcome: AttemptOutcome
    state: DeliveryState
    due_at: float | None


class Start(NamedTuple):
    """An attempt at a rate-limited endpoint, its time, and until when it counts at the latest
    (section 8).
    """

    delivery: PendingDelivery
    at: float
    counts_until: float


class DeliveryStore(Protocol):
    """The deliveries and endpoints, as the engine sees them."""

    def waiting_endpoints(self) -> Iterable[str]:
        """The uids of all endpoints with a pending delivery; read once, when the engine starts."""

    def pending(self, endpoint_uid: str, limit: int) -> Sequence[PendingDelivery]:
        """Up to `limit` pending deliveries of an endpoint, earliest `due_at` first, future ones
        included.

        Ties come in order of acceptance. Deliveries under way are pending too: the engine knows its
        own.
        """

    def endpoint(self, uid: str) -> EndpointSettings | None:
        """The settings of an endpoint as they are now, None for an unknown one.

        It is asked before each attempt, so that a rolled secret counts at once (section 4.3): keep
        parsed settings at hand rather than parse them here.
        """

    def holds_starts(self) -> bool:
        """Whether any start of an attempt is remembered; asked once, when the engine starts."""

    def recent_starts(self, endpoint_uid: str, since: float) -> Sequence[float]:
        """When the attempts of a rate-limited endpoint started, oldest first, from `since` on
        (section 8).
        """

    def record_starts(self, starts: Sequence[Start]) -> None:
        """Remember that attempts to rate-limited endpoints start now.

        All of it outlives a killed process when this returns, since the limit holds across
        restarts, and nothing of it is stored when this raises. It is not called for endpoints
        without a limit.
        """

    def record(self, records: Sequence[Record]) -> None:
        """Write down what became of deliveries: all of it outlives a killed process, or this raises
        and none is stored.

        `attempts` of a delivery grows by one when `outcome.number` is given. A delivery that is
        gone from the store is passed over.
        """

    def exhausted_in_a_row(self, endpoint_uid: str) -> int:
        """How many deliveries of an endpoint were exhausted since the last one that was delivered."""

    def deactivate(self, endpoint_uid: str) -> bool:
        """Disable an endpoint that keeps failing, and say whether it was active until now (section
        3).

        Its settings then no longer say that it receives, unless the dialect lets disabled endpoints
        receive.
        """


class OutcomeObserver(Protocol):
    """Who wants to hear of deliveries that failed for good; called when that was written into the
    store.
    """

    def given_up(
        self, delivery: PendingDelivery, outcome: AttemptOutcome, *, deactivated: bool
    ) -> None:
        """A delivery was exhausted with this attempt, and maybe its endpoint disabled with it.

        It neither raises nor waits: deliveries go on when it returns.
        """
