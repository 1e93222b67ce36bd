"""A scenario: endpoints that lead to the receiver, broadcasts to them, and what arrives.

async def one_secret(scenario: Scenario) -> SignedDeliveries:
    plain = await scenario.destination("plain")
    event = await scenario.broadcast("first", data={"n": 1})
    await scenario.await_arrival(plain, event)
    return await scenario.observe(SignedDeliveries)

@experiment("signing", observes=(SignedDeliveries,))
async def signing(context: ExperimentContext) -> AsyncIterator[Evidence]:
    async for observation in run_scenarios(context, {"one secret": one_secret}):
        yield observation
"""

import asyncio
import itertools
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.support.created_endpoints import (
    find_in_portal_link,
    find_secret,
    shown_secret,
    uid_in_records,
)
from hookproof.conformance.experiments.support.existing_resources import require_success
from hookproof.conformance.experiments.support.foreign_deliveries import (
    OWN_TO_EVENT,
    without_foreign,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.conformance.model.tolerances import BACKLOG_FACTOR
from hookproof.conformance.observations.answer import refused, sent, shown_uid
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.observations.destinations import Destination, Event, Roll, shown_events
from hookproof.conformance.target.client import encoded, encoded_with
from hookproof.conformance.target.definition import Project
from hookproof.process.lateness import LatenessMeter
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.replies.script import Reply

# The member of `data` that distinguishes an event from all others.
MARKER: Final = "marker"

# Values for fields that are sent only because a dialect requires them: they leave an endpoint as it
# would be without them.
NEUTRAL: Final = {"is_disabled": False, "advanced_signatures": False}

# How many times as long as usual a delivery is waited for at most where the service is behind.
LONGEST_PATIENCE: Final = 3

Delivered = TypeVar("Delivered", bound=DeliveryObservation)


class Scenario:
    """One part of a delivery experiment while it runs, with all that it has created so far."""

    def __init__(self, context: ExperimentContext, name: str) -> None:
        self.context = context
        self.dialect = context.dialect
        self.trial = context.trial(name)
        self.bodies = RequestBodies.of(context)
        self.destinations: list[Destination] = []
        self.events: list[Event] = []
        # The markers of the scenario begin alike, so that the receiver can tell its events from
        # those of other experiments in the same project.
        self.marker_stem = context.new_marker()[:-OWN_TO_EVENT]
        self._event_numbers = itertools.count(1)
        self._lateness = LatenessMeter(context.loop)
        self._receiving_from = 0.0

    async def destination(
        self,
        name: str,
        /,
        *,
        replies: Sequence[Reply] = (),
        project: Project | None = None,
        rest: str = "",
        **settings: Any,
    ) -> Destination:
        """A new endpoint that leads to a new token with this script (section 4.1).

        `rest` follows the token in its URL. The script is for events of this scenario: it is not
        used up by those of others, and does not let them fail or hang. Raises PreconditionFailed if
        it is refused.
        """
        # Before anything is awaited, so that many at once get the same random values in each run.
        endpoint_settings = self._endpoint_settings(settings)
        token = await self.context.receiver.new_token()
        if replies:
            await self.context.receiver.script(token.token, replies, only_for=self.marker_stem)
        return await self._create(
            name,
            token.token,
            project,
            {**endpoint_settings, "url": settings.get("url", token.url + rest)},
        )

    async def endpoint(
        self, name: str, token: str, *, project: Project | None = None, **settings: Any
    ) -> Destination:
        """A new endpoint with these settings, whose `url` need not lead to the token (section 4.1).

        Raises PreconditionFailed if it is refused.
        """
        return await self._create(name, token, project, self._endpoint_settings(settings))

    async def try_destination(self, name: str, /, **settings: Any) -> Destination | None:
        """A new endpoint that may be refused, so that what others show is not lost with it."""
        try:
            return await self.destination(name, **settings)
        except PreconditionFailed:
            return None

    async def try_in_turn(self, name: str, /, *settings: Mapping[str, Any]) -> Destination | None:
        """A new endpoint with the first of these settings that is not refused, if there is one.

        The creations that were refused have a role of their own.
        """
        for chosen in settings:
            if created := await self.try_destination(name, **chosen):
                return created
            for exchange in [each for each in self.trial.exchanges if each.role == name]:
                self.trial.rename(exchange, f"tried: {name}")
        return None

    async def create_all(
        self, *creations: Coroutine[Any, Any, Destination | None]
    ) -> list[Destination]:
        """Create several destinations at once, without those that were tried and refused;
        `destinations` then has them in this order.

        Raises the error of the first that cannot be created and was not only tried.
        """
        before = len(self.destinations)
        results = await asyncio.gather(*creations, return_exceptions=True)
        failures = [result for result in results if isinstance(result, BaseException)]
        if failures:
            raise failures[0]
        created = [result for result in results if isinstance(result, Destination)]
        self.destinations[before:] = created
        return created

    def _endpoint_settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings given, without those that are None, and what else an endpoint needs: a
        secret, an owner, and what the dialect requires.
        """
        chosen = {"secret": self.bodies.secret(), "owner_id": self.bodies.word("owner"), **settings}
        required = {
            field: NEUTRAL.get(field, self.bodies.endpoint_value(field))
            for field in self.dialect.requests.create_endpoint_requires
        }
        return {
            **required,
            **{field: value for field, value in chosen.items() if value is not None},
        }

    async def _create(
        self, name: str, token: str, project: Project | None, settings: Mapping[str, Any]
    ) -> Destination:
        project = project or self.trial.project
        created = await self.trial.call("createEndpoint", role=name, body=settings, project=project)
        require_success(created)
        shown = created.data if isinstance(created.data, dict) else {}
        await self.context.provision.after_endpoint_created(project, shown)
        uid, secret = shown_uid(created), settings.get("secret") or shown_secret(created)
        if secret is None:
            uid, secret = await find_secret(self.context, self.trial, created, project)
        destination = Destination(
            name=name,
            token=token,
            uid=uid,
            project=project.id,
            secret=secret,
            settings=settings,
        )
        self.destinations.append(destination)
        self._receiving_from = self.context.loop.time() + self.dialect.delivery.visible_within_s
        return destination

    async def broadcast(
        self,
        name: str,
        *,
        data: Mapping[str, Any] | None = None,
        raw_data: str | None = None,
        marker: str | None = None,
        project: Project | None = None,
        **fields: Any,
    ) -> Event:
        """Broadcast an event when all endpoints created so far receive (section 4.8).

        `raw_data` is JSON text to be sent as it is spelled; it must contain the marker, or a custom
        header must. Where the smallest body is refused, one with an acknowledged_at is tried: that
        a service asks for more than it may is another finding. Raises PreconditionFailed if the
        broadcast is refused.
        """
        is_smallest = not (fields or raw_data or marker)
        # The dialect's own time: how long after its creation an endpoint may miss broadcasts.
        await asyncio.sleep(max(0.0, self._receiving_from - self.context.loop.time()))
        may_share = is_smallest and data is None and project is None
        shared = self.context.shared_broadcasts if may_share else None
        project = project or self.trial.project
        marker = marker or self.new_marker()
        if shared is not None:
            await self.context.api.may_broadcast(project, marker.encode())
            answer = replace(await shared.join(self.marker_stem, marker), role=name)
            self.trial.exchanges.append(answer)
        else:
            body = self.bodies.broadcast(**{"data": {MARKER: marker, **(data or {})}, **fields})
            raw_body = encoded(body) if raw_data is None else encoded_with(body, "data", raw_data)
            answer = await self.trial.call(
                "createBroadcastEvent", role=name, raw_body=raw_body, project=project
            )
        if is_smallest and refused(answer):
            self.trial.rename(answer, f"smallest {name}")
            more = {"acknowledged_at": self.bodies.timestamp()}
            return await self.broadcast(name, data=data, project=project, **more)
        require_success(answer)
        self.context.backlog.note(marker, answer.sent_at)
        event = Event(name=name, marker=marker, uid=shown_uid(answer), project=project.id)
        self.events.append(event)
        return event

    def new_marker(self) -> str:
        """A text that distinguishes an event from all others."""
        return f"{self.marker_stem}{next(self._event_numbers):0{OWN_TO_EVENT}x}"

    async def try_broadcast(self, name: str, **fields: Any) -> Event | None:
        """Broadcast an event that may be refused; its exchange then shows that."""
        try:
            return await self.broadcast(name, **fields)
        except PreconditionFailed:
            return None

    async def roll(self, role: str, destination: Destination, expiration: int) -> Destination:
        """Roll the destination's secret (section 4.3); return the destination as it is afterwards.

        Raises PreconditionFailed if it is refused, or if the uid or the secret is not known.
        """
        uid, reason = await self.find_uid(destination, broadcasting=True)
        if uid is None:
            raise PreconditionFailed(
                f"the endpoint {destination.name!r} cannot be rolled: {reason}"
            )
        if not destination.secrets:
            raise PreconditionFailed(
                f"no answer shows the secret of the endpoint {destination.name!r}, so that nobody"
                " could tell when it stops signing; one that does would help"
            )
        new_secret = self.bodies.secret()
        rolled = await self.trial.call(
            "expireEndpointSecret",
            role=role,
            uid=uid,
            body={"expiration": expiration, "secret": new_secret},
        )
        require_success(rolled)
        roll = Roll(
            role=role,
            old_secret=destination.secrets[-1],
            new_secret=new_secret,
            expiration=expiration,
        )
        rolled_destination = replace(destination, uid=uid, rolls=(*destination.rolls, roll))
        self.destinations = [
            rolled_destination if existing.token == destination.token else existing
            for existing in self.destinations
        ]
        return rolled_destination

    async def find_uid(
        self, destination: Destination, *, broadcasting: bool = False
    ) -> tuple[str | None, str]:
        """The uid of a destination, from whichever answer shows it, or None and the reason why.

        Events that it has received show it, and so does the portal link of its owner; if neither
        does, an event may be broadcast to it for that.
        """
        uid = destination.uid or self._uid_in_events(destination)
        if uid is not None:
            return uid, ""
        created = next(
            exchange
            for exchange in self.trial.exchanges
            if exchange.operation_id == "createEndpoint"
            and sent(exchange).get("url") == destination.settings.get("url")
        )
        found = await find_in_portal_link(self.context, self.trial, created)
        uid = found.uid
        if uid is None and broadcasting:
            uid = await self._find_uid_by_broadcast(destination)
        return uid, found.reason

    async def _find_uid_by_broadcast(self, destination: Destination) -> str | None:
        """Wait for the event's arrival too, so that nothing that follows meets it under way."""
        event = await self.try_broadcast(f"event that shows {destination.name}")
        uid = self._uid_in_events(destination)
        if event is not None and uid is not None:
            await self.await_arrival(destination, event)
        return uid

    def _uid_in_events(self, destination: Destination) -> str | None:
        url = destination.settings.get("url")
        same = [other for other in self.destinations if other.settings.get("url") == url]
        return uid_in_records(self.trial.exchanges, url) if len(same) == 1 else None

    async def await_arrival(
        self,
        destination: Destination,
        *expected: Event,
        count: int = 1,
        timeout_s: float | None = None,
    ) -> tuple[ReceivedDelivery, ...]:
        """Wait until each event has arrived `count` times or the time is over.

        Without a time of its own it is that of the budgets, and more where the service is behind
        with deliveries to this destination. Returns all that arrived of the events.
        """
        began = self.context.loop.time()
        places: dict[Event, list[int]] = {event: [] for event in expected}
        seen, awaited, left_s = 0, 0, 0.0
        while True:
            arrived = await self.trial.arrivals(
                destination.token, count=awaited, timeout_s=max(0.0, left_s)
            )
            for place in range(seen, len(arrived)):
                for event in shown_events(arrived[place], self.events, self.dialect):
                    if event in places:
                        places[event].append(place)
            seen = len(arrived)
            missing = sum(max(0, count - len(of_event)) for of_event in places.values())
            if missing:
                patience_s = self._patience_s(arrived) if timeout_s is None else timeout_s
                left_s = began + patience_s - self.context.loop.time()
            if not missing or left_s <= 0:
                return tuple(arrived[place] for event in expected for place in places[event])
            awaited = seen + missing

    def _patience_s(self, arrived: Iterable[ReceivedDelivery]) -> float:
        """How long a delivery is waited for where these have arrived."""
        usual_s = self.context.budgets.delivery_s
        behind_s = self.context.backlog.behind_s(arrived, self.destinations)
        return max(usual_s, min(BACKLOG_FACTOR * behind_s, LONGEST_PATIENCE * usual_s))

    async def await_everywhere(self, destinations: Iterable[Destination], *expected: Event) -> None:
        """Wait at all these destinations at once until each event has arrived there or the time is
        over.
        """
        await asyncio.gather(
            *(self.await_arrival(destination, *expected) for destination in destinations)
        )

    async def await_silence(self) -> None:
        """Wait as long as a silence has to last to prove that nothing more comes."""
        # Not synchronisation: there is nothing to wait for but the time itself.
        await asyncio.sleep(self.silence_s)

    @property
    def silence_s(self) -> float:
        """How long that is: longer where deliveries took long, for what may still come is not
        missing.
        """
        budgets = self.context.budgets
        behind_s = self.context.backlog.behind_s(self.trial.received, self.destinations)
        longest_s = BACKLOG_FACTOR * behind_s + self.late_s
        return max(budgets.quiet_s, min(longest_s, budgets.delivery_s))

    async def observe(
        self, kind: type[Delivered], /, *, with_foreign: bool = False, **fields: Any
    ) -> Delivered:
        """An observation of this class with what has arrived so far.

        Of the events of other experiments it has the last one that arrived at each destination,
        which shows that the service was busy with them; all of them `with_foreign`.
        """
        for destination in self.destinations:
            await self.trial.arrivals(destination.token, count=0, timeout_s=0)
        backlog_s = self.context.backlog.longest_waits_s(self.trial.received, self.destinations)
        if not with_foreign:
            uids = {event.uid for event in self.events if event.uid}
            self.trial.received = without_foreign(self.trial.received, self.marker_stem, uids)
        return self.trial.observe(
            kind,
            destinations=tuple(
                replace(destination, uid=destination.uid or self._uid_in_events(destination))
                for destination in self.destinations
            ),
            events=tuple(self.events),
            ended_at=self.context.clock(),
            late_s=self.late_s,
            round_trip_s=self.round_trip_s,
            backlog_s=backlog_s,
            unused_s=(await self.trial.receiver.tls_handshakes()).unused_s_ago,
            **fields,
        )

    @property
    def late_s(self) -> float:
        """How late this machine was at most, until now."""
        return max(self._lateness.worst_s, self.trial.receiver_late_s)

    @property
    def round_trip_s(self) -> float:
        """How far away the target is."""
        return self.context.round_trip_s

    def close(self) -> None:
        """End what the scenario keeps running."""
        self._lateness.stop()
