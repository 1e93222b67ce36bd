"""Endpoints of the probes whose deliveries arrive at the receiver, and the events sent to them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hookproof.conformance.learning.session import BROADCAST, CREATE, ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.tolerances import way_s
from hookproof.conformance.observations.answer import shown, shown_uid
from hookproof.receiver.client.control_api import ReceiverClient
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.replies.script import Reply

MARKER: Final = "learned"


@dataclass(slots=True)
class Listener:
    """An endpoint at a token of the receiver; `created` is the answer to its creation."""

    about: str
    token: str
    created: Exchange
    arrived: tuple[ReceivedDelivery, ...] = ()

    @property
    def uid(self) -> str:
        return shown_uid(self.created) or ""

    @property
    def url(self) -> str:
        """The URL that it was created with."""
        asked = self.created.request_json
        return str(asked.get("url")) if isinstance(asked, dict) else ""

    def of(self, event: "SentEvent") -> tuple[ReceivedDelivery, ...]:
        """What arrived of an event, in order."""
        return tuple(each for each in self.arrived if event.marker.encode() in each.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentEvent:
    """An event that was broadcast; `marker` is a word in its data."""

    marker: str
    event_type: str
    answer: Exchange

    @property
    def uid(self) -> str:
        return shown_uid(self.answer) or ""


@dataclass(slots=True)
class DeliverySession:
    """What the probes of deliveries created and sent."""

    session: ProbeSession
    receiver: ReceiverClient
    listeners: dict[str, Listener] = field(default_factory=dict)
    events: list[SentEvent] = field(default_factory=list)

    @property
    def way_s(self) -> float:
        """How long a delivery may be under way."""
        return way_s(self.session.round_trip_s)

    async def listen(
        self, about: str, replies: Sequence[Reply] = (), *, visits: bool = False, **fields: Any
    ) -> Listener | None:
        """Create an endpoint with an owner; None if the target refuses it.

        With `visits` the replies are for requests that try the URL, too: an endpoint may be refused
        for them, and its requests still tell.
        """
        session, token = self.session, await self.receiver.new_token()
        if replies:
            await self.receiver.script(token.token, replies, visits=visits)
        body = {
            **session.endpoint(),
            "owner_id": session.word("owner"),
            "is_disabled": False,
            "url": token.url,
            **fields,
        }
        created = await session.call(
            CREATE,
            f"{about}, for deliveries",
            body={name: value for name, value in body.items() if value is not None},
        )
        if not created.succeeded:
            return Listener(about=about, token=token.token, created=created) if visits else None
        await session.target.provision.after_endpoint_created(session.project, shown(created))
        listener = Listener(about=about, token=token.token, created=created)
        self.listeners[about] = listener
        return listener

    async def broadcast(self, **fields: Any) -> SentEvent | None:
        """Send an event; None if it is refused."""
        bodies = self.session.bodies
        marker = bodies.word(MARKER)
        body = bodies.broadcast(data={"marker": marker, "amount": 12.5}, **fields)
        answer = await self.session.call(BROADCAST, "an event for the receiver", body=body)
        if not answer.succeeded:
            return None
        event = SentEvent(marker=marker, event_type=body["event_type"], answer=answer)
        self.events.append(event)
        return event

    async def wait(self, listener: Listener, count: int, timeout_s: float) -> int:
        """Wait until so many requests have arrived; returns how many did."""
        listener.arrived = await self.receiver.deliveries(
            listener.token, count=count, timeout_s=timeout_s
        )
        return len(listener.arrived)

    async def wait_for_events(self, listener: Listener, timeout_s: float) -> None:
        """Wait until every event has arrived; other requests, such as visits, do not count."""
        clock = asyncio.get_running_loop().time
        ends = clock() + timeout_s
        while missing := sum(not listener.of(event) for event in self.events):
            left_s = ends - clock()
            if left_s <= 0:
                return
            await self.wait(listener, len(listener.arrived) + missing, left_s)

    async def read_all(self, *others: Listener) -> None:
        """Read what has arrived by now, at these others too."""
        every = (*self.listeners.values(), *others)
        await asyncio.gather(*(self.wait(listener, 0, 0.0) for listener in every))
