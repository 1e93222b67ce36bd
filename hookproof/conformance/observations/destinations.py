"""Destinations and events: the endpoints and broadcasts that an observation is about.

A project's endpoints get every broadcast of the project, also those of other experiments. So each
event carries a marker of its own, and only deliveries that show the marker, or the event's uid,
count as deliveries of that event (`shown_events`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.assumptions import as_acted_on
from hookproof.spec.dialect.model import Dialect

# What the token server answers with under the usual names of members that field_mapping renames.
DECOY: Final = "decoy"

# The endpoint with credentials. The plain one beside it shows that the service delivers at all.
AUTHORIZED: Final = "authorized"

# The header by which deliveries are to carry an API key.
KEY_HEADER: Final = "X-Destination-Key"

# The content type of deliveries unless an endpoint says otherwise (section 2.3), and that of forms.
CONTENT_TYPE: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"

# What the marker of an event begins with.
MARKED: Final = "event"

# How many characters at the end of a marker tell the events of one run apart.
OWN: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Roll:
    """A roll of a secret: the role of its exchange, the secrets before and after it, and
    `expiration` as sent, in the dialect's unit.
    """

    role: str
    old_secret: str
    new_secret: str
    expiration: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """An endpoint of the target whose URL leads to a token of the receiver.

    The exchange that created it has its name as its role. `secret` is the secret that was sent, or
    the one in a response, or None if neither is known; `uid` is None if no response shows one.
    `settings` are the fields of the request that created it.
    """

    name: str
    token: str
    uid: str | None
    project: str
    secret: str | None
    settings: Mapping[str, Any]
    rolls: tuple[Roll, ...] = ()

    @property
    def advanced(self) -> bool:
        """Whether its deliveries have the advanced signature format (section 2.3)."""
        return self.settings.get("advanced_signatures") is True

    @property
    def secrets(self) -> tuple[str, ...]:
        """All secrets that it ever had, oldest first."""
        return (*([self.secret] if self.secret else []), *(roll.new_secret for roll in self.rolls))


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A broadcast that the target accepted; its exchange has its name as its role."""

    name: str
    marker: str
    uid: str | None
    project: str


def shown_events(
    delivery: ReceivedDelivery, events: Sequence[Event], dialect: Dialect
) -> tuple[Event, ...]:
    """The events of which a request is a delivery: one, several with the same marker, or none.

    A service may put the headers of one event into the delivery of another (section 6), so a marker
    in the body counts for more than one in a header, be it that of an event of another experiment,
    and the event's uid decides between headers. Where uid and marker in the headers are both of one
    event, the body is that of another.
    """
    stems = {event.marker[:-OWN] for event in events}
    by_uid = named_events(delivery, events, dialect)
    in_headers = tuple(
        event for event in events if any(event.marker in value for _, value in delivery.headers)
    )
    by_headers = tuple(event for event in in_headers if event in by_uid)
    if any(stem.encode() in delivery.body for stem in stems):
        in_body = tuple(event for event in events if event.marker.encode() in delivery.body)
        return in_body if set(in_body) & {*in_headers, *by_uid} else by_headers or in_body
    return by_headers or in_headers or by_uid


def named_events(
    delivery: ReceivedDelivery, events: Sequence[Event], dialect: Dialect
) -> tuple[Event, ...]:
    """The events whose uid the delivery carries in the dialect's header."""
    header = as_acted_on(dialect.delivery).event_id_header
    named = None if header is None else delivery.header(header)
    return tuple(event for event in events if event.uid is not None and event.uid == named)


def of_this_run(delivery: ReceivedDelivery, events: Sequence[Event]) -> bool:
    """Whether a request shows the marker of an event of this run, be it of another experiment."""
    stems = {event.marker[:-OWN] for event in events}
    return any(
        stem.encode() in delivery.body or any(stem in value for _, value in delivery.headers)
        for stem in stems
    )


def ended(delivery: ReceivedDelivery) -> float | None:
    """When an attempt was answered or given up, on the monotonic clock in seconds, or None."""
    ends = (delivery.completed_monotonic, delivery.closed_monotonic)
    return min((end for end in ends if end is not None), default=None)
