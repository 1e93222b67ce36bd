"""What the service keeps, and how answers show it: every documented field, null without a value."""

import itertools
import json
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import SecretStr

from tests.strangers.ledgerline.bugs import bug
from tests.strangers.ledgerline.schemas import NewEndpoint

Json = dict[str, Any]

MASK = "**********"

_numbers: dict[str, "itertools.count[int]"] = {}


def next_number(kind: str) -> int:
    """Return the next number of a sequence, which all projects share, as in a database."""
    return next(_numbers.setdefault(kind, itertools.count(1)))


def now() -> datetime:
    return datetime.now(UTC)


def stamp(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def masked(value: Any) -> Any:
    """Return what a model holds, credentials as pydantic shows them."""
    if isinstance(value, SecretStr):
        return MASK
    if isinstance(value, dict):
        return {name: masked(member) for name, member in value.items()}
    return value


@dataclass
class Secret:
    value: str
    uid: str = field(default_factory=lambda: f"sec_{next_number('sec'):06d}")
    created: datetime = field(default_factory=now)
    updated: datetime = field(default_factory=now)
    ends: datetime | None = None
    shown_ends: datetime | None = None

    def lives(self, at: datetime) -> bool:
        return self.ends is None or at < self.ends or bug("expired_secret_signs")

    def shown(self) -> Json:
        return {
            "uid": self.uid,
            "value": self.value,
            "created_at": stamp(self.created),
            "updated_at": stamp(self.updated),
            "expires_at": stamp(self.shown_ends),
            "deleted_at": None,
        }


@dataclass
class Endpoint:
    project: str
    sent: NewEndpoint
    secrets: list[Secret]
    number: int = field(default_factory=lambda: next_number("ep"))
    created: datetime = field(default_factory=now)
    updated: datetime = field(default_factory=now)
    events: int = 0
    succeeded: int = 0
    exhausted: int = 0
    sending: deque[float] = field(default_factory=deque)
    token: tuple[str, float] | None = None

    @property
    def uid(self) -> str:
        return f"ep_{self.number:06d}"

    @property
    def owner(self) -> str | None:
        return self.sent.owner_id

    @property
    def active(self) -> bool:
        return not self.sent.is_disabled

    @property
    def timeout(self) -> int:
        return self.sent.http_timeout or 10

    def roll(self, value: str, expiration: int) -> None:
        at = now()
        ends = at + timedelta(seconds=expiration)
        for secret in self.secrets:
            if secret.ends is None or (bug("second_roll_prolongs") and secret.ends > at):
                secret.ends = secret.shown_ends = ends
                if bug("expiry_shown_in_minutes"):
                    secret.shown_ends = at + timedelta(minutes=expiration)
                secret.updated = at
        self.secrets.append(Secret(value))
        self.updated = at

    def shown(self) -> Json:
        sent = self.sent
        done = self.succeeded + self.exhausted
        return {
            "uid": self.uid,
            "project_id": self.project,
            "name": sent.name,
            "description": sent.description,
            "url": sent.url,
            "owner_id": sent.owner_id,
            "content_type": sent.content_type or "application/json",
            "advanced_signatures": bool(sent.advanced_signatures),
            "http_timeout": self.timeout,
            "rate_limit": sent.rate_limit,
            "rate_limit_duration": self.window if sent.rate_limit else sent.rate_limit_duration,
            "slack_webhook_url": sent.slack_webhook_url,
            "support_email": sent.support_email,
            "status": "active" if self.active else "disabled",
            "events": self.events,
            "failure_rate": round(100 * self.exhausted / done) if done else 0,
            "secrets": [secret.shown() for secret in self.secrets],
            "authentication": masked(sent.authentication and sent.authentication.model_dump()),
            "mtls_client_cert": masked(
                sent.mtls_client_cert and sent.mtls_client_cert.model_dump()
            ),
            "created_at": stamp(self.created),
            "updated_at": stamp(self.updated),
            "deleted_at": None,
        }

    @property
    def window(self) -> int:
        if bug("window_of_a_minute"):
            return 60
        return self.sent.rate_limit_duration or 1


@dataclass
class Link:
    project: str
    name: str
    owner: str | None
    created: datetime
    number: int = field(default_factory=lambda: next_number("pl") + 180)
    manage: bool = True
    auth_type: str = "refresh_token"
    added: list[str] = field(default_factory=list)
    updated: datetime = field(default_factory=now)
    first_owner: str | None = None

    @property
    def uid(self) -> str:
        return f"pl_{self.number:06d}"

    def shown(self, endpoints: list[Endpoint]) -> Json:
        count = 1 if bug("count_kept") else len(endpoints)
        return {
            "uid": self.uid,
            "project_id": self.project,
            "name": self.name,
            "owner_id": self.owner,
            "endpoints": [endpoint.uid for endpoint in endpoints],
            "endpoint_count": count,
            "endpoints_metadata": [endpoint.shown() for endpoint in endpoints],
            "can_manage_endpoint": self.manage,
            "auth_type": self.auth_type,
            "auth_key": f"lk_{self.number * 7919:010x}",
            "token": f"lt_{self.number * 104729:012x}",
            "url": f"https://ledgerline.invalid/portal/{self.uid}",
            "created_at": stamp(self.created),
            "updated_at": stamp(self.updated),
            "deleted_at": None,
        }


@dataclass
class Source:
    project: str
    name: str
    type: str
    provider: str | None
    verifier: str
    created: datetime
    number: int = field(default_factory=lambda: next_number("src"))

    @property
    def uid(self) -> str:
        return f"src_{self.number:06d}"

    def shown(self) -> Json:
        members: Json = {"type": self.verifier, "api_key": None, "basic_auth": None, "hmac": None}
        if self.verifier == "api_key":
            members["api_key"] = {"header_name": "X-Api-Key", "header_value": MASK}
        if self.verifier == "basic_auth":
            members["basic_auth"] = {"username": "incoming", "password": MASK}
        if self.verifier == "hmac":
            header = "X-Hub-Signature-256"
            members["hmac"] = {
                "encoding": "hex",
                "hash": "SHA256",
                "header": header,
                "secret": MASK,
            }
        http = self.type == "http"
        names = ("access_key_id", "secret_key", "default_region", "queue_name", "endpoint")
        queue = {"type": "sqs", "workers": 1, "amqp": None, "google": None, "kafka": None}
        return {
            "uid": self.uid,
            "project_id": self.project,
            "name": self.name,
            "type": self.type,
            "provider": self.provider,
            "provider_config": None,
            "url": f"https://ledgerline.invalid/in/{self.uid}" if http else None,
            "mask_id": f"mask_{self.number:06d}",
            "is_disabled": False,
            "forward_headers": ["X-Request-Id"] if http else None,
            "idempotency_keys": None,
            "header_function": None,
            "body_function": None,
            "custom_response": {"body": "ok", "content_type": "text/plain"} if http else None,
            "verifier": members,
            "pub_sub": None if http else {**queue, "sqs": {name: name for name in names}},
            "created_at": stamp(self.created),
            "updated_at": stamp(self.created),
            "deleted_at": None,
        }


@dataclass
class Event:
    project: str
    event_type: str
    payload: str
    headers: dict[str, str] | None
    key: str | None
    acknowledged: str | None
    number: int = field(default_factory=lambda: next_number("evt"))
    created: datetime = field(default_factory=now)

    @property
    def uid(self) -> str:
        return f"evt_{self.number:06d}"

    def shown(self, reached: list[Endpoint], *, duplicate: bool) -> Json:
        return {
            "uid": self.uid,
            "project_id": self.project,
            "event_type": self.event_type,
            "data": list(self.payload.encode()),
            "raw": self.payload,
            "headers": self.headers,
            "endpoints": [endpoint.uid for endpoint in reached],
            "endpoint_metadata": None,
            "source_id": None,
            "source_metadata": None,
            "app_id": None,
            "idempotency_key": self.key,
            "is_duplicate_event": duplicate,
            "metadata": None,
            "url_query_params": None,
            "status": "queued",
            "acknowledged_at": self.acknowledged,
            "created_at": stamp(self.created),
            "updated_at": stamp(self.created),
            "deleted_at": None,
        }


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
