"""The receiving side of a test: deliveries become requests of type DELIVERY in Locust's figures.

Whatever is wrong with a delivery is a failure of its request; what is lost is a request that failed
without a response time. Which deliveries are lost is known only when no more come, so the end of a
test waits for them before Locust stops its users.
"""

import logging
import secrets
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import reduce
from typing import Any, Final

import gevent
import msgspec
from locust.env import Environment
from locust.exception import CatchResponseError
from locust.runners import LocalRunner, MasterRunner
from locust.stats import CSV_STATS_INTERVAL_SEC

from hookproof.load.ledger.balance import Account, balance_endpoint
from hookproof.load.ledger.draining import Drain
from hookproof.load.ledger.head_messages import packed, unpacked
from hookproof.load.ledger.run_metrics import RunMetrics
from hookproof.load.ledger.run_progress import RunProgress
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
    NothingReady,
    ReceivingReady,
    ReceivingRequest,
    SenderFigures,
    clock_name,
    field_of,
)
from hookproof.load.locust_worker.progress import Interrupts, drain
from hookproof.load.locust_worker.sidecar_link import POLL_S, REQUEST_TYPE, SILENCE, SidecarClient
from hookproof.load.locust_worker.users import LONGEST_ANSWER_S
from hookproof.load.metrics import MetricsProblem, serve_metrics
from hookproof.load.plan import LoadPlan
from hookproof.load.profile.schedule import MOST_SLOTS
from hookproof.load.run.judgement import NOTHING_ARRIVED
from hookproof.load.sidecar.api import Arrived
from hookproof.load.sidecar.arrivals import NewRun
from hookproof.process.exit_codes import ExitCode
from hookproof.receiver.http.address import Address

ENDPOINTS: Final = "endpoints"
LIMITED: Final = "limited endpoints"
# A worker that says nothing for so long after its last answer may have come is lost.
CEASED_WITHIN_S: Final = LONGEST_ANSWER_S + 5.0
# Hooks may take a minute to remove what was created.
ENDS_WITHIN_S: Final = 90.0
# The figures of a test are kept in stretches of so long, of which nobody asks for any.
STRETCH_S: Final = 3600.0
NEVER_LATE_S: Final = 86_400.0
LOOK_EVERY_S: Final = 0.1
LOG: Final = logging.getLogger("hookproof.locust")


class NotReady(Exception):
    """A test cannot begin; the message says why, `exit_code` is for Locust's process."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class ReceivingProcess:
    """The receiving process for one request, as long as it lives; raises NotReady."""

    def __init__(self, request: ReceivingRequest) -> None:
        self.request = request
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "hookproof.load.locust_plugin.receiving_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # ctrl-C is for Locust, which ends it
        )
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(msgspec.json.encode(request) + b"\n")
        stdin.flush()
        try:
            answer = msgspec.json.decode(stdout.readline(), type=dict[str, Any])
        except msgspec.DecodeError:
            self.end()
            raise NotReady("the receiving process ended early", ExitCode.INTERNAL_ERROR) from None
        if "problem" in answer:
            self.end()
            nothing = msgspec.convert(answer, NothingReady)
            raise NotReady(nothing.problem, nothing.exit_code)
        self.ready = msgspec.convert(answer, ReceivingReady)

    def end(self) -> None:
        """Have it remove what hooks can remove, and end it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=ENDS_WITHIN_S)
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


class DeliveryListener:
    """Listens to the tests of an environment in its head: the only process, or the master."""

    def __init__(self, environment: Environment, runner: Any, request: ReceivingRequest) -> None:
        self._environment = environment
        self._runner = runner
        self._request = request
        self._receiving: ReceivingProcess | None = None
        self._preparing: gevent.Greenlet | None = None
        self._test: DeliveryTest | None = None
        self._concluding: gevent.Greenlet | None = None
        self._interrupts = Interrupts()
        self._has_given_up = False
        self._has_lost_receiver = False
        self._metrics = RunMetrics()
        for kind, listener in (
            (JOIN, self._join),
            (PROBLEM, self._cannot_join),
            (NUMBERS, self._give_numbers),
            (STATES, self._note_states),
            (CEASED, self._note_ceased),
        ):
            self._runner.register_message(kind, listener)
        self._runner.register_message(SECRET, self._learn_secret, concurrent=True)
        events = environment.events
        events.test_start.add_listener(self._begin)  # type: ignore[no-untyped-call]
        events.test_stopping.add_listener(self._conclude)  # type: ignore[no-untyped-call]
        events.quitting.add_listener(self._quit)  # type: ignore[no-untyped-call]

    @property
    def figures(self) -> dict[str, int]:
        """The ledger of the last test that has ended: expected = delivered + explained + pending +
        lost deliveries, and what was wrong with some.
        """
        return {} if self._test is None else dict(self._test.figures)

    def serve_metrics(self, at: str) -> None:
        """Serve the figures of all tests for Prometheus; raises NotReady."""
        try:
            url = serve_metrics(Address.parse(at), self._metrics.figures, of_process=False)
        except (MetricsProblem, ValueError) as problem:
            raise NotReady(str(problem), ExitCode.USAGE) from None
        LOG.info("Metrics at %s", url)

    @property
    def backlog(self) -> int:
        """How many deliveries are expected, as far as is known by now, and have not arrived."""
        return 0 if self._test is None else self._test.backlog

    def prepare(self) -> None:
        """Prepare the target, if that is not done; raises NotReady."""
        # A greenlet of its own: Locust kills the one that starts a test if it is started again.
        if self._preparing is None or self._preparing.ready():
            self._preparing = gevent.spawn(self._prepared)
        problem = self._preparing.get()
        if problem is not None:
            raise problem

    def _prepared(self) -> NotReady | None:
        host = self._environment.host or self._request.host
        request = msgspec.structs.replace(self._request, host=host)
        is_ready = self._receiving is not None and self._receiving.request == request
        if is_ready and not self._has_lost_receiver:
            return None
        self._end_receiving()
        try:
            self._receiving = ReceivingProcess(request)
        except NotReady as problem:
            return problem
        url = self._receiving.ready.control_url
        LOG.info("What the receiver answers can be changed at %s/reply", url)
        for what, why in self._receiving.ready.left_out.items():
            LOG.warning("%s is left out: %s", what, why)
        return None

    def _begin(self, **_: Any) -> None:
        """Begin a test; one that cannot begin is stopped."""
        self._test, self._concluding, self._interrupts = None, None, Interrupts()
        if self._has_given_up:
            self._has_given_up, self._environment.process_exit_code = False, None
        try:
            self.prepare()
            assert self._receiving is not None
            self._test = DeliveryTest(
                self._environment,
                self._runner,
                self._receiving.ready,
                self._metrics,
                self._lose_receiver,
            )
            self._test.begin()
        except NotReady as problem:
            self._give_up(str(problem), problem.exit_code)
        shape = self._environment.shape_class
        if shape is not None:
            shape.reset_time()  # type: ignore[no-untyped-call]  # the preparation does not count

    def _give_up(self, why: str, exit_code: int) -> None:
        """End a test that proves nothing; Locust shows the reason as an exception."""
        LOG.error(why)
        self._runner.log_exception("hookproof", why, why)
        self._has_given_up, self._environment.process_exit_code = True, exit_code
        options = self._environment.parsed_options
        headless = options is not None and options.headless
        gevent.spawn(self._runner.quit if headless else self._runner.stop)

    def _lose_receiver(self, problem: Exception) -> None:
        self._has_lost_receiver = True
        self._give_up(f"the receiver does not answer: {problem}", ExitCode.INTERNAL_ERROR)

    def _end_receiving(self) -> None:
        if self._receiving is not None:
            self._receiving.end()
        self._receiving, self._has_lost_receiver = None, False

    def _join(self, msg: Any, **_: Any) -> None:
        if self._test is not None:
            self._test.join(msg.node_id)

    def _cannot_join(self, msg: Any, **_: Any) -> None:
        if self._test is not None:
            self._test.ceased.add(msg.node_id)
        self._give_up(f"worker {msg.node_id}: {field_of(msg, 'problem')}", ExitCode.USAGE)

    def _give_numbers(self, msg: Any, **_: Any) -> None:
        if (test := self._test_of(msg)) is not None:
            test.give_numbers(msg.node_id)

    def _note_states(self, msg: Any, **_: Any) -> None:
        if (test := self._test_of(msg)) is not None:
            test.note_states(msg)

    def _note_ceased(self, msg: Any, **_: Any) -> None:
        if (test := self._test_of(msg)) is not None:
            test.note_states(msg)
            test.ceased.add(msg.node_id)

    def _learn_secret(self, msg: Any, **_: Any) -> None:
        if (test := self._test_of(msg)) is not None:
            test.learn_secret(field_of(msg, "token"), field_of(msg, "secret"))
            self._runner.send_message(
                SECRET_KNOWN, {"name": field_of(msg, "name")}, client_id=msg.node_id
            )

    def _test_of(self, msg: Any) -> "DeliveryTest | None":
        test = self._test
        return test if test is not None and field_of(msg, "run") == test.plan.run else None

    def _conclude(self, **_: Any) -> None:
        """Wait until all deliveries have arrived, before Locust stops the users."""
        if self._test is None:
            return
        if self._concluding is None:
            self._concluding = gevent.spawn(self._concluded, self._test)
        self._concluding.join()

    def _concluded(self, test: "DeliveryTest") -> None:
        test.conclude(self._interrupts)
        options = self._environment.parsed_options
        if options is not None and options.csv_prefix:
            # Locust writes its files so often, and not once more at its end.
            gevent.sleep(2 * CSV_STATS_INTERVAL_SEC)

    def _quit(self, **_: Any) -> None:
        """Conclude a test that still runs; ctrl-C while it waits for deliveries ends the wait."""
        if self._concluding is not None and not self._concluding.ready():
            self._interrupts.interrupt()
        try:
            self._conclude()
        except KeyboardInterrupt:
            self._interrupts.interrupt()
            self._conclude()
        with suppress(KeyboardInterrupt):
            while self._metrics.is_awaited(time.monotonic()) and self._interrupts.count < 1:
                gevent.sleep(LOOK_EVERY_S)  # until somebody has seen the end
        self._end_receiving()


class DeliveryTest:
    """One test: what became of its broadcasts, and of their deliveries."""

    def __init__(
        self,
        environment: Environment,
        runner: Any,
        ready: ReceivingReady,
        metrics: RunMetrics,
        lose_receiver: Callable[[Exception], None],
    ) -> None:
        self._events = environment.events
        self._runner = runner
        self._ready = ready
        self._metrics = metrics
        self._lose_receiver = lose_receiver
        self._sidecar = SidecarClient(ready.control_url)
        self._following: gevent.Greenlet | None = None
        self._is_over = False
        self._states = bytearray()
        self._begun: dict[int, int] = {}
        self._senders: dict[str, SenderFigures] = {}
        self._blocks = 0
        self._joined: set[str] = set()
        self._problem: str | None = None
        self._groups = {
            endpoint.token: LIMITED if endpoint.limited else ENDPOINTS
            for endpoint in ready.plan.endpoints
        }
        self.ceased: set[str] = set()
        self.plan: LoadPlan = msgspec.structs.replace(ready.plan, run=secrets.token_hex(4))
        self.figures: Counter[str] = Counter()

    @property
    def backlog(self) -> int:
        return max(0, self._accepted * self.plan.deliveries_each - self._sidecar.settled)

    @property
    def _accepted(self) -> int:
        return self._states.count(ACCEPTED)

    def begin(self) -> None:
        """Have the receiver begin."""
        self._metrics.begin(self.plan.deliveries_each)
        new = NewRun(
            run=self.plan.run,
            broadcasts=MOST_SLOTS,
            started_at=time.time(),
            stretch_s=STRETCH_S,
            late_after_s=NEVER_LATE_S,
            timeout_s=self.plan.timeout_s,
            rate_limit=self._ready.rate_limit,
            rate_limit_s=self._ready.rate_limit_s,
        )
        try:
            self._sidecar.register(self.plan.endpoints)
            self._sidecar.begin(new)
        except SILENCE as problem:
            self._fail(problem)
        self._following = gevent.spawn(self._follow)

    def join(self, node: str) -> None:
        """Let a process take part."""
        self._joined.add(node)
        is_own = isinstance(self._runner, LocalRunner)
        fields = {
            # The receiver knows the secrets: no other machine needs them.
            "plan": packed(msgspec.structs.replace(self.plan, endpoints=())),
            # The key never leaves the machine.
            "variables": self._ready.variables if is_own else {},
            "clock": clock_name(),
        }
        self._runner.send_message(PLAN, {**fields, **self._next_numbers()}, client_id=node)

    def give_numbers(self, node: str) -> None:
        self._runner.send_message(BLOCK, self._next_numbers(), client_id=node)

    def note_states(self, msg: Any) -> None:
        self._senders[msg.node_id] = unpacked(field_of(msg, "figures"), SenderFigures)
        for first, some in field_of(msg, "states"):
            self._states[first : first + len(some)] = some
            self._begun[first] = len(some)

    def learn_secret(self, token: str, secret: str) -> None:
        try:
            self._sidecar.add_secret(token, secret)
        except SILENCE as problem:
            self._fail(problem)

    def conclude(self, interrupts: Interrupts) -> None:
        """End the sending, wait for what is to arrive, and report what is lost."""
        self._runner.send_message(CEASE, {"run": self.plan.run})
        with gevent.Timeout(CEASED_WITHIN_S, False):
            while self._present() - self.ceased:
                gevent.sleep(0.05)  # until the workers have answered
        for node in self._joined - self.ceased:
            why = f"{node} left before it said what became of its last broadcasts"
            LOG.error(why)
            self._runner.log_exception("hookproof", why, node)
        self._is_over = True
        if self._following is not None:
            self._following.join()  # not killed: what it has just been told would be lost
        drained = drain(
            self._look_and_tell, interrupts, self.plan, some_never_come=lambda: self.plan.may_drop
        )
        try:
            arrived = self._sidecar.arrivals()
        except SILENCE as problem:
            self._fail(problem)
            return
        finally:
            self._sidecar.close()
        self._balance(arrived, drained)

    def _next_numbers(self) -> dict[str, Any]:
        first = self._blocks * BLOCK_SIZE
        self._blocks += 1
        self._states.extend(bytes(BLOCK_SIZE))
        return {"run": self.plan.run, "first": first}

    def _present(self) -> set[str]:
        """The processes that take part and are not gone."""
        if not isinstance(self._runner, MasterRunner):
            return set(self._joined)
        clients = self._runner.clients
        gone = {client.id for client in clients.missing}
        return {node for node in self._joined if node in clients and node not in gone}

    def _follow(self) -> None:
        """Report what arrives as long as the test lasts."""
        while self._problem is None and not self._is_over:
            gevent.sleep(POLL_S)  # paces the calls
            self._look()

    def _look(self) -> None:
        try:
            fresh = self._sidecar.fresh()
        except SILENCE as problem:
            self._fail(problem)
            return
        for delivery, count in fresh:
            group = LIMITED if delivery.limited else ENDPOINTS
            for _ in range(count):
                self._report(group, delivery.failure, delivery.latency_ms)
        self._metrics.note(self._progress())

    def _look_and_tell(self) -> RunProgress:
        self._look()
        progress = self._progress()
        # Broadcasts of which nothing is known may arrive as well.
        unknown = sum(self._begun.values()) - progress.accepted
        return msgspec.structs.replace(progress, refused=unknown)

    def _progress(self) -> RunProgress:
        senders = self._senders.values()
        limited = sum(each.limited for each in senders)
        progress = self._sidecar.progress(
            accepted=self._accepted,
            refused=self._states.count(REFUSED) + self._states.count(UNANSWERED) - limited,
            finished=True,
            problem=self._problem,
        )
        own = (RunProgress(**msgspec.structs.asdict(each)) for each in senders)
        return reduce(RunProgress.plus, own, progress)

    def _balance(self, arrived: Arrived, drained: Drain) -> None:
        """Report what is not known before the end, and compute the figures."""
        states = bytes(self._states)
        for token, at_endpoint in arrived.endpoints.items():
            if token not in self._groups:
                continue
            group = self._groups[token]
            account = balance_endpoint(
                states,
                at_endpoint,
                limited=group == LIMITED,
                explanations=self._ready.explanations,
                missing_may_come=drained.missing_may_come,
            )
            for failure, count in _failures(account):
                for _ in range(count):
                    self._report(group, failure, None)
            for name in ("expected", "delivered", "explained", "pending", "lost"):
                self.figures[name] += getattr(account, name)
        self._metrics.end(self.figures)
        counted = ("duplicated", "altered", "unverifiable", "over_limit", "unexpected")
        self.figures.update({name: arrived.counts.get(name, 0) for name in counted})
        LOG.info(
            "Deliveries: expected %s; %s",
            self.figures["expected"],
            ", ".join(
                f"{name.replace('_', ' ')} {self.figures[name]}"
                for name in ("delivered", "explained", "pending", "lost", *counted)
            ),
        )
        if self.figures["lost"] and not self.figures["delivered"] + self.figures["explained"]:
            LOG.warning(NOTHING_ARRIVED)
        for kind, samples in arrived.samples.items():
            if kind in counted:
                LOG.warning("%s: %s", kind, "; ".join(samples))

    def _report(self, group: str, failure: str | None, latency_ms: int | None) -> None:
        self._events.request.fire(  # type: ignore[no-untyped-call]
            request_type=REQUEST_TYPE,
            name=group,
            response_time=latency_ms,
            response_length=0,
            response=None,
            context={},
            exception=None if failure is None else CatchResponseError(failure),
        )

    def _fail(self, problem: Exception) -> None:
        if self._problem is None:
            self._problem = str(problem)
            self._lose_receiver(problem)


def _failures(account: Account) -> Iterator[tuple[str, int]]:
    yield "lost", account.lost
    yield "pending when the wait for deliveries ended", account.pending
    yield "arrived although the broadcast was refused", account.refused_and_arrived
