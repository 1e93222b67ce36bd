"""Evidence of deliveries written by hand, under the reference dialect: endpoints, broadcasts, and
the deliveries that arrived.

observed(SignedDeliveries, destination(), sent(event(), destination()))
"""

import hashlib
import hmac
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.observations.destinations import Destination, Event, Roll
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_evidence import NOW, context, delivery, exchange

Delivered = TypeVar("Delivered", bound=DeliveryObservation)

SIGNATURE = "X-Webhook-Signature"
EVENT_ID = "X-Webhook-Event-Id"
ATTEMPT = "X-Webhook-Attempt"


def destination(
    name: str = "plain", *, rolls: Iterable[Roll] = (), project: str = "p1", **settings: Any
) -> Destination:
    """An endpoint whose token and secret are made of its name."""
    return Destination(
        name=name,
        token=f"token of {name}",
        uid=f"uid of {name}",
        project=project,
        secret=f"secret of {name}",
        settings={"secret": f"secret of {name}", "owner_id": "owner", **settings},
        rolls=tuple(rolls),
    )


def event(name: str = "event", *, project: str = "p1") -> Event:
    """An event whose marker and uid are made of its name."""
    return Event(name=name, marker=f"marker-{name}-", uid=f"uid-{name}", project=project)


def simple(secret: str, body: bytes) -> str:
    """The value of the signature header in the simple format."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def advanced(secrets: Iterable[str], body: bytes, at: float) -> str:
    """The value of the signature header in the advanced format."""
    signed = f"{int(at)},".encode() + body
    signatures = ",".join(f"v1={simple(secret, signed)}" for secret in secrets)
    return f"t={int(at)},{signatures}"


def sent(
    what: Event,
    where: Destination,
    *,
    at: float = NOW,
    body: bytes | None = None,
    signers: Iterable[str] | None = None,
    signed_at: float | None = None,
    headers: Iterable[tuple[str, str]] = (),
    attempt: int = 1,
    **further: Any,
) -> ReceivedDelivery:
    """A delivery as the reference dialect sends it; `headers` are added, or replace the usual ones
    of their name.
    """
    content = json.dumps({"marker": what.marker}).encode() if body is None else body
    secrets = [where.secret or ""] if signers is None else list(signers)
    if where.advanced:
        signature = advanced(secrets, content, at if signed_at is None else signed_at)
    else:
        signature = simple(secrets[0], content)
    usual = {
        "Content-Type": "application/json",
        EVENT_ID: what.uid or "",
        ATTEMPT: str(attempt),
        SIGNATURE: signature,
    }
    given = list(headers)
    kept = [(name, value) for name, value in usual.items() if name not in dict(given)]
    return delivery(
        where.token,
        body=content,
        headers=[*kept, *given],
        sequence=attempt,
        arrived_at=at,
        **further,
    )


def created(where: Destination, **data: Any) -> Exchange:
    """The exchange that made an endpoint."""
    shown = {"uid": where.uid, **where.settings, **data}
    return exchange(where.name, "createEndpoint", data=shown, request=dict(where.settings))


def broadcast(
    what: Event, *, data: Any = None, sent_at: float = NOW, answer: Any = None, **fields: Any
) -> Exchange:
    """The exchange of a broadcast whose data holds the event's marker unless it is given."""
    request = {
        "event_type": "order.paid",
        "data": {"marker": what.marker} if data is None else data,
        **fields,
    }
    return exchange(
        what.name,
        "createBroadcastEvent",
        data={"uid": what.uid, **(answer or {})},
        request=request,
        sent_at=sent_at,
    )


def observed(
    kind: type[Delivered],
    destinations: Destination | Iterable[Destination],
    *deliveries: ReceivedDelivery,
    events: Iterable[Event] = (event(),),
    exchanges: Iterable[Exchange] | None = None,
    name: str = "canned",
    **fields: Any,
) -> Delivered:
    """An observation with these endpoints, events and deliveries, examined as at intake.

    Every event has its exchange unless some are given.
    """
    created_by = [destinations] if isinstance(destinations, Destination) else list(destinations)
    sent_events = tuple(events)
    calls = map(broadcast, sent_events) if exchanges is None else exchanges
    return kind(
        experiment="canned",
        name=name,
        exchanges=(*map(created, created_by), *calls),
        deliveries=deliveries,
        destinations=tuple(created_by),
        events=sent_events,
        **fields,
    ).examined(context().dialect)


def ending(
    what: ReceivedDelivery, *, completed: float | None = None, closed: float | None = None
) -> ReceivedDelivery:
    """The same delivery, answered or given up so many seconds after its arrival, or neither."""
    return replace(
        what,
        status=None if completed is None else 200,
        completed_monotonic=None if completed is None else what.arrived_monotonic + completed,
        closed_monotonic=None if closed is None else what.arrived_monotonic + closed,
    )
