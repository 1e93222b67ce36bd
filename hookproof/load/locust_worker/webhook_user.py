"""A user that calls the operations of a service; its broadcasts are followed to their arrival.

It sends as often as `rate` says, however slow the answers are: a user that is late sends at once,
and the time of a delivery counts from when its broadcast was due. With another `wait_time` it
counts from when the task has come to it.
"""

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final
from urllib.parse import quote

import gevent
import msgspec
from locust.env import Environment
from locust.exception import StopUser

from hookproof.load.broadcast_mark import marked_data
from hookproof.load.locust_worker.arrival_rate import ArrivalShape
from hookproof.load.locust_worker.sender import SENDERS, Sender
from hookproof.load.locust_worker.users import (
    LONGEST_ANSWER_S,
    ApiUser,
    EventAnswer,
    RequestFailure,
    UnreadAnswer,
    body_of_broadcast,
)
from hookproof.load.profile.load_profile import BROADCAST, CREATION, LoadEndpointSettings
from hookproof.load.target.client import data_of
from hookproof.load.target.preparation import EVENT_TYPE, OWNER, ROLL
from hookproof.load.target.settings import new_secret

# The first requests of users that are spawned together are spread: each begins by this share of its
# interval later than the one before (the golden ratio, by which no two come close).
SPREAD: Final = 0.618034


class WebhookUser(ApiUser):
    """A user with an open rate.

    `endpoints` are created before the test, and each broadcast is expected at all of them. After
    the test, deliveries may take `drain_s` seconds to arrive, and as long as others do,
    `drain_at_most_s` (five times that by default). `payload_bytes` is the size of the data of
    broadcasts that have none of their own; a secret that is rolled expires after `expiration_s`.
    All user classes of a test agree in these.
    """

    abstract = True

    rate: ClassVar[float] = 2.5
    endpoints: ClassVar[LoadEndpointSettings] = LoadEndpointSettings()
    payload_bytes: ClassVar[int] = 0
    drain_s: ClassVar[float] = 15.0
    drain_at_most_s: ClassVar[float | None] = None
    expiration_s: ClassVar[int] = 3600
    event_type: ClassVar[str] = EVENT_TYPE

    def __init__(self, environment: Environment) -> None:
        self._sender: Sender = SENDERS[environment]
        self._work = self._sender.wait_for_work()
        self.access = self._work.access
        super().__init__(environment)
        self._number = self._sender.next_user()
        shape = environment.shape_class
        self._shape = shape if isinstance(shape, ArrivalShape) else None
        self._is_paced = type(self).wait_time is WebhookUser.wait_time
        self._beginning = msgspec.json.encode({"event_type": self.event_type})[:-1]
        self._began_at = 0.0
        self._slot: float | None = None
        self._due: float | None = None
        self._free_at = 0.0  # when it has come to its next task
        self._is_stopping = False
        self._is_under_way = False

    def stop(self, force: bool = False) -> Any:
        """Stop the user, and let a request under way be answered: else nobody knew what became of
        its broadcast.
        """
        self._is_stopping = True
        with gevent.Timeout(LONGEST_ANSWER_S, False):
            while force and self._is_under_way:
                gevent.sleep(0.01)  # lets the user go on
        return super().stop(force)

    def wait_time(self) -> float:
        """Seconds until the next task is due; none if it was due before."""
        self._free_at = now = time.time()
        if self._slot is None:
            self._began_at = now
        self._due = self._slot = self._slot_after(now if self._slot is None else self._slot)
        return max(0.0, self._slot - now)

    def broadcast(self, data: Mapping[str, Any] | None = None, **fields: Any) -> bool:
        """Create a broadcast event (section 4.8), and return whether it was accepted.

        `fields` are those of the body besides `data` and `idempotency_key`. A few members are added
        to `data`, by which its deliveries are recognised; they are altered if they differ from it.
        """
        intended_at = self._turn()
        plan, number = self._work.plan, self._sender.next_number()
        shown_at = intended_at if self._work.shares_clock else 0.0
        beginning = self._beginning
        if fields:
            beginning = msgspec.json.encode({"event_type": self.event_type, **fields})[:-1]
        body = body_of_broadcast(
            beginning,
            plan.run,
            number,
            plan.data(number, shown_at)
            if data is None
            else marked_data(data, plan.run, number, shown_at, ""),
        )
        failure = self._sent(BROADCAST, plan.calls[BROADCAST].paths[0], body)
        self._sender.note_answer(number, failure, intended_at=intended_at)
        return failure is None

    def create_endpoint(self, **fields: Any) -> Mapping[str, Any] | None:
        """Create an endpoint (section 4.1) and return it, None if that was refused.

        It is disabled unless `fields`, those of its body, say otherwise: a broadcast reaches all
        active endpoints of a project. No delivery is expected there.
        """
        spare = {
            "name": "hookproof load spare",
            "owner_id": OWNER,
            "url": "https://spare.invalid/",
            "is_disabled": True,
        }
        return self.call(CREATION, {**spare, **fields})

    def roll(self) -> bool:
        """Roll the secret of one of the test's endpoints (section 4.3), the next one each time, and
        return whether it was rolled.

        Deliveries that are signed with either secret verify. Raises LookupError if the target does
        not show the identifiers of endpoints.
        """
        rolls = self._work.plan.rolls
        if rolls is None:
            raise LookupError("no secret can be rolled: the answer to createEndpoint shows no uid")
        endpoint = rolls.endpoints[self._sender.next_roll() % len(rolls.endpoints)]
        secret = new_secret(rolls.secret_prefix, rolls.secret_form)
        self._turn()
        # The receiver knows it first: the target may sign with it before it has answered.
        self._sender.announce_secret(endpoint.token, secret)
        body = msgspec.json.encode({"secret": secret, "expiration": rolls.expiration})
        return self._sent(ROLL, endpoint.path, body) is None

    def list_portal_links(self) -> list[Mapping[str, Any]]:
        """The portal links on the first page (section 4.4); none if that was refused."""
        content = (self.call("listPortalLinks") or {}).get("content")
        return content if isinstance(content, list) else []

    def call(
        self, operation_id: str, body: Mapping[str, Any] | None = None, **names: str
    ) -> Mapping[str, Any] | None:
        """Send an operation and return the `data` of its answer (section 2.1), None for a refusal.

        `names` are those in the path, such as `endpointID`.
        """
        self._turn()
        path = self._work.plan.calls[operation_id].paths[0]
        for name, value in names.items():
            path = path.replace("{" + name + "}", quote(value, safe=""))
        answers: list[bytes] = []
        content = None if body is None else msgspec.json.encode(body)
        failure = self._sent(operation_id, path, content, answers.append, EventAnswer)
        return None if failure is not None else (data_of(answers[0]) or {})

    def _sent(
        self,
        operation_id: str,
        path: str,
        body: bytes | None,
        keep: Callable[[bytes], None] | None = None,
        answer: type[UnreadAnswer] = UnreadAnswer,
    ) -> RequestFailure | None:
        """Send a request, named after its operation; what is wrong with its answer, or None."""
        call = self._work.plan.calls[operation_id]
        self._sender.begin_request()
        self._is_under_way = True
        try:
            return self.exchange(operation_id, call, path, body, keep=keep, answer=answer)
        finally:
            self._is_under_way = False
            self._sender.end_request()

    def _slot_after(self, slot: float, share: float = 1.0) -> float:
        """When the next request is due after that of a slot, or when a share of the usual time has
        passed; raises StopUser if the shape of the test asks for no more.
        """
        if self._shape is None:
            return slot + share / self.rate
        due_s = self._shape.slot_after(slot - self._began_at, share)
        if math.isinf(due_s):
            raise StopUser
        return self._began_at + due_s

    def _turn(self) -> float:
        """Wait as the target asks, and return when this request was due, in Unix seconds; raises
        StopUser if no more are to be sent.
        """
        if self._is_paced and self._slot is None:
            self._began_at = time.time()
            self._due = self._slot = self._slot_after(self._began_at, self._number * SPREAD % 1)
            gevent.sleep(max(0.0, self._slot - time.time()))  # paces the load
        pause_s = self.access.pause.until - time.monotonic()
        if pause_s > 0:
            # What was due meanwhile is not sent later, all at once.
            gevent.sleep(pause_s)
            self._due = self._slot = time.time()
        if self._is_stopping or self._sender.ceased:
            raise StopUser
        now, due, self._due = time.time(), self._due, None
        if due is None:
            return now
        self._sender.note_lateness(max(0.0, now - max(due, self._free_at)))
        return due
