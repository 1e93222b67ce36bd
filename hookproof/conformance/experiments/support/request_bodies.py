"""Request bodies that the target's dialect accepts, with values that no server should refuse.

    bodies = RequestBodies.of(context)
    bodies.new_endpoint(url=token.url)  # what the dialect requires, and nothing else
    bodies.quiet_endpoint(name="n")     # the same, but broadcasts do not reach it

Hosts are reserved names (`*.invalid`): a target must not be led to call strangers.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.observations.destinations import MARKED
from hookproof.conformance.target.capabilities import MECHANISMS
from hookproof.receiver.signatures.bytes_as_text import to_text
from hookproof.spec.dialect.groups.requests import accepted_timeout, least_expiration, most
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import (
    UNIX_UNITS,
    Acceptance,
    Reach,
    TimestampForm,
)
from hookproof.spec.field_roles import body_fields

# How words begin, where not as the field does: a later run knows by the names and owners of
# endpoints what earlier ones left.
STEMS: Final = {
    ("createEndpoint", "name"): "endpoint",
    ("createEndpoint", "owner_id"): "owner",
    ("createEndpoint", "appID"): "app",
    ("updatePortalLink", "name"): "portal",
    ("updatePortalLink", "owner_id"): "owner",
    ("createBroadcastEvent", "idempotency_key"): "key",
}
RFC3339_FORMATS: Final = {
    TimestampForm.RFC3339_MICROSECONDS: "%Y-%m-%dT%H:%M:%S.%fZ",
    TimestampForm.RFC3339: "%Y-%m-%dT%H:%M:%SZ",
}
SECRET_BYTES = 24
# Half a day: more seconds than 16 bits hold.
OVERLAP_S = 43_200.0

# Functions that make a new value for each field.
FieldValues = Mapping[str, Callable[[], Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestBodies:
    """Makes bodies for the four operations that have one (sections 4.1, 4.3, 4.6 and 4.8).

    `word` makes a word that begins with a stem and that no other call returns. What the target
    lacks, fields of createEndpoint and members of its authentication, is left out of every body
    unless the dialect requires it, so that no experiment can send it among other settings.
    """

    dialect: Dialect
    random: random.Random
    word: Callable[[str], str]
    answering_url: str = ""
    lacking_fields: frozenset[str] = frozenset()
    lacking_mechanisms: frozenset[str] = frozenset()

    @classmethod
    def of(cls, context: ExperimentContext) -> "RequestBodies":
        """The bodies for the dialect of an experiment, with values from its random numbers."""
        return cls(
            dialect=context.dialect,
            random=context.random,
            word=context.word,
            answering_url=context.answering_url,
            lacking_fields=context.lacking_fields(),
            lacking_mechanisms=context.lacking_mechanisms(),
        )

    def new_endpoint(self, **fields: Any) -> dict[str, Any]:
        """A body for createEndpoint: the fields given, a url, and what the dialect requires
        (section 4.1).
        """
        had = {name: value for name, value in fields.items() if not self._lacks(name, value)}
        return {**self.required("createEndpoint"), "url": self.url(), **had}

    def _lacks(self, name: str, value: Any) -> bool:
        """Whether the target lacks a field with this value.

        An authentication counts by its mechanism, if it has one.
        """
        mechanisms = MECHANISMS & value.keys() if isinstance(value, Mapping) else frozenset()
        if name == "authentication" and mechanisms:
            return not mechanisms.isdisjoint(self.lacking_mechanisms)
        return name in self.lacking_fields

    def quiet_endpoint(self, **fields: Any) -> dict[str, Any]:
        """A body for an endpoint that broadcasts do not reach, as far as the dialect has such
        endpoints (section 4.1).
        """
        return self.new_endpoint(**{**self.quiet_fields(), **fields})

    def quiet_fields(self) -> dict[str, Any]:
        """Fields that keep broadcasts away from a new endpoint (sections 3 and 4.8).

        There are none where disabled endpoints receive too: only having no owner may help there.
        """
        delivery = self.dialect.delivery
        if not delivery.disabled_receives.decided or not delivery.disabled_receives.value:
            return {"is_disabled": True}
        return {}

    def reached_endpoint(self, **fields: Any) -> dict[str, Any]:
        """A body for an endpoint that broadcasts reach, with an owner if the dialect requires one
        for that (section 4.8).
        """
        owner = {"owner_id": self.word("owner")} if self.needs_owner() else {}
        return self.new_endpoint(**{**owner, "is_disabled": False, **fields})

    def needs_owner(self) -> bool:
        """Whether broadcasts reach endpoints with an owner_id only (section 4.8)."""
        return self.dialect.delivery.reach.allowed[:1] == (Reach.OWNED_ENDPOINTS,)

    def roll(self, **fields: Any) -> dict[str, Any]:
        """A body for expireEndpointSecret: the fields given and what the dialect requires (section
        4.3).
        """
        return {**self.required("expireEndpointSecret"), **fields}

    def portal_link(self, **fields: Any) -> dict[str, Any]:
        """A body for updatePortalLink: the fields given and what the dialect requires (section
        4.6).
        """
        return {**self.required("updatePortalLink"), **fields}

    def broadcast(self, **fields: Any) -> dict[str, Any]:
        """A body for createBroadcastEvent: the fields given, event_type, data, and what is required
        (section 4.8).
        """
        required = {"event_type": self.event_value("event_type"), "data": self.event_value("data")}
        return {**self.required("createBroadcastEvent"), **required, **fields}

    def required(self, operation_id: str) -> dict[str, Any]:
        """A body with nothing but the fields that the dialect requires of an operation (section
        4.9), and the first of those of which it requires one.
        """
        fields, value = self._requirements()[operation_id]
        one = self.dialect.requests.one_of_required_by(operation_id)[:1]
        return {field: value(field) for field in (*fields, *one)}

    def _requirements(self) -> Mapping[str, tuple[tuple[str, ...], Callable[[str], Any]]]:
        requests = self.dialect.requests
        return {
            "createEndpoint": (requests.create_endpoint_requires, self.endpoint_value),
            "expireEndpointSecret": (requests.expire_endpoint_secret_requires, self.roll_value),
            "updatePortalLink": (requests.update_portal_link_requires, self.portal_link_value),
            "createBroadcastEvent": (requests.create_broadcast_event_requires, self.event_value),
        }

    def value(self, operation_id: str, field: str) -> Any:
        """An acceptable value for a field of an operation's body; KeyError for one that the
        document does not name there.
        """
        _, value = self._requirements()[operation_id]
        return value(field)

    def endpoint_value(self, field: str) -> Any:
        """An acceptable value for a field of createEndpoint; KeyError for one that section 4.1 does
        not name.
        """
        requests = self.dialect.requests
        values: FieldValues = {
            "authentication": self.oauth2,
            # Not the default, which a server shows even if it ignores the field.
            "content_type": lambda: "application/x-www-form-urlencoded",
            "description": lambda: f"Made to see what comes back: {self.word('note')}",
            "http_timeout": lambda: accepted_timeout(requests, 11),
            "mtls_client_cert": dict,
            "rate_limit": lambda: min(17, most(requests.rate_limit_maximum)),
            "rate_limit_duration": lambda: min(19, most(requests.rate_limit_duration_maximum)),
            "secret": self.secret,
            "slack_webhook_url": lambda: f"https://chat.invalid/{self.word('channel')}",
            "support_email": lambda: f"{self.word('developers')}@support.invalid",
            "url": self.url,
        }
        return self._chosen("createEndpoint", field, values)

    def roll_value(self, field: str) -> Any:
        """An acceptable value for a field of expireEndpointSecret; KeyError for one that section
        4.3 does not name.
        """
        values: FieldValues = {"expiration": self.expiration, "secret": self.secret}
        return self._chosen("expireEndpointSecret", field, values)

    def portal_link_value(self, field: str) -> Any:
        """An acceptable value for a field of updatePortalLink; KeyError for one that section 4.6
        does not name.
        """
        values: FieldValues = {
            "auth_type": lambda: self.dialect.words.portal_auth_types[-1],
            "endpoints": list,
        }
        return self._chosen("updatePortalLink", field, values)

    def event_value(self, field: str) -> Any:
        """An acceptable value for a field of createBroadcastEvent; KeyError for one that section
        4.8 does not name.
        """
        values: FieldValues = {
            "acknowledged_at": self.timestamp,
            "custom_headers": lambda: {f"X-{self.word('Header')}": self.word("value")},
            # Marked, so that wherever it is delivered it is known for an event of this run.
            "data": lambda: {"about": self.word(MARKED), "amount": 12.5, "lines": [1, 2, 3]},
            # Not as markers begin, since a service may deliver the type too.
            "event_type": lambda: f"conformance.{self.word('type')}",
        }
        return self._chosen("createBroadcastEvent", field, values)

    def _chosen(self, operation_id: str, field: str, values: FieldValues) -> Any:
        """The value that was chosen for a field, else one by its type: a new word, true, or 1."""
        schema = body_fields(operation_id)[field]
        if field in values:
            return values[field]()
        stem = STEMS.get((operation_id, field), field)
        usual = {"string": self.word(stem), "boolean": True, "integer": 1}
        return usual[schema["type"]]

    def oauth2(self) -> dict[str, Any]:
        """An authentication object with every member of oauth2 that goes with a shared secret
        (section 2.5).
        """
        words = self.dialect.words
        return {
            "type": words.auth_oauth2,
            "oauth2": {
                "url": f"https://token.invalid/{self.word('tenant')}",
                "authentication_type": words.oauth2_shared_secret,
                "client_id": self.word("client"),
                "client_secret": self.word("shared"),
                "grant_type": "client_credentials",
                "scope": self.word("scope"),
                "audience": self.word("audience"),
                "expiry_time_unit": next(iter(words.oauth2_expiry_units)),
                "field_mapping": {
                    "access_token": "token",
                    "expires_in": "lifetime",
                    "token_type": "kind",
                },
            },
        }

    def expiration(self) -> int:
        """The shortest expiration, in the dialect's unit."""
        return max(0, least_expiration(self.dialect.requests))

    def secret(self) -> str:
        """A signing secret with the dialect's prefix and form, unlike any other."""
        rules = self.dialect.signatures.secret
        content = self.random.randbytes(self.dialect.signatures.key_size or SECRET_BYTES)
        return rules.prefix + to_text(rules.form, content)

    def lasting_expiration(self) -> int:
        """An expiration of half a day, in the dialect's unit and within its bounds.

        Nothing waits for its end.
        """
        rules, unit = self.dialect.requests, self.dialect.rolling.expiration_unit
        least = max(1, least_expiration(rules))
        return min(max(least, round(OVERLAP_S / unit.in_seconds)), most(rules.expiration_maximum))

    def timestamp(self) -> str:
        """A time in the year 2024 in the dialect's form of timestamps (section 2.9)."""
        return self.timestamps()[0]

    def timestamps(self) -> tuple[str, ...]:
        """One time in every form that a service may take, in the dialect's first: it need not take
        times as it shows them (section 4.8).
        """
        forms = self.dialect.representation.timestamp
        first = forms.value if forms.decided else TimestampForm.RFC3339
        at = 1_704_067_200 + self.random.randrange(31_536_000)
        time = datetime.fromtimestamp(at, UTC)
        texts = {form: time.strftime(layout) for form, layout in RFC3339_FORMATS.items()}
        texts |= {form: str(at * unit) for form, unit in UNIX_UNITS.items()}
        return (texts.pop(first), *texts.values())

    def url(self) -> str:
        """A new https URL that leads nowhere, or to the receiver where it has to answer."""
        host, path = self.word("host"), self.word("path")
        if self.must_answer():
            return f"{self.answering_url}/{host}/{path}"
        return f"https://{host}.invalid/hooks/{path}"

    def must_answer(self) -> bool:
        """Whether no endpoint is created whose URL answers no visit (section 4.1)."""
        refused = Acceptance.REFUSED in self.dialect.delivery.failed_visit.allowed
        return refused and bool(self.answering_url)
