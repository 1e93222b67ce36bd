"""Serializes stored rows to the JSON of responses: envelope (section 2.1) and resources.

A resource's document is stored as the JSON that is shown; members that change on their own are
inserted here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.serialization.resource_shape import find_resource_shape
from hookproof.mockserver.store.endpoints import EndpointRow, StoredSecret, decode_secrets
from hookproof.spec.contract.service_contract import Contract
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import (
    EventCount,
    EventRaw,
    ExpiredSecrets,
    FailureRate,
    SecretDisplay,
)

encode: Final = msgspec.json.encode
_decode: Final = msgspec.json.decode


class ResponseSerializer:
    def __init__(self, contract: Contract, dialect: Dialect, clock: Callable[[], float]) -> None:
        shown = dialect.representation
        self._clock = clock
        self._lists_expired = not shown.expired_secrets.prefers(ExpiredSecrets.LEFT_OUT)
        words = dialect.words
        self.endpoints = find_resource_shape(contract, "Endpoint", shown).without(
            "status", "events", "failure_rate", "updated_at", "secrets"
        )
        self.portal_links = find_resource_shape(contract, "PortalLink", shown).without(
            "endpoints", "endpoint_count", "endpoints_metadata"
        )
        self.sources = find_resource_shape(contract, "Source", shown)
        self._counts_delivered = shown.event_count.prefers(EventCount.DELIVERED)
        rate = shown.failure_rate.value if shown.failure_rate.decided else FailureRate.PERCENT
        self._whole_rate = rate.whole
        self._shows_raw = not shown.event_raw.prefers(EventRaw.NONE)
        inserted = ("data", "endpoint_metadata", *(("raw",) if self._shows_raw else ()))
        self.events = find_resource_shape(contract, "Event", shown).without(*inserted)
        self._blank_secret = find_resource_shape(contract, "Secret", shown).blank
        self._pagination = find_resource_shape(contract, "Pagination", shown)
        self._always_clear = shown.secrets_shown.value is SecretDisplay.ALWAYS
        self._mask = shown.mask
        self._masked_members: dict[str, list[tuple[str, ...]]] = {}
        for path in shown.masked:
            member, *rest = path.split(".")
            self._masked_members.setdefault(member, []).append(tuple(rest))
        self._status = (encode(words.endpoint_disabled.value), encode(words.endpoint_active.value))

    def envelope(self, message: str, data: bytes) -> bytes:
        """Wrap the data of a successful response (section 2.1)."""
        return b'{"status":true,"message":%b,"data":%b}' % (encode(message), data)

    def page(self, items: Iterable[bytes], pagination: Mapping[str, Any]) -> bytes:
        """Serialize the data of a list response (section 2.2)."""
        return b'{"content":[%b],"pagination":%b}' % (
            b",".join(items),
            encode(self._pagination.select(pagination)),
        )

    def endpoint(self, row: EndpointRow, *, clear: bool = False) -> bytes:
        """Serialize an endpoint (section 2.3).

        With `clear`, its secrets were set by the request that is answered, and are shown unmasked.
        """
        return b'%b,"status":%b,"events":%d,"failure_rate":%d,"updated_at":%b,"secrets":%b}' % (
            row.document[:-1],
            self._status[row.active],
            row.delivered if self._counts_delivered else row.events,
            self._failure_rate(row),
            encode(row.updated_at),
            self.secrets(decode_secrets(row.secrets), clear=clear),
        )

    def _failure_rate(self, row: EndpointRow) -> int:
        if self._whole_rate is None:
            return row.failed
        finished = row.delivered + row.failed
        return row.failed * self._whole_rate // finished if finished else 0

    def secrets(self, secrets: Sequence[StoredSecret], *, clear: bool) -> bytes:
        """Serialize the secrets of an endpoint (section 2.4), oldest first."""
        clear = clear or self._always_clear
        shown = []
        now = self._clock()
        for secret in secrets:
            if not self._lists_expired and secret.ends is not None and secret.ends <= now:
                continue
            resource = {
                **self._blank_secret,
                "uid": secret.uid,
                "value": secret.value if clear else self._mask,
                "created_at": secret.created_at,
                "updated_at": secret.updated_at,
            }
            if secret.expires_at is not None:
                resource["expires_at"] = secret.expires_at
            shown.append(resource)
        return encode(shown)

    def mask_credentials(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return a copy of an endpoint's document with its credentials masked."""
        for member, paths in self._masked_members.items():
            for path in paths if document.get(member) else ():
                document = self._mask_at(document, (member, *path))
        return document

    def exposed_endpoints(
        self, endpoints: Sequence[EndpointRow], listed: Sequence[str] | None = None
    ) -> bytes:
        """Serialize the members of a portal link about its endpoints; they end it (section 2.6).

        `listed` is shown as the deprecated list, where that is not of these endpoints.
        """
        return b',"endpoint_count":%d,"endpoints":%b,"endpoints_metadata":[%b]}' % (
            len(endpoints),
            encode([endpoint.uid for endpoint in endpoints] if listed is None else listed),
            b",".join([self.endpoint(endpoint) for endpoint in endpoints]),
        )

    def event(self, document: bytes, payload: bytes, endpoints: Iterable[bytes]) -> bytes:
        """Serialize an event; `data` is an array with the bytes of the payload (section 2.8)."""
        return b'%b,"data":%b%b,"endpoint_metadata":[%b]}' % (
            document[:-1],
            encode(list(payload)),
            b',"raw":%b' % encode(payload.decode()) if self._shows_raw else b"",
            b",".join(endpoints),
        )

    def _mask_at(self, document: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        name, rest = path[0], path[1:]
        value = document.get(name)
        if isinstance(value, dict) and rest:
            return {**document, name: self._mask_at(value, rest)}
        return document if rest or value is None else {**document, name: self.in_place_of(value)}

    def in_place_of(self, _credential: Any) -> str:
        """What is shown in place of a masked credential."""
        return self._mask
