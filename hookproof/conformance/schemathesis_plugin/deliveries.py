"""Endpoints that listen during a run of Schemathesis, and what arrives there of each broadcast.

Once a broadcast was accepted, an endpoint of each kind is created beside those that Schemathesis
creates; their URLs lead to the receiver. From then on most valid broadcasts are sent with another
body, whose deliveries are known by a marker. The case itself stays as it was generated: what
Schemathesis sends again, without a key for instance, is another event.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Final, TypeVar

from hookproof.conformance.checks.broadcast_reach import reaches
from hookproof.conformance.experiments.support.created_endpoints import shown_secret
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Exchange, Observation, PreconditionFailed
from hookproof.conformance.observations.answer import sent, shown_uid, was_accepted
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.observations.destinations import (
    CONTENT_TYPE,
    MARKED,
    OWN,
    Destination,
    Event,
    shown_events,
)
from hookproof.conformance.schemathesis_plugin.callback_receiver import (
    CallbackReceiver,
    Received,
    Requests,
)
from hookproof.conformance.schemathesis_plugin.creations import new_word, random_bodies
from hookproof.conformance.subjects.arrival.evidence import (
    FORMAT_NOT_GIVEN,
    BroadcastFlood,
    PayloadBroadcasts,
    SigningFormats,
)
from hookproof.conformance.subjects.arrival.experiment import ENDS_OF_URLS
from hookproof.conformance.subjects.events.evidence import is_flagged
from hookproof.conformance.subjects.reach.evidence import FanOut
from hookproof.conformance.target.definition import Target
from hookproof.process.exit_codes import CommandError
from hookproof.process.messages import print_text
from hookproof.receiver.client.control_api import ReceiverFailed, ReceiverToken
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.assumptions import assumed_fields
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.retry_schedule import is_scheduled, wait_before
from hookproof.spec.dialect.vocabulary import Excess

EXPERIMENT: Final = "schemathesis"
MARKER: Final = "marker"
# The kind of endpoint that shows how the simple format is signed.
SIMPLE: Final = "simple"
# The kind of endpoint that takes an event only when it comes again.
FAILS_AT_FIRST: Final = "fails at first"
# What stands for a secret that this module makes.
GIVEN: Final = object()
# The kinds of endpoints that listen: the settings of each, and what follows the token in its URL.
KINDS: Final[Mapping[str, tuple[Mapping[str, Any], str]]] = {
    SIMPLE: ({"advanced_signatures": False, "secret": GIVEN}, ""),
    "advanced": ({"advanced_signatures": True, "secret": GIVEN}, ""),
    FORMAT_NOT_GIVEN: ({"secret": GIVEN}, ""),
    "simple, secret made by the service": ({"advanced_signatures": False}, ""),
    "advanced, secret made by the service": ({"advanced_signatures": True}, ""),
    "declared content type": ({"content_type": CONTENT_TYPE, "secret": GIVEN}, ""),
    **{
        f"path and query {number}": ({"secret": GIVEN}, rest)
        for number, (rest, _) in enumerate(ENDS_OF_URLS.values(), start=1)
    },
    "disabled": ({"is_disabled": True}, ""),
    FAILS_AT_FIRST: ({"advanced_signatures": True, "secret": GIVEN}, ""),
}
# To how many events such an endpoint answers with a failure before it takes them.
FAILURES: Final = 3
FAILING: Final = (Reply(status=503), Reply(status=200)) * FAILURES
# How soon a dialect has to try again for it, in seconds.
SOON_S: Final = 3.0
# The second of so many broadcasts has a long text in its data, of so many characters.
LONG_IN: Final = 8
SECOND: Final = 2
LONG: Final = 70_000
# How often a kind of endpoint is tried that a service refuses, or whose answer shows no uid.
TRIES: Final = 2
# Of so many broadcasts one is sent as it was generated.
AS_GENERATED: Final = 5
# How long all waiting in vain may take in a run, and after that the one for each broadcast.
IN_VAIN_S: Final = 20.0
BRIEFLY_S: Final = 0.5
# The broadcasts that are judged together: a second delivery of the last one comes after it.
JUDGED_TOGETHER: Final = 3
# The most broadcasts of which something is missing; the oldest are forgotten.
MOST_INCOMPLETE: Final = 12
# By how much a request of the receiver may seem to have come too early.
EARLIER_S: Final = 1.0
# The most observations that no check has asked for.
MOST_KEPT: Final = 100


Delivered = TypeVar("Delivered", bound=DeliveryObservation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """An endpoint that leads to the receiver, and its creation; it receives from then on."""

    destination: Destination
    creation: Exchange
    receives_from: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Broadcast:
    """An event that was accepted, its exchange, and the tokens that it has to arrive at."""

    event: Event
    exchange: Exchange
    tokens: frozenset[str]


@dataclass(slots=True)
class Deliveries:
    """The deliveries of a run, for one project of a target; a thread may wait for some of them.

    Nothing is judged before a first delivery has arrived, nor where the receiver cannot be started:
    then a line on standard error says so.
    """

    target: Target
    start: Callable[[Target], CallbackReceiver] = CallbackReceiver
    clock: Callable[[], float] = time.time
    _dialect: Dialect = field(init=False)
    _bodies: RequestBodies = field(init=False)
    _stem: str = field(init=False)
    _kinds: tuple[str, ...] = field(init=False)
    _failures_left: int = FAILURES
    _receiver: CallbackReceiver | None = None
    _is_off: bool = False
    _listeners: dict[str, Listener] = field(default_factory=dict)
    _tried: dict[str, int] = field(default_factory=dict)
    _broadcasts: dict[str, str] = field(default_factory=dict)
    _numbers: int = 0
    _window: list[Broadcast] = field(default_factory=list)
    _in_vain_s: float = 0.0
    _observed: dict[str, tuple[Observation, ...]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _listening: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._dialect = self.target.dialect
        self._bodies = random_bodies(self._dialect)
        self._stem = new_word(MARKED)
        self._kinds = tuple(
            kind for kind in KINDS if kind != FAILS_AT_FIRST or tries_again_soon(self._dialect)
        )

    def listen(self, create: Callable[[Mapping[str, Any]], Exchange | None]) -> None:
        """Create the endpoints that are lacking. `create` sends a body of createEndpoint, and
        returns None where no answer came.
        """
        with self._listening:
            for kind in self._kinds:
                if kind in self._listeners or self._tried.get(kind, 0) >= TRIES:
                    continue
                receiver = self._started()
                if receiver is None:
                    return
                self._tried[kind] = self._tried.get(kind, 0) + 1
                try:
                    token = receiver.new_token()
                    if kind == FAILS_AT_FIRST:
                        receiver.script(token.token, FAILING, only_for=self._stem)
                except ReceiverFailed as problem:
                    self._turn_off(str(problem))
                    return
                exchange = create(self._endpoint_body(kind, token))
                if exchange is not None:
                    self._add(kind, token, exchange)

    def _endpoint_body(self, kind: str, token: ReceiverToken) -> Mapping[str, Any]:
        settings, rest = KINDS[kind]
        body = self._bodies.reached_endpoint(url=token.url + rest)
        usual = {"content_type": CONTENT_TYPE} if "content_type" in body else {}
        given = {
            name: self._bodies.secret() if value is GIVEN else value
            for name, value in settings.items()
        }
        return {**body, **usual, **given}

    def _add(self, kind: str, token: ReceiverToken, exchange: Exchange) -> None:
        """Listen at an endpoint, if it was created, and is known by its uid."""
        uid = shown_uid(exchange)
        if uid is None or not was_accepted(exchange):
            return
        settings, shown = sent(exchange), shown_secret(exchange)
        is_masked = shown == self._dialect.representation.mask
        listener = Listener(
            destination=Destination(
                name=kind,
                token=token.token,
                uid=uid,
                project=exchange.project,
                secret=settings.get("secret") or (None if is_masked else shown),
                settings=settings,
            ),
            creation=replace(exchange, role=kind),
            receives_from=_end(exchange) + self._dialect.delivery.visible_within_s,
        )
        with self._lock:
            self._tried[kind] = 0
            self._listeners[kind] = listener

    def forget(self, uid: str) -> None:
        """Listen no more at the endpoint with this uid, which is about to be changed."""
        with self._lock:
            for kind, listener in [*self._listeners.items()]:
                if listener.destination.uid == uid:
                    del self._listeners[kind]

    def broadcast_body(self, request_id: str, body: Any) -> Mapping[str, Any] | None:
        """What to send in place of a valid body of createBroadcastEvent; None to send that.

        Its `data` stays. The rest is such as every service carries, since no delivery shows what
        an idempotency_key that was used before, or a text outside ASCII in a header, became.
        """
        data = body.get("data") if isinstance(body, dict) else None
        with self._lock:
            self._numbers += 1
            is_given = not self._listeners or self._numbers % AS_GENERATED == 0
            if self._is_off or is_given or not isinstance(data, dict):
                return None
            marker = f"{self._stem}{self._numbers:0{OWN}x}"
            self._broadcasts[request_id] = marker
            long = {"text": "x" * LONG} if self._numbers % LONG_IN == SECOND else {}
            fields: dict[str, Any] = {"data": {**data, **long, MARKER: marker}}
            if self._numbers % 2:
                fields["custom_headers"] = self._bodies.event_value("custom_headers")
            return self._bodies.broadcast(**fields)

    def await_broadcast(self, request_id: str, exchange: Exchange) -> None:
        """Wait until an event that was broadcast by such a body has arrived wherever it has to."""
        with self._lock:
            marker = self._broadcasts.pop(request_id, None)
            receiver, listeners = self._receiver, tuple(self._listeners.values())
        if marker is None or receiver is None:
            return
        if self._is_off or not was_accepted(exchange) or is_flagged(exchange):
            return
        event = Event(
            name=f"event {int(marker[-OWN:], 16)}",
            marker=marker,
            uid=shown_uid(exchange),
            project=exchange.project,
        )
        broadcast = Broadcast(
            event=event,
            exchange=replace(exchange, role=event.name),
            tokens=frozenset(
                each.destination.token
                for each in listeners
                if each.receives_from <= exchange.sent_at
                and reaches(event, each.destination, self._dialect)
            ),
        )
        try:
            received = self._wait(receiver, broadcast, listeners)
        except (PreconditionFailed, ReceiverFailed) as problem:
            self._turn_off(str(problem))
            return
        with self._lock:
            self._window.append(broadcast)
            self._observed[request_id] = tuple(self._observations(received))
            while len(self._observed) > MOST_KEPT:
                del self._observed[next(iter(self._observed))]

    def observed(self, request_id: str) -> tuple[Observation, ...]:
        """What was seen of the deliveries after this request, once."""
        with self._lock:
            return self._observed.pop(request_id, ())

    def _started(self) -> CallbackReceiver | None:
        """The receiver, which is started before the first endpoint is created."""
        if self._receiver is None and not self._is_off:
            try:
                self._receiver = self.start(self.target)
            except CommandError as problem:
                self._turn_off(str(problem))
        return None if self._is_off else self._receiver

    def _turn_off(self, reason: str) -> None:
        if not self._is_off:
            self._is_off = True
            print_text(f"hookproof: no more deliveries are judged: {reason}", err=True)

    def _wait(
        self, receiver: CallbackReceiver, broadcast: Broadcast, listeners: Sequence[Listener]
    ) -> Received:
        def has_arrived(requests: Requests) -> bool:
            return bool(self._of_event(requests, broadcast))

        def has_come_again(requests: Requests) -> bool:
            return len(self._of_event(requests, broadcast)) > 1

        began = time.monotonic()
        patience_s = self.target.budgets.delivery_s
        conditions = {
            each.destination.token: has_arrived
            if each.destination.token in broadcast.tokens
            else _anything
            for each in listeners
        }
        again = self._listeners.get(FAILS_AT_FIRST)
        with self._lock:
            if again is not None and again.destination.token in broadcast.tokens:
                if self._failures_left:
                    conditions[again.destination.token] = has_come_again
                self._failures_left = max(0, self._failures_left - 1)
        received = receiver.wait_for(
            conditions,
            timeout_s=patience_s if self._in_vain_s < IN_VAIN_S else BRIEFLY_S,
        )
        if not all(has_arrived(received.requests[token]) for token in broadcast.tokens):
            self._in_vain_s += time.monotonic() - began
        return received

    def _observations(self, received: Received) -> Iterator[Observation]:
        """What the latest broadcasts show together, and each listener of what it has to get."""
        listeners = [
            each for each in self._listeners.values() if each.destination.token in received.requests
        ]
        latest = self._window[-JUDGED_TOGETHER:]
        yield self._signed(listeners, latest, received)
        for kind in (PayloadBroadcasts, FanOut):
            yield self._observation(kind, listeners, latest, received)
        incomplete: set[Event] = set()
        for listener in listeners:
            decided = []
            for broadcast in self._window:
                if listener.destination.token not in broadcast.tokens:
                    continue
                if self._is_decided(broadcast, listener, received):
                    decided.append(broadcast)
                else:
                    incomplete.add(broadcast.event)
            if not may_drop(self._dialect):
                yield self._observation(BroadcastFlood, [listener], decided, received)
        kept = [each for each in self._window[:-JUDGED_TOGETHER] if each.event in incomplete]
        self._window = [*kept[-MOST_INCOMPLETE:], *latest]

    def _signed(
        self, listeners: Sequence[Listener], broadcasts: Sequence[Broadcast], received: Received
    ) -> Observation:
        """How these were signed. Those that were given no format count only where the simple one
        verifies where it was given, and nothing is signed by the secret of another endpoint: else
        it is not the format that is wrong.
        """
        signed = self._observation(SigningFormats, listeners, broadcasts, received)
        examined = signed.examined(self._dialect)
        control = self._listeners.get(SIMPLE)
        simple = [
            each.verified
            for each in examined.signatures
            if control is not None and each.token == control.destination.token
        ]
        others = [each for each in examined.signatures if not each.verified and each.known_secrets]
        if any(simple) and not others:
            return examined
        given = [each for each in listeners if "advanced_signatures" in each.destination.settings]
        again = self._observation(SigningFormats, given, broadcasts, received)
        return again.examined(self._dialect)

    def _is_decided(self, broadcast: Broadcast, listener: Listener, received: Received) -> bool:
        """Whether an event has arrived at a listener, or is lost there: it was given its time, and
        one that was broadcast later has arrived.
        """
        requests = received.requests[listener.destination.token]
        if self._of_event(requests, broadcast):
            return True
        is_over = self.clock() - _end(broadcast.exchange) >= self.target.budgets.delivery_s
        return is_over and any(
            self._of_event(requests, later)
            for later in self._window
            if later.exchange.sent_at >= _end(broadcast.exchange)
        )

    def _of_event(self, requests: Requests, broadcast: Broadcast) -> Requests:
        """The attempts to deliver an event, among these requests."""
        since = broadcast.exchange.sent_at - EARLIER_S
        events = [each.event for each in self._window if each is not broadcast] + [broadcast.event]
        return tuple(
            request
            for request in requests
            if request.arrived_at >= since
            and broadcast.event in shown_events(request, events, self._dialect)
        )

    def _observation(
        self,
        kind: type[Delivered],
        listeners: Sequence[Listener],
        broadcasts: Sequence[Broadcast],
        received: Received,
    ) -> Delivered:
        exchanges = [
            *(each.creation for each in listeners),
            *(each.exchange for each in broadcasts),
        ]
        since = min((each.exchange.sent_at for each in broadcasts), default=0.0) - EARLIER_S
        return kind(
            experiment=EXPERIMENT,
            name="deliveries",
            exchanges=tuple(exchanges),
            deliveries=tuple(
                request
                for each in listeners
                for request in received.requests[each.destination.token]
                if request.arrived_at >= since
            ),
            destinations=tuple(each.destination for each in listeners),
            events=tuple(each.event for each in broadcasts),
            ended_at=self.clock(),
            late_s=received.late_s,
            round_trip_s=min((each.duration_s for each in exchanges), default=0.0),
            unused_s=received.unused_s,
        )


def deliveries_of(target: Target) -> Deliveries | None:
    """The deliveries of a target, None where they cannot be judged: it has no project, it cannot
    trust the receiver, has to be told of each endpoint, or nothing is known of what broadcasts
    reach.
    """
    reach = target.dialect.delivery.reach
    is_known = reach.decided and "delivery.reach" not in assumed_fields(target.dialect)
    is_told = target.provision.has("after_endpoint_created")
    if not (target.projects and target.receiver.can_be_trusted and is_known) or is_told:
        return None
    return Deliveries(target)


def tries_again_soon(dialect: Dialect) -> bool:
    """Whether the dialect tries again what an endpoint could not take, and soon."""
    retry = dialect.retry
    if not (is_scheduled(retry) and retry.attempts.decided) or 1 in retry.attempts.allowed:
        return False
    return wait_before(retry, 2).longest_s <= SOON_S


def may_drop(dialect: Dialect) -> bool:
    """Whether an endpoint may have a rate limit above which its deliveries are dropped."""
    rules = dialect.delivery
    is_limited = "rate_limit" in dialect.requests.create_endpoint_requires
    without = rules.default_rate_limit_duration
    is_limited = is_limited or not without.decided or {*without.allowed} != {0}
    return is_limited and (not rules.excess.decided or Excess.DROPPED in rules.excess.allowed)


def _end(exchange: Exchange) -> float:
    return exchange.sent_at + exchange.duration_s


def _anything(_requests: Requests) -> bool:
    return True
