"""The users of a profile: each takes slots from the schedule of the run and sends one operation in
each.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import gevent
from gevent.event import Event
from locust import task
from locust.env import Environment
from locust.exception import StopUser

from hookproof.load.ledger.sending import Sending
from hookproof.load.locust_worker.sender import Sender, TestWork
from hookproof.load.locust_worker.users import EventAnswer, RequestFailure, UnreadAnswer
from hookproof.load.locust_worker.webhook_user import WebhookUser
from hookproof.load.profile.load_profile import BROADCAST, CREATION
from hookproof.load.profile.schedule import OperationMix, Schedule

# A user that is free so much later than its slot came counts as having waited.
WAITING_S: Final = 0.001


class SlotSender(Sender):
    """Sends one worker's share of the slots of a run, and counts in `sending` what becomes of it.

    The answer to one broadcast is read, and the next one may be while `reads_event`.
    """

    def __init__(
        self,
        work: TestWork,
        schedule: Schedule,
        sending: Sending,
        announce: Callable[[str, str], None],
    ) -> None:
        super().__init__()
        self.ceased = False
        self.schedule = schedule
        self.sending = sending
        self.mix = OperationMix(work.plan.mix)
        self.begun = 0
        self.reads_event = True
        self._announce = announce
        self._work = work

    def wait_for_work(self) -> TestWork:
        return self._work

    def next_number(self) -> int:
        """Workers use the numbers of a run in turn."""
        self.begun += 1
        return (self.begun - 1) * self._work.plan.workers + self._work.plan.worker

    def note_lateness(self, late_s: float) -> None:
        """Nothing more: `sending` has the lateness of each slot."""

    def note_answer(
        self, number: int, failure: RequestFailure | None, *, intended_at: float
    ) -> None:
        if failure is None:
            self.sending.accepted(number, intended_at=intended_at, now=time.time())
            return
        self.sending.not_accepted(number, certain=failure.certain)
        if failure.limited:
            self.sending.limited(BROADCAST, failure.why)
        else:
            self.sending.refused(number, failure.why)

    def announce_secret(self, token: str, secret: str) -> None:
        self._announce(token, secret)

    def note_failure(self, what: str, failure: RequestFailure | None) -> None:
        """Note what is wrong with a request that is no broadcast, if anything is."""
        if failure is not None:
            note = self.sending.limited if failure.limited else self.sending.failed
            note(what, failure.why)


class SlotUser(WebhookUser):
    """Sends one operation per slot, in the weights of the profile."""

    _sender: SlotSender

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._intended_at = 0.0

    @task
    def take_slots(self) -> None:
        """Take one slot after the other.

        A loop of its own, since Locust would give all users a turn between two tasks of one.
        """
        while not self._sender.ceased and (slot := self._sender.schedule.take()) is not None:
            self._send_at(slot)
        raise StopUser

    def _send_at(self, slot: float) -> None:
        """Wait for a slot, then send; a slot that is already past is sent at once."""
        sender, sending = self._sender, self._sender.sending
        self._intended_at, free_at = sending.started_at + slot, time.time()
        if self._intended_at > free_at:
            gevent.sleep(self._intended_at - free_at)  # paces the load
        if sender.ceased:
            return
        if self.access.pause.holds(time.monotonic()):
            sending.held_back()
            return
        sending.left(
            due_at=max(self._intended_at, free_at),
            sent_at=time.time(),
            waited=free_at > self._intended_at + WAITING_S,
        )
        operation_id = sender.mix.take()
        if operation_id == BROADCAST:
            self.broadcast()
        else:
            self._call(operation_id)
        sending.counts["done"] += 1

    def _turn(self) -> float:
        """What is sent belongs to the slot."""
        return self._intended_at

    def _sent(
        self,
        operation_id: str,
        path: str,
        body: bytes | None,
        keep: Callable[[bytes], None] | None = None,
        answer: type[UnreadAnswer] = UnreadAnswer,
    ) -> RequestFailure | None:
        sender = self._sender
        if operation_id != BROADCAST or not sender.reads_event:
            return super()._sent(operation_id, path, body, keep, answer)
        sender.reads_event = False
        failure = super()._sent(operation_id, path, body, sender.sending.event, EventAnswer)
        sender.reads_event = failure is not None
        return failure

    def _call(self, operation_id: str) -> None:
        call, sending = self._work.plan.calls[operation_id], self._sender.sending
        turn = sending.counts[operation_id]
        sending.counts[operation_id] += 1
        body = call.bodies[turn % len(call.bodies)].encode() if call.bodies else None
        keep = sending.created if operation_id == CREATION else None
        failure = self._sent(operation_id, call.paths[turn % len(call.paths)], body, keep)
        self._sender.note_failure(operation_id, failure)


class SecretRoller(WebhookUser):
    """Rolls secrets beside the users of a run (section 4.3)."""

    abstract = True
    _sender: SlotSender

    def roll_regularly(self, every_s: float, until_s: float, ended: Event) -> None:
        """Roll the secrets of all endpoints each time, until so many seconds have passed."""
        rolls, started_at = self._work.plan.rolls, self._sender.sending.started_at
        assert rolls is not None
        due_s = every_s
        while due_s < until_s and not ended.wait(max(0.0, started_at + due_s - time.time())):
            for _ in rolls.endpoints:
                if ended.is_set():
                    return
                if not self.access.pause.holds(time.monotonic()):  # a later roll follows
                    with suppress(StopUser):
                        self.roll()
            due_s += every_s

    def _turn(self) -> float:
        self._sender.sending.counts["rolls"] += 1
        return time.time()

    def _sent(self, *request: Any, **further: Any) -> RequestFailure | None:
        failure = super()._sent(*request, **further)
        self._sender.note_failure("a roll", failure)
        return failure
