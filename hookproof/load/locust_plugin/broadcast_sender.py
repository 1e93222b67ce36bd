"""The sending side of a test in one process: numbers of broadcasts, and what became of each."""

import secrets
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

import gevent
import msgspec
from gevent.event import Event
from locust.env import Environment
from locust.runners import WorkerRunner

from hookproof.load.ledger.head_messages import packed, unpacked
from hookproof.load.ledger.sending import ACCEPTED, REFUSED, UNANSWERED
from hookproof.load.locust_plugin.messages import (
    BLOCK,
    BLOCK_SIZE,
    CEASE,
    CEASED,
    JOIN,
    NUMBERS,
    PLAN,
    PROBLEM,
    SECRET,
    SECRET_KNOWN,
    STATES,
    SenderFigures,
    clock_name,
    field_of,
)
from hookproof.load.locust_plugin.receiving_process import settings_for
from hookproof.load.locust_worker.sender import Sender, TestWork
from hookproof.load.locust_worker.users import LONGEST_ANSWER_S, ApiAccess, RequestFailure
from hookproof.load.plan import LoadPlan
from hookproof.load.target.settings import KEY_VARIABLE, connection_from
from hookproof.process.exit_codes import CommandError
from hookproof.spec.strict_yaml.file_problem import FileProblems
from hookproof.target.rate_answer import ApiPause

REPORT_EVERY_S: Final = 1.0
SECRET_WITHIN_S: Final = 30.0


@dataclass(slots=True)
class NumberBlock:
    """Numbers from `first` on, and a byte for each that was used, as in `ledger.sending`."""

    first: int
    states: bytearray = field(default_factory=bytearray)
    reported: bool = True


class BroadcastSender(Sender):
    """Takes part in the tests of an environment, as the head of each says."""

    def __init__(self, environment: Environment, runner: Any) -> None:
        super().__init__()
        self._runner = runner
        self._ready = Event()
        self._given = Event()
        self._answers: dict[str, Event] = {}
        self._work: TestWork | None = None
        self._blocks: dict[int, NumberBlock] = {}
        self._waiting: deque[NumberBlock] = deque()
        self._current: NumberBlock | None = None
        self._figures = SenderFigures()
        self._burned = 0.0
        for kind, listener in (
            (PLAN, self._begin),
            (BLOCK, self._take),
            (SECRET_KNOWN, self._known),
        ):
            self._runner.register_message(kind, listener)
        self._runner.register_message(CEASE, self._cease, concurrent=True)
        events = environment.events
        events.test_start.add_listener(self._join)  # type: ignore[no-untyped-call]
        if isinstance(runner, WorkerRunner):
            events.quitting.add_listener(self._leave)  # type: ignore[no-untyped-call]
        gevent.spawn(self._report_regularly)

    def wait_for_work(self) -> TestWork:
        self._ready.wait()
        assert self._work is not None
        return self._work

    def next_number(self) -> int:
        while self._current is None or len(self._current.states) == BLOCK_SIZE:
            while not self._waiting:
                self._given.clear()
                self._given.wait()
            self._current = self._waiting.popleft()
            self._send(NUMBERS)  # the next ones, long before they are needed
        block = self._current
        block.states.append(0)
        return block.first + len(block.states) - 1

    def note_lateness(self, late_s: float) -> None:
        self._figures.lateness.note(late_s)

    def note_answer(
        self, number: int, failure: RequestFailure | None, *, intended_at: float
    ) -> None:
        if failure is None:
            state = ACCEPTED
            self._figures.answering.note(time.time() - intended_at)
        else:
            state = REFUSED if failure.certain else UNANSWERED
            self._figures.limited += failure.limited
        block = self._blocks[number // BLOCK_SIZE]
        block.states[number - block.first] = state
        block.reported = False

    def announce_secret(self, token: str, secret: str) -> None:
        """Return when the receiver knows a secret; raises TimeoutError."""
        name = secrets.token_hex(8)
        answered = self._answers[name] = Event()
        self._send(SECRET, name=name, token=token, secret=secret)
        known = answered.wait(timeout=SECRET_WITHIN_S)
        del self._answers[name]
        if not known:
            raise TimeoutError(f"the receiver did not answer within {SECRET_WITHIN_S:.0f} s")

    def _join(self, **_: Any) -> None:
        """Take part in a test that begins."""
        self._ready.clear()
        self._work, self._current, self._under_way, self._users = None, None, 0, 0
        self._blocks.clear()
        self._waiting.clear()
        self._figures, self._burned = SenderFigures(), time.process_time()
        self._send(JOIN)

    def _begin(self, msg: Any, **_: Any) -> None:
        """Begin to send as the head says."""
        plan = unpacked(field_of(msg, "plan"), LoadPlan)
        variables = field_of(msg, "variables")
        try:
            # A worker has the key from its own environment: it is not sent.
            variables = variables or settings_for(plan.base_url).variables
        except (CommandError, FileProblems) as problem:
            self._send(PROBLEM, problem=str(problem))
            return
        self._work = TestWork(
            plan=plan,
            access=ApiAccess.through(
                connection_from(variables), plan, variables[KEY_VARIABLE], ApiPause()
            ),
            shares_clock=field_of(msg, "clock") == clock_name(),
        )
        self._take(msg)
        self.ceased = False
        self._ready.set()

    def _take(self, msg: Any, **_: Any) -> None:
        """Take numbers that the head gives."""
        if self._work is None or field_of(msg, "run") != self._work.plan.run:
            return  # those of an earlier test
        block = NumberBlock(field_of(msg, "first"))
        self._blocks[block.first // BLOCK_SIZE] = block
        self._waiting.append(block)
        self._given.set()

    def _known(self, msg: Any, **_: Any) -> None:
        answered = self._answers.get(field_of(msg, "name"))
        if answered is not None:
            answered.set()

    def _cease(self, **_: Any) -> None:
        """Send no more, and report what is known when the requests under way are answered."""
        self.ceased = True
        with gevent.Timeout(LONGEST_ANSWER_S, False):
            while self._under_way:
                gevent.sleep(0.05)  # lets the users go on
        self._send_states(CEASED)

    def _leave(self, **_: Any) -> None:
        """Cease where this process leaves before the head has ended the test."""
        if not self.ceased:
            self._cease()

    def _report_regularly(self) -> None:
        while True:
            gevent.sleep(REPORT_EVERY_S)  # paces the reports
            if not self.ceased and any(not block.reported for block in self._blocks.values()):
                self._send_states(STATES)

    def _send_states(self, kind: str) -> None:
        """Send what became of broadcasts since the last time, and the figures of this process."""
        fresh = [block for block in self._blocks.values() if not block.reported]
        for block in fresh:
            block.reported = True
        states = [(block.first, bytes(block.states)) for block in fresh]
        cpu_s = time.process_time() - self._burned
        figures = msgspec.structs.replace(self._figures, cpu_s=cpu_s)
        self._send(kind, states=states, figures=packed(figures))

    def _send(self, kind: str, **fields: Any) -> None:
        run = "" if self._work is None else self._work.plan.run
        self._runner.send_message(kind, {"run": run, **fields})
