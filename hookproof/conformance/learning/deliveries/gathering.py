"""Gathers deliveries to learn from: endpoints that differ in one thing, and events for all of them.

In order: how soon a new endpoint receives; one endpoint for each question; a burst of events; two
rolls of secrets with an event after each; two events later. Endpoints that always fail are created
one by one between the events, so that they differ in how many they get.
"""

import asyncio
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from itertools import pairwise
from typing import Any, Final

from hookproof.conformance.learning.deliveries.listener import DeliverySession, Listener, SentEvent
from hookproof.conformance.learning.deliveries.words import WordListeners
from hookproof.conformance.learning.probes.endpoints import generated_secret
from hookproof.conformance.learning.probes.rolls import roll
from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.conformance.model.tolerances import way_s
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.groups.requests import most
from hookproof.spec.dialect.vocabulary import TimeUnit

OK: Final = Reply()
FIRST: Final = "the first endpoint"
VISITED: Final = "an endpoint that refuses every request"
SIMPLE: Final = "simple signatures"
ADVANCED: Final = "advanced signatures"
NO_OWNER: Final = "no owner"
DISABLED: Final = "disabled"
FORM: Final = "form content type"
REDIRECTED: Final = "answered with a redirect"
PATIENT: Final = "answered with Retry-After"
LIMITED: Final = "answered with Retry-After and 429"
OTHER_SUCCESS: Final = "answered with another 2xx"
ZERO_TIMEOUT: Final = "http_timeout 0"
# Answers that may end a delivery, of which one asks for a further attempt by itself.
REFUSING: Final = {
    status: f"answered with {int(status)}"
    for status in (HTTPStatus.GONE, HTTPStatus.BAD_REQUEST, HTTPStatus.TOO_MANY_REQUESTS)
}
SHORT_WINDOW: Final = "rate_limit_duration 2"
LONG_WINDOW: Final = "rate_limit_duration 1500"
FAILING: Final = "always failing"
# Endpoints with an owner that take whatever comes.
PLAIN: Final = (SIMPLE, ADVANCED, FORM, OTHER_SUCCESS)

RETRY_AFTER_S: Final = 4
SHORT: Final = 2
LONG: Final = 1500
VISIT_WITHIN_S: Final = 0.7
VISIBLE_WITHIN_S: Final = 6.0
# By which share of the time since then the next event comes later.
VISIBLE_SHARE: Final = 0.1
# Endpoints that wait longer than this for their first event miss the rest of a burst.
LATE_VISIBLE_S: Final = 0.5
# How long the old secrets stay valid, at least.
ROLL_WINDOW_S: Final = 120.0
# Between the burst and the later events; longer than the short window and Retry-After.
LATER_S: Final = 5.0
# How slow the endpoint with http_timeout 0 is.
SLOW_S: Final = 2.0
BURST: Final = 3
# Three signatures show whether their labels are counted.
ROLLS: Final = 2
EVENTS: Final = 7
# How many requests a visit of a new endpoint has at most, one after the other.
MOST_VISITS: Final = 3
# How many attempts a usual schedule has: each is under way as long as a delivery is.
USUAL_ATTEMPTS: Final = 5
# Until when the first further attempt of most services has come, in seconds, and by what factor the
# waits of most grow.
FIRST_WAIT_S: Final = 60.0
UNSEEN_GROWTH: Final = 3.0
# In seconds, for a delivery that is under way.
NEAR_S: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class GatheredDeliveries:
    """`visible_s` is how long a new endpoint waited for its first event, None if it got none.

    `visits` are the methods of the requests that carry no event, to an endpoint that accepts
    them and to one that refuses them; the second is empty if there is no such endpoint. Whether one
    of them came after an event is `visited_late`.
    `redirected` are the requests that came to where an endpoint redirects its deliveries. `secrets`
    has for each of the two formats the secret before the rolls, and that after each of them;
    `rolled_after` is how many events were sent before each roll, `ended_at` the monotonic time at
    which all was read. `round_trip_s` is how far away the target is.
    """

    delivery: DeliverySession
    visible_s: float | None
    visits: tuple[tuple[str, ...], tuple[str, ...]]
    redirected: tuple[ReceivedDelivery, ...]
    secrets: dict[str, tuple[str, ...]]
    rolled_after: tuple[int, ...]
    ended_at: float
    round_trip_s: float = 0.0
    visited_late: bool = False

    @property
    def way_s(self) -> float:
        """How long a delivery may have been under way, and by how much longer than another."""
        return max(way_s(self.round_trip_s), spread_s(self.delivery))

    @property
    def is_near(self) -> bool:
        """Whether that is no longer than what the readings of times allow for anyhow."""
        return self.way_s <= NEAR_S

    @property
    def has_control(self) -> bool:
        """Whether an endpoint without anything unusual got every event: that another one got none
        says something of that one.
        """
        plain = (self.listeners.get(name) for name in PLAIN)
        return any(
            listener is not None and all(map(listener.of, self.events)) for listener in plain
        )

    @property
    def listeners(self) -> dict[str, Listener]:
        return self.delivery.listeners

    @property
    def events(self) -> list[SentEvent]:
        return self.delivery.events

    def first_of_each(self, listener: Listener | None) -> list[ReceivedDelivery]:
        """The first attempt for each event, in order of arrival."""
        if listener is None:
            return []
        first = [attempts[0] for event in self.events if (attempts := listener.of(event))]
        return sorted(first, key=lambda each: each.arrived_monotonic)


async def gather_deliveries(
    delivery: DeliverySession, *, quick: bool, most_s: float
) -> GatheredDeliveries:
    """Gather; raises PreconditionFailed if nothing can be delivered. `most_s` is how long retries
    are waited for; where it is `quick`, only signatures are looked at.
    """
    visible_s, refusing = await _first_delivery(delivery)
    if visible_s is None:
        raise PreconditionFailed(await _why_none_arrived(delivery))
    secrets = {name: await _signed_listener(delivery, name) for name in (SIMPLE, ADVANCED)}
    words = WordListeners(delivery)
    try_words = words.are_needed and not quick
    location = await delivery.receiver.new_token()
    if not quick:
        await _listen_for_questions(delivery, location.url)
    if try_words:
        await words.listen()
    delivery.events.clear()
    await asyncio.sleep(math.ceil(10 * visible_s) / 10)
    for number in range(BURST):
        await _broadcast_beside_failing(delivery, number, visible_s, quick=quick)
    await _all_signed(delivery)
    if try_words:
        await words.listen_for_assertions()
    rolled_after: list[int] = []
    for number in range(BURST, BURST + ROLLS):
        rolled_after.append(len(delivery.events))
        secrets = {name: await _rolled(delivery, name, given) for name, given in secrets.items()}
        await _broadcast_beside_failing(delivery, number, visible_s, quick=quick)
        await _all_signed(delivery)
    if not quick:
        await asyncio.sleep(LATER_S)
        for number in range(BURST + ROLLS, EVENTS):
            await _broadcast_beside_failing(delivery, number, visible_s, quick=quick)
        if try_words:
            await words.read()
        await wait_for_retries(delivery, most_s)
    visited = (delivery.listeners[FIRST], refusing)
    await delivery.read_all(*filter(None, visited))
    return GatheredDeliveries(
        delivery=delivery,
        visible_s=visible_s,
        visits=(_visits(delivery, visited[0]), _visits(delivery, visited[1])),
        visited_late=any(_is_visited_late(delivery, each) for each in visited),
        redirected=await delivery.receiver.deliveries(location.token, count=0, timeout_s=0.0),
        secrets=secrets,
        rolled_after=tuple(rolled_after),
        ended_at=time.monotonic(),
        round_trip_s=delivery.session.round_trip_s,
    )


async def _why_none_arrived(delivery: DeliverySession) -> str:
    """What came in place of the events of a new endpoint, and what to do about it."""
    requests = len(delivery.listeners[FIRST].arrived)
    within_s = round(VISIBLE_WITHIN_S + delivery.session.budgets.delivery_s, 1)
    words = f"no event of the first {VISIBLE_WITHIN_S:g} s of a new endpoint arrived there"
    if requests:
        return f"{words}; {requests} requests came, and none with an event's data"
    if (await delivery.receiver.tls_handshakes()).begun:
        return f"{words}, although the target connected; examine that with `hookproof doctor`"
    advice = delivery.session.target.receiver.reach_advice
    return f"{words}, and no connection came within {within_s:g} s: {advice}"


async def _first_delivery(delivery: DeliverySession) -> tuple[float | None, Listener | None]:
    """How long a new endpoint waits for its first event, and an endpoint that refuses every
    request.
    """
    clock = asyncio.get_running_loop().time
    refusing = await delivery.listen(VISITED, [Reply(status=500)], visits=True)
    listener = await delivery.listen(FIRST)
    if listener is None:
        raise PreconditionFailed("no active endpoint can be created")
    began = clock()
    sent: list[tuple[float, SentEvent | None]] = []

    def has_arrived() -> bool:
        return any(event and listener.of(event) for _, event in sent)

    while not has_arrived() and clock() - began < VISIBLE_WITHIN_S:
        sent.append((clock() - began, await delivery.broadcast()))
        pause_s = max(VISIT_WITHIN_S / 7, VISIBLE_SHARE * (clock() - began))
        await delivery.wait(listener, len(listener.arrived) + 1, pause_s)
    ends = clock() + delivery.session.budgets.delivery_s
    while not has_arrived() and clock() < ends:
        await delivery.wait(listener, len(listener.arrived) + 1, ends - clock())
    # Others are still under way from a target that is far away, and so may a visit be.
    others = len(sent)
    await delivery.wait(listener, len(listener.arrived) + others, VISIT_WITHIN_S + delivery.way_s)
    if refusing is not None:
        await _read_visits_of(delivery, refusing)
    return next((at for at, event in sent if event and listener.of(event)), None), refusing


async def _read_visits_of(delivery: DeliverySession, refusing: Listener) -> None:
    for _ in range(MOST_VISITS):
        known = len(refusing.arrived)
        if await delivery.wait(refusing, known + 1, delivery.way_s) == known:
            break


def _visits(delivery: DeliverySession, listener: Listener | None) -> tuple[str, ...]:
    """The methods of the requests that carry no event of this run, each once."""
    arrived = () if listener is None else listener.arrived
    return tuple(dict.fromkeys(each.method for each in arrived if _is_visit(delivery, each)))


def _is_visit(delivery: DeliverySession, request: ReceivedDelivery) -> bool:
    return delivery.session.nonce.encode() not in request.body


def _is_visited_late(delivery: DeliverySession, listener: Listener | None) -> bool:
    kinds = [_is_visit(delivery, each) for each in (listener.arrived if listener else ())]
    return kinds != sorted(kinds, reverse=True)


async def _signed_listener(delivery: DeliverySession, name: str) -> tuple[str, ...]:
    """Create an endpoint with a secret that is known: given to it, or else shown by it."""
    given, advanced = delivery.session.bodies.secret(), name == ADVANCED
    if await delivery.listen(name, secret=given, advanced_signatures=advanced) is not None:
        return (given,)
    listener = await delivery.listen(name, advanced_signatures=advanced)
    shown = None if listener is None else generated_secret(listener.created)
    return () if shown is None else (shown,)


async def _listen_for_questions(delivery: DeliverySession, location: str) -> None:
    """One endpoint for each question; the target may refuse some.

    A redirect leads to another token of the receiver, which shows whether it is followed.
    """
    redirect = Reply(status=307, headers=(("Location", location),))
    questions: dict[str, tuple[tuple[Reply, ...], dict[str, Any]]] = {
        NO_OWNER: ((OK,), {"owner_id": None}),
        DISABLED: ((OK,), {"is_disabled": True}),
        FORM: ((OK,), {"content_type": "application/x-www-form-urlencoded"}),
        REDIRECTED: ((redirect,), {}),
        PATIENT: ((Reply(status=503, retry_after_s=RETRY_AFTER_S),), {}),
        LIMITED: ((Reply(status=429, retry_after_s=RETRY_AFTER_S),), {}),
        OTHER_SUCCESS: ((Reply(status=204),), {}),
        **{about: ((Reply(status=status),), {}) for status, about in REFUSING.items()},
        ZERO_TIMEOUT: ((Reply(delay_s=SLOW_S),), {"http_timeout": 0}),
        SHORT_WINDOW: ((OK,), {"rate_limit": 1, "rate_limit_duration": SHORT}),
        LONG_WINDOW: ((OK,), {"rate_limit": 1, "rate_limit_duration": LONG}),
    }
    if "owner_id" in delivery.session.endpoint_fields:
        del questions[NO_OWNER]
    if delivery.session.answers.value("delivery.zero_http_timeout") is not None:
        del questions[ZERO_TIMEOUT]
    for about, (replies, fields) in questions.items():
        await delivery.listen(about, replies, **fields)


async def _broadcast_beside_failing(
    delivery: DeliverySession, number: int, visible_s: float, *, quick: bool
) -> None:
    """Send an event, to one more endpoint that always fails than the event before.

    A burst is not held up by endpoints that are late to receive: those get the events after it.
    """
    if not quick:
        await delivery.listen(f"{FAILING} {number}", [Reply(status=500)])
        if visible_s < LATE_VISIBLE_S or number not in range(1, BURST):
            await asyncio.sleep(visible_s * 1.2)
    await delivery.broadcast()


async def _all_signed(delivery: DeliverySession) -> None:
    """Wait until both signed endpoints have got every event."""
    within_s = delivery.session.budgets.delivery_s
    for name in (SIMPLE, ADVANCED):
        listener = delivery.listeners.get(name)
        if listener is not None:
            await delivery.wait_for_events(listener, within_s)


async def _rolled(delivery: DeliverySession, name: str, given: tuple[str, ...]) -> tuple[str, ...]:
    """The secrets that are valid after a roll with a long window."""
    session, listener = delivery.session, delivery.listeners.get(name)
    if listener is None:
        return given
    unit = TimeUnit(session.answers.value("rolling.expiration_unit"))
    largest = most(session.answers.value("requests.expiration_maximum"))
    window = min(math.ceil(ROLL_WINDOW_S / unit.in_seconds), largest)
    new = session.bodies.secret()
    answer = await roll(
        session, listener.uid, f"{name}, for deliveries", expiration=window, secret=new
    )
    return (*given, new) if answer.succeeded else given


async def wait_for_retries(delivery: DeliverySession, most_s: float) -> None:
    """Wait until the failing endpoints are quiet for longer than any wait so far."""
    clock = asyncio.get_running_loop().time
    ends = clock() + most_s + USUAL_ATTEMPTS * delivery.way_s
    failing = [each for name, each in delivery.listeners.items() if name.startswith(FAILING)]
    while clock() < ends:
        await delivery.read_all()
        latest = latest_arrival(failing, delivery.events)
        quiet_s, under_way_s = clock() - latest, max(delivery.way_s, spread_s(delivery))
        if latest and quiet_s > longest_expected_s(failing, delivery.events, under_way_s):
            return
        await asyncio.sleep(0.2)


def spread_s(delivery: DeliverySession) -> float:
    """By how much longer some deliveries were under way than others, although nothing held them up:
    a busy machine, a slow network or a queue that is polled has done the same to every attempt.
    """
    under_way = [
        attempts[0].arrived_at - event.answer.sent_at
        for name, listener in delivery.listeners.items()
        if name in PLAIN or name.startswith(FAILING)
        for event in delivery.events
        if (attempts := listener.of(event))
    ]
    return max(under_way, default=0.0) - min(under_way, default=0.0)


def latest_arrival(failing: list[Listener], events: list[SentEvent]) -> float:
    """When the last attempt for one of these events came, on the monotonic clock; 0 if none did."""
    return max(
        (
            each.arrived_monotonic
            for listener in failing
            for event in events
            for each in listener.of(event)
        ),
        default=0.0,
    )


def longest_expected_s(
    failing: list[Listener], events: list[SentEvent], under_way_s: float
) -> float:
    """How long the next wait of an endpoint may be, as the waits so far have grown, if an attempt
    is under way for so long.
    """
    series = [listener.of(event) for listener in failing for event in events]
    return longest_next_wait_s(series) + under_way_s


def longest_next_wait_s(
    series: Iterable[Sequence[ReceivedDelivery]], *, may_grow: bool = True
) -> float:
    """How long the next wait may be after these attempts, each for one event: as the waits have
    grown, unless all were seen.

    A single wait does not show how they grow, and none does not show that no attempt follows.
    """
    longest, growths = 0.0, list[float]()
    for attempts in series:
        times = [each.arrived_monotonic for each in attempts]
        waits = [later - earlier for earlier, later in pairwise(times)]
        longest = max([longest, *waits])
        growths += [after / before for before, after in pairwise(waits[-3:])]
    if may_grow and not longest:
        return FIRST_WAIT_S
    growth = max([1.0, *(growths or [UNSEEN_GROWTH])]) if may_grow else 1.0
    return max(1.1 * growth * longest + 0.5, 2.0)
