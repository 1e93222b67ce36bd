"""The deliveries: implements the engine's `DeliveryStore` (`mockserver/delivery/store_port.py`)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from hookproof.mockserver.delivery.store_port import (
    ClientCertificate,
    Clock,
    DeliveryState,
    EndpointSettings,
    PendingDelivery,
    Record,
    SigningSecret,
    Start,
    certificate_encoding,
)
from hookproof.mockserver.store.database import Database
from hookproof.mockserver.store.endpoints import decode_secrets
from hookproof.mockserver.store.identifiers import create_timestamp_writer
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import ZeroTimeout

# How long an attempt may take where nothing limits it: longer than any process lives.
UNLIMITED_S: Final = 10.0**9

_WAITING: Final = """SELECT DISTINCT endpoints.uid
    FROM deliveries JOIN endpoints ON endpoints.seq = deliveries.endpoint
    WHERE deliveries.due_at IS NOT NULL"""
_PENDING: Final = """SELECT deliveries.id,
        events.uid, events.event_type, events.payload, events.headers,
        deliveries.attempts, deliveries.due_at
    FROM deliveries JOIN events ON events.seq = deliveries.event
    WHERE deliveries.endpoint = (SELECT seq FROM endpoints WHERE uid = ?)
        AND deliveries.due_at IS NOT NULL
    ORDER BY deliveries.due_at, deliveries.id LIMIT ?"""
_ENDPOINT: Final = "SELECT document, credentials, secrets, receives FROM endpoints WHERE uid = ?"
_STARTS: Final = """SELECT started_at FROM starts
    WHERE endpoint = (SELECT seq FROM endpoints WHERE uid = ?) AND started_at >= ?
    ORDER BY started_at"""
_ANY_START: Final = "SELECT EXISTS (SELECT 1 FROM starts)"
_START: Final = """INSERT INTO starts (endpoint, started_at, counts_until, delivery)
    SELECT endpoint, ?, ?, id FROM deliveries WHERE id = ?"""
_FORGET_STARTS: Final = "DELETE FROM starts WHERE counts_until < ?"
_COUNT_STARTS: Final = "SELECT count(*) FROM starts"
_ATTEMPT: Final = """INSERT INTO attempts
    (delivery, earlier, number, started_at, finished_at, status, failure, detail)
    SELECT id, attempts, ?, ?, ?, ?, ?, ? FROM deliveries WHERE id = ?"""
_STATE: Final = "UPDATE deliveries SET state = ?, due_at = ?, attempts = attempts + ? WHERE id = ?"
_DELIVERED: Final = """UPDATE tallies SET delivered = delivered + ?, failed_in_a_row = 0
    WHERE endpoint = (SELECT endpoint FROM deliveries WHERE id = ?)"""
_EXHAUSTED: Final = """UPDATE tallies
    SET failed = failed + ?1, failed_in_a_row = failed_in_a_row + ?1
    WHERE endpoint = (SELECT endpoint FROM deliveries WHERE id = ?2)"""
_IN_A_ROW: Final = (
    "SELECT failed_in_a_row FROM tallies WHERE endpoint = (SELECT seq FROM endpoints WHERE uid = ?)"
)
_DEACTIVATE: Final = (
    "UPDATE endpoints SET active = 0, receives = ?, updated_at = ? WHERE uid = ? AND active"
)

# What a clock that was set back between two processes left in the future. A first attempt is due
# when its event was accepted, another one as long after the one before it as it was to wait.
_PUT_RIGHT: Final = (
    """UPDATE deliveries SET due_at = :now + due_at - latest.at
        FROM (SELECT id, coalesce(max(finished_at), due_at) AS at
            FROM deliveries LEFT JOIN attempts ON delivery = id WHERE due_at > :now GROUP BY id
        ) AS latest
        WHERE deliveries.id = latest.id AND latest.at > :now""",
    """UPDATE OR REPLACE starts
        SET started_at = :now, counts_until = :now + counts_until - started_at
        WHERE started_at > :now""",
    "UPDATE endpoints SET visible_from = :now WHERE visible_from > :now",
)

_COUNTS: Final = {DeliveryState.DELIVERED: _DELIVERED, DeliveryState.EXHAUSTED: _EXHAUSTED}
# As many endpoints as one broadcast is likely to reach.
_MAX_CACHED: Final = 16384
# How many starts are recorded before old ones are deleted again.
_FEW_STARTS: Final = 10_000


class _DeliveryDocument(msgspec.Struct):
    """The members of an endpoint's document that deliveries depend on.

    The API has filled in the dialect's defaults when it created the endpoint.
    """

    url: str
    content_type: str
    advanced_signatures: bool
    http_timeout: int
    rate_limit_duration: int
    rate_limit: int | None = None
    project_id: str = ""


class StoredCredentials(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What deliveries present to the destination, and contacts, unmasked (sections 2.3 and 2.5)."""

    authentication: dict[str, Any] | None = None
    mtls_client_cert: dict[str, Any] | None = None
    slack_webhook_url: str | None = None
    support_email: str | None = None

    @property
    def client_certificate(self) -> ClientCertificate | None:
        """The certificate for mutual TLS, if both certificate and key are given."""
        halves = self.mtls_client_cert or {}
        certificate, key = halves.get("client_cert"), halves.get("client_key")
        return ClientCertificate(certificate=certificate, key=key) if certificate and key else None


class _CachedSettings(msgspec.Struct, gc=False):
    """Settings, the row they were parsed from, and the last `endpoint_changes` they hold for."""

    changes: int
    row: tuple[Any, ...]
    settings: EndpointSettings


_decode_document: Final = msgspec.json.Decoder(_DeliveryDocument).decode
_decode_credentials: Final = msgspec.json.Decoder(StoredCredentials).decode
_decode_headers: Final = msgspec.json.Decoder(dict[str, str]).decode


def put_times_right(database: Database, now: float) -> None:
    """Bring stored times that lie ahead of the clock back to it; called at the start."""
    with database.transaction():
        for statement in _PUT_RIGHT:
            database.write(statement, {"now": now})


class Deliveries:
    def __init__(self, database: Database, dialect: Dialect, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._timestamp = create_timestamp_writer(dialect.representation.timestamp.value)
        self._rules = dialect.delivery
        self._encoding = certificate_encoding(dialect)
        self._cache: dict[str, _CachedSettings] = {}
        self._recorded_starts = 0
        self._many_starts = _FEW_STARTS

    def waiting_endpoints(self) -> Iterable[str]:
        """Return the uids of all endpoints with a pending delivery."""
        return [uid for (uid,) in self._database.read(_WAITING)]

    def pending(self, endpoint_uid: str, limit: int) -> Sequence[PendingDelivery]:
        """Return up to `limit` pending deliveries of an endpoint, earliest first."""
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
        """Return the current settings of an endpoint."""
        cached, changes = self._cache.get(uid), self._database.endpoint_changes
        if cached is not None and cached.changes == changes:
            return cached.settings
        row = self._database.read(_ENDPOINT, (uid,)).fetchone()
        if row is None:
            return None
        if cached is not None and cached.row == row:
            cached.changes = changes  # another endpoint changed
            return cached.settings
        if len(self._cache) >= _MAX_CACHED:
            self._cache.clear()
        settings = self._settings(uid, *row)
        self._cache[uid] = _CachedSettings(changes, row, settings)
        return settings

    def _settings(
        self,
        uid: str,
        stored_document: bytes,
        stored_credentials: bytes | None,
        secrets: bytes,
        receives: int,
    ) -> EndpointSettings:
        document = _decode_document(stored_document)
        credentials = (
            StoredCredentials()
            if stored_credentials is None
            else _decode_credentials(stored_credentials)
        )
        certificate = credentials.client_certificate
        return EndpointSettings(
            uid=uid,
            project=document.project_id,
            url=document.url,
            content_type=document.content_type,
            advanced_signatures=document.advanced_signatures,
            http_timeout_s=self._timeout_s(document.http_timeout),
            # Section 8: a rate_limit or a duration of 0 means no limit. Where the dialect refuses
            # it, the contract did so before the endpoint was stored.
            rate_limit=(document.rate_limit or None) if document.rate_limit_duration else None,
            rate_window_s=document.rate_limit_duration * self._rules.rate_limit_unit.in_seconds,
            secrets=tuple(
                SigningSecret(value=secret.value, expires_at=secret.ends)
                for secret in decode_secrets(secrets)
            ),
            authentication=credentials.authentication,
            client_certificate=None if certificate is None else certificate.in_pem(self._encoding),
            receives=bool(receives),
        )

    def _timeout_s(self, http_timeout: int) -> float:
        """Section 8: what a time-out of 0 means; where it is refused, the contract did that."""
        zero = self._rules.zero_http_timeout
        if http_timeout or not zero.decided:
            return http_timeout
        if zero.value is ZeroTimeout.DEFAULT:
            return self._rules.default_timeout_s.value
        return UNLIMITED_S if zero.value is ZeroTimeout.UNLIMITED else 0

    def holds_starts(self) -> bool:
        return bool(self._database.read(_ANY_START).fetchone()[0])

    def recent_starts(self, endpoint_uid: str, since: float) -> Sequence[float]:
        """Return when attempts of an endpoint started, oldest first."""
        return [started_at for (started_at,) in self._database.read(_STARTS, (endpoint_uid, since))]

    def record_starts(self, starts: Sequence[Start]) -> None:
        """Store the starts of attempts.

        They are committed before this returns, since the limit holds across restarts (section 8).
        """
        rows = [(start.at, start.counts_until, start.delivery.id) for start in starts]
        with self._database.transaction() as database:
            database.write_many(_START, rows)
            self._recorded_starts += len(rows)
            if self._recorded_starts > self._many_starts:
                self._forget_starts()

    def record(self, records: Sequence[Record]) -> None:
        """Store the outcomes of attempts, all or none.

        A delivery that a reset has deleted meanwhile stays deleted.
        """
        states, attempts = [], []
        counts: dict[DeliveryState, Counter[str]] = {state: Counter() for state in _COUNTS}
        any_delivery: dict[str, int] = {}
        for delivery, outcome, state, due_at in records:
            states.append((state.value, due_at, outcome.number is not None, delivery.id))
            failure = None if outcome.failure is None else outcome.failure.value
            times = (outcome.started_at, outcome.finished_at)
            attempts.append(
                (outcome.number, *times, outcome.status, failure, outcome.detail, delivery.id)
            )
            if state in _COUNTS:
                counts[state][delivery.endpoint_uid] += 1
                any_delivery[delivery.endpoint_uid] = delivery.id
        with self._database.transaction() as database:
            # Attempts come first: the statement reads the number of earlier ones.
            database.write_many(_ATTEMPT, attempts)
            database.write_many(_STATE, states)
            for state, of_endpoints in counts.items():
                database.write_many(
                    _COUNTS[state],
                    [(count, any_delivery[uid]) for uid, count in of_endpoints.items()],
                )

    def _forget_starts(self) -> None:
        """Delete the starts that no longer count. It runs so rarely that a start costs little."""
        self._database.write(_FORGET_STARTS, (self._clock(),))
        (remaining,) = self._database.read(_COUNT_STARTS).fetchone()
        self._recorded_starts, self._many_starts = 0, max(_FEW_STARTS, remaining)

    def exhausted_in_a_row(self, endpoint_uid: str) -> int:
        """Return how many deliveries were exhausted since the last one that was delivered."""
        row = self._database.read(_IN_A_ROW, (endpoint_uid,)).fetchone()
        return 0 if row is None else int(row[0])

    def deactivate(self, endpoint_uid: str) -> bool:
        """Disable an endpoint that keeps failing (section 2.3); return whether it was active."""
        changed_at = self._timestamp(self._clock())
        row = (self._rules.disabled_receives.value, changed_at, endpoint_uid)
        return self._database.write(_DEACTIVATE, row).rowcount > 0


_COLUMNS: Final = {
    "id": "deliveries.id",
    "project": "events.project",
    "event": "events.uid",
    "event_type": "events.event_type",
    "endpoint": "endpoints.uid",
    "state": "deliveries.state",
    "due_at": "deliveries.due_at",
}
DELIVERY_FIELDS: Final = tuple(_COLUMNS)
_MAX_ENTRIES: Final = 5000
_DELIVERIES: Final = f"""SELECT {", ".join(_COLUMNS.values())} FROM deliveries
    JOIN events ON events.seq = deliveries.event
    JOIN endpoints ON endpoints.seq = deliveries.endpoint"""
_ATTEMPT_FIELDS: Final = ("number", "started_at", "finished_at", "status", "failure", "detail")
_ATTEMPTS: Final = f"""SELECT delivery, {", ".join(_ATTEMPT_FIELDS)} FROM attempts
    WHERE delivery BETWEEN ? AND ? ORDER BY delivery, earlier"""
_STATES: Final = "SELECT state, count(*) FROM deliveries GROUP BY state"


class DeliveryJournal:
    def __init__(self, database: Database) -> None:
        self._database = database

    def entries(self, filters: dict[str, str]) -> list[dict[str, Any]]:
        """Return the latest deliveries that match, with their attempts, oldest first."""
        terms = " AND ".join(f"CAST({_COLUMNS[name]} AS TEXT) = ?" for name in filters) or "TRUE"
        statement = f"{_DELIVERIES} WHERE {terms} ORDER BY deliveries.id DESC LIMIT {_MAX_ENTRIES}"
        rows = self._database.read(statement, tuple(filters.values())).fetchall()[::-1]
        if not rows:
            return []
        attempts = defaultdict(list)
        for delivery, *values in self._database.read(_ATTEMPTS, (rows[0][0], rows[-1][0])):
            attempts[delivery].append(dict(zip(_ATTEMPT_FIELDS, values, strict=True)))
        return [
            {**dict(zip(_COLUMNS, row, strict=True)), "attempts": attempts[row[0]]} for row in rows
        ]

    def counts(self) -> dict[str, int]:
        """Return the number of deliveries by state."""
        return dict(self._database.read(_STATES))
