"""The deliveries, as the engine's port asks for them (`mockserver/delivery/port.py`)."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from mockserver.delivery.port import (
    AttemptOutcome,
    ClientCertificate,
    Clock,
    DeliveryState,
    EndpointSettings,
    PendingDelivery,
    SigningSecret,
)
from mockserver.identifiers import timestamp_writer
from mockserver.store.database import Database
from mockserver.store.endpoints import decoded_secrets
from spec.dialect import Dialect

_WAITING: Final = """SELECT DISTINCT endpoints.uid FROM deliveries JOIN endpoints ON endpoints.seq = deliveries.endpoint
    WHERE deliveries.due_at IS NOT NULL"""
_PENDING: Final = """SELECT deliveries.id, events.uid, events.event_type, events.payload, events.headers,
        deliveries.attempts, deliveries.due_at
    FROM deliveries JOIN events ON events.seq = deliveries.event
    WHERE deliveries.endpoint = (SELECT seq FROM endpoints WHERE uid = ?) AND deliveries.due_at IS NOT NULL
    ORDER BY deliveries.due_at, deliveries.id LIMIT ?"""
_ENDPOINT: Final = "SELECT document, credentials, secrets, receives FROM endpoints WHERE uid = ?"
_STARTS: Final = """SELECT started_at FROM starts
    WHERE endpoint = (SELECT seq FROM endpoints WHERE uid = ?) AND started_at >= ? ORDER BY started_at"""
_START: Final = "INSERT INTO starts (endpoint, started_at) SELECT seq, ? FROM endpoints WHERE uid = ?"
_FORGET_STARTS: Final = """DELETE FROM starts
    WHERE endpoint = (SELECT seq FROM endpoints WHERE uid = ?) AND started_at < ?"""
_ATTEMPT: Final = """INSERT INTO attempts (delivery, number, started_at, finished_at, status, failure, detail)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""
_STATE: Final = "UPDATE deliveries SET state = ?, due_at = ?, attempts = attempts + ? WHERE id = ?"
_DELIVERED: Final = "UPDATE endpoints SET delivered = delivered + 1, failed_in_a_row = 0 WHERE uid = ?"
_EXHAUSTED: Final = "UPDATE endpoints SET failed = failed + 1, failed_in_a_row = failed_in_a_row + 1 WHERE uid = ?"
_IN_A_ROW: Final = "SELECT failed_in_a_row FROM endpoints WHERE uid = ?"
_DEACTIVATE: Final = "UPDATE endpoints SET active = 0, receives = ?, updated_at = ? WHERE uid = ? AND active"

_COUNTS: Final = {DeliveryState.DELIVERED: _DELIVERED, DeliveryState.EXHAUSTED: _EXHAUSTED}


class _Document(msgspec.Struct):
    """The members of an endpoint's document that deliveries depend on."""

    url: str
    content_type: str
    advanced_signatures: bool
    http_timeout: int | None = None
    rate_limit: int | None = None
    rate_limit_duration: int | None = None


class Credentials(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What deliveries present to the destination, and who is notified, all of it unmasked (sections 2.3 and 2.5)."""

    authentication: dict[str, Any] | None = None
    mtls_client_cert: dict[str, str] | None = None
    slack_webhook_url: str | None = None
    support_email: str | None = None

    @property
    def client_certificate(self) -> ClientCertificate | None:
        """The certificate for mutual TLS, once both of its halves are there."""
        halves = self.mtls_client_cert or {}
        certificate, key = halves.get("client_cert"), halves.get("client_key")
        return ClientCertificate(certificate=certificate, key=key) if certificate and key else None


_decode_document: Final = msgspec.json.Decoder(_Document).decode
_decode_credentials: Final = msgspec.json.Decoder(Credentials).decode
_decode_headers: Final = msgspec.json.Decoder(dict[str, str]).decode


class Deliveries:
    """The engine's view of the database: a `DeliveryStore`."""

    def __init__(self, database: Database, dialect: Dialect, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._timestamp = timestamp_writer(dialect.representation.timestamp.value)
        self._rules = dialect.delivery

    def waiting_endpoints(self) -> Iterable[str]:
        """The uids of all endpoints with a pending delivery."""
        return [uid for (uid,) in self._database.read(_WAITING)]

    def pending(self, endpoint_uid: str, limit: int) -> Sequence[PendingDelivery]:
        """Up to `limit` pending deliveries of an endpoint, earliest first."""
        return [
            PendingDelivery(
                id=row[0],
                event_uid=row[1],
                event_type=row[2],
                endpoint_uid=endpoint_uid,
                body=row[3],
                custom_headers=_decode_headers(row[4]),
                attempts=row[5],
                due_at=row[6],
            )
            for row in self._database.read(_PENDING, (endpoint_uid, limit))
        ]

    def endpoint(self, uid: str) -> EndpointSettings | None:
        """The settings of an endpoint as they are now."""
        row = self._database.read(_ENDPOINT, (uid,)).fetchone()
        if row is None:
            return None
        document = _decode_document(row[0])
        credentials = Credentials() if row[1] is None else _decode_credentials(row[1])
        rules = self._rules
        window = document.rate_limit_duration or rules.default_rate_limit_duration.value
        return EndpointSettings(
            uid=uid,
            url=document.url,
            content_type=document.content_type,
            advanced_signatures=document.advanced_signatures,
            http_timeout_s=document.http_timeout or rules.default_timeout_s.value,
            rate_limit=document.rate_limit or None,
            rate_window_s=window * rules.rate_limit_unit.in_seconds,
            secrets=tuple(SigningSecret(value=one.value, expires_at=one.ends) for one in decoded_secrets(row[2])),
            authentication=credentials.authentication,
            client_certificate=credentials.client_certificate,
            receives=bool(row[3]),
        )

    def recent_starts(self, endpoint_uid: str, since: float) -> Sequence[float]:
        """When attempts of an endpoint started, oldest first; earlier ones are forgotten."""
        self._database.write(_FORGET_STARTS, (endpoint_uid, since))
        return [started_at for (started_at,) in self._database.read(_STARTS, (endpoint_uid, since))]

    def record_start(self, delivery: PendingDelivery, started_at: float) -> None:
        """Remember a start; committed before this returns, since the limit holds across restarts (section 8)."""
        self._database.write(_START, (started_at, delivery.endpoint_uid))
        self._database.commit()

    def record_attempt(
        self, delivery: PendingDelivery, outcome: AttemptOutcome, state: DeliveryState, due_at: float | None
    ) -> None:
        """Write down an attempt and where the delivery stands now."""
        attempted = outcome.number is not None
        if self._database.write(_STATE, (state.value, due_at, attempted, delivery.id)).rowcount == 0:
            return  # A reset came in between.
        failure = None if outcome.failure is None else outcome.failure.value
        times = (outcome.started_at, outcome.finished_at)
        self._database.write(_ATTEMPT, (delivery.id, outcome.number, *times, outcome.status, failure, outcome.detail))
        if state in _COUNTS:
            self._database.write(_COUNTS[state], (delivery.endpoint_uid,))

    def exhausted_in_a_row(self, endpoint_uid: str) -> int:
        """How many deliveries of an endpoint were exhausted since the last one that was delivered."""
        row = self._database.read(_IN_A_ROW, (endpoint_uid,)).fetchone()
        return 0 if row is None else int(row[0])

    def deactivate(self, endpoint_uid: str) -> bool:
        """Disable an endpoint that keeps failing (section 2.3), if it is active."""
        changed_at = self._timestamp(self._clock())
        row = (self._rules.disabled_receives.value, changed_at, endpoint_uid)
        return self._database.write(_DEACTIVATE, row).rowcount > 0
