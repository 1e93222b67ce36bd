"""Fan-out: which endpoints a broadcast reaches, and how often (sections 1, 3, 4.1, 4.8, 6)."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any, Final

from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.handlers.events import EventHandlers
from hookproof.mockserver.api.service import ApiService, OperationCall, OperationResult
from hookproof.mockserver.delivery.attempt.sender import AttemptResult, AttemptSender
from hookproof.mockserver.delivery.http_client.egress import EgressGuard, IPAddress
from hookproof.mockserver.delivery.store_port import EndpointSettings, Failure, PendingDelivery
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.misread_dialect import misread_service
from hookproof.mockserver.store.endpoints import EndpointRow, NewEndpoint
from hookproof.mockserver.store.events import EventTable, NewEvent
from hookproof.spec.dialect.vocabulary import CreationVisit, Reach

FAN_OUT: Final = ("fan_out",)


@fault(
    "delivered failures_apart targets_reached enabled_receives reached",
    seen="201 and then dropped",
    shows_in=FAN_OUT,
)
class LastEndpointForgotten(EventTable):
    """The last of several endpoints that a broadcast should reach gets nothing."""

    def add(self, event: NewEvent, *, reached: Sequence[EndpointRow], now: float) -> None:
        super().add(event, reached=reached[:-1] if len(reached) > 1 else reached, now=now)


@fault("delivered reached", seen="a query with the page size of a list", shows_in=FAN_OUT)
class HundredEndpointsReached(EventTable):
    """A broadcast reaches at most a hundred endpoints."""

    def add(self, event: NewEvent, *, reached: Sequence[EndpointRow], now: float) -> None:
        super().add(event, reached=reached[:100], now=now)


@fault("delivered", seen="201 and then dropped", shows_in=["flood"])
class EveryFiftiethLost(EventTable):
    """Every fiftieth event is accepted and not delivered."""

    count = 0

    def add(self, event: NewEvent, *, reached: Sequence[EndpointRow], now: float) -> None:
        type(self).count += 1
        super().add(event, reached=() if self.count % 50 == 0 else reached, now=now)


@fault(
    "delivered_once", seen="one delivery per subscription instead of per endpoint", shows_in=FAN_OUT
)
class TwiceToAnOwner(EventTable):
    """An endpoint gets a broadcast once for each endpoint with the same owner_id (or none)."""

    def add(self, event: NewEvent, *, reached: Sequence[EndpointRow], now: float) -> None:
        pairs = [
            endpoint
            for endpoint in reached
            for other in reached
            if endpoint.owner_id == other.owner_id
        ]
        super().add(event, reached=pairs, now=now)


@fault("delivered_once", seen="two workers that take the same job", shows_in=["flood"])
class EveryTwentiethDoubled(EventTable):
    """The twentieth of the events that a project is sent within two seconds is delivered twice."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._latest = defaultdict[str, deque[float]](lambda: deque(maxlen=20))

    def add(self, event: NewEvent, *, reached: Sequence[EndpointRow], now: float) -> None:
        latest = self._latest[event.project]
        latest.append(now)
        is_twentieth = len(latest) == latest.maxlen and now - latest[0] < 2.0
        if is_twentieth:
            latest.clear()
        super().add(event, reached=[*reached, *reached] if is_twentieth else reached, now=now)


@fault(
    "delivered reached",
    shows_in=FAN_OUT,
    where=lambda dialect: dialect.delivery.reach.value is Reach.ACTIVE_ENDPOINTS,
)
class ReachMistaken(EventHandlers):
    """A broadcast does not reach endpoints without an owner_id."""

    def __init__(self, service: ApiService) -> None:
        super().__init__(service)
        self._without_owner = not self._without_owner


@fault(
    "disabled_receives not_reached reached delivered",
    seen="a disabled endpoint still receives",
    shows_in=FAN_OUT,
)
class DisabledMistaken(EndpointHandlers):
    """A disabled endpoint receives where the dialect says it does not, and the reverse."""

    def __init__(self, service: ApiService) -> None:
        right = service.dialect.delivery.disabled_receives.value
        super().__init__(misread_service(service, "delivery.disabled_receives", not right))


@fault(
    "enabled_receives reached delivered failures_apart",
    seen="a flag that counts as set when it is there",
    shows_in=FAN_OUT,
)
class EnabledByHandDisabled(EndpointHandlers):
    """An endpoint created with is_disabled false is shown as active and receives nothing."""

    def create(self, call: OperationCall) -> OperationResult:
        result = super().create(call)
        if call.body.get("is_disabled") is False:
            self._service.database.write(
                "UPDATE endpoints SET receives = 0 WHERE seq = (SELECT max(seq) FROM endpoints)"
            )
        return result


@fault("failures_apart delivered", seen="one failing endpoint stops the rest", shows_in=FAN_OUT)
class FailureStopsTheRest(AttemptSender):
    """Once an endpoint has answered 500, no other of its project gets anything new."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._failed_uids: dict[str, str] = {}
        self._stopped: set[int] = set()

    async def send(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, *further: Any
    ) -> AttemptResult:
        failed = self._failed_uids.get(endpoint.project, endpoint.uid)
        if failed != endpoint.uid and not delivery.attempts:
            self._stopped.add(delivery.id)
        if delivery.id in self._stopped:
            return AttemptResult(failure=Failure.INTERNAL, detail="another endpoint has failed")
        result = await super().send(delivery, endpoint, *further)
        if result.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            self._failed_uids.setdefault(endpoint.project, endpoint.uid)
        return result


@fault(
    "visit_kind",
    shows_in=FAN_OUT,
    where=lambda dialect: "GET" not in dialect.delivery.creation_visit.value.methods,
)
class VisitedOtherwise(EndpointHandlers):
    """The URL of a new endpoint is requested with GET, whatever the dialect says."""

    def __init__(self, service: ApiService) -> None:
        super().__init__(misread_service(service, "delivery.creation_visit", CreationVisit.GET))


@fault(
    "reached_after_creation delivered",
    seen="an endpoint that is in no cache yet",
    shows_in=["signing"],
)
class FirstBroadcastMissed(EventTable):
    """The first broadcast after the creation of an endpoint does not reach it."""

    def add(self, event: NewEvent, *, reached: Sequence[EndpointRow], now: float) -> None:
        missed = [endpoint for endpoint in reached if endpoint.events == 0]
        others = [endpoint for endpoint in reached if endpoint.events > 0]
        super().add(event, reached=others, now=now)
        for endpoint in missed:
            self._database.write(
                "UPDATE tallies SET events = 1 WHERE endpoint = ?", (endpoint.seq,)
            )


@fault(
    "own_webhooks",
    shows_in=["own_events"],
    where=lambda dialect: dialect.delivery.own_events.decided,
)
class RollsAnnounced(EndpointHandlers):
    """Every roll is announced to the endpoints of the project with a delivery."""

    def expire_secret(self, call: OperationCall) -> OperationResult:
        service = self._service
        now = service.now()
        reached = service.endpoints.find_reached(call.project, now=now, without_owner=True)
        event = NewEvent(
            uid=service.identifier("Event"),
            project=call.project,
            original_key=None,
            event_type="endpoint.rolled",
            payload=b'{"rolled":true}',
            headers=b"{}",
            document=b"{}",
        )
        service.events.add(event, reached=reached, now=service.steady())
        service.dispatch.wake(*(endpoint.uid for endpoint in reached))
        return super().expire_secret(call)


@fault(
    "chat_notified",
    seen="a test message that is sent at creation",
    shows_in=["exhaustion"],
    where=lambda dialect: dialect.delivery.notify_on.decided,
)
class ChatNotifiedAtCreation(EndpointHandlers):
    """The slack_webhook_url of an endpoint is notified when the endpoint is created."""

    def create(self, call: OperationCall) -> OperationResult:
        if "slack_webhook_url" in call.body:
            self._service.dispatch.visit(call.body["slack_webhook_url"], "POST")
        return super().create(call)


@fault(
    "mail_sent",
    seen="mail to whoever registered",
    shows_in=["notifications"],
    where=lambda dialect: dialect.delivery.notify_on.decided,
)
class MailGoesToTheAccount(EndpointHandlers):
    """Mail for the support_email of an endpoint goes to an address of the account."""

    def _build_endpoint(self, project: str, body: Mapping[str, Any], now: float) -> NewEndpoint:
        endpoint = super()._build_endpoint(project, body, now)
        if "support_email" not in body:
            return endpoint
        instead = {**body, "support_email": "account@example.org"}
        return endpoint._replace(credentials=self._credentials(instead))


@fault("addresses_closed", seen="metadata addresses reachable", shows_in=["egress"])
class EveryAddressOpen(EgressGuard):
    """Requests go to every address that a URL names, forbidden addresses included."""

    def _checked(self, host: str, text: str) -> IPAddress:
        return ip_address(text)


@fault(
    "slow_ones_apart",
    seen="one worker for a project",
    shows_in=["slow_neighbours"],
)
class OneAttemptAtATime(AttemptSender):
    """An attempt begins when the one before it in its project has ended."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._turns: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def send(
        self,
        delivery: PendingDelivery,
        endpoint: EndpointSettings,
        on_sent: Callable[[], None] = lambda: None,
    ) -> AttemptResult:
        async with self._turns[endpoint.project]:
            return await super().send(delivery, endpoint, on_sent)
