"""One worker's share of a run: its users send, its sidecar records, and it reports both sides.

Used by the process of a run that is not distributed (`runner`) and by each worker of a distributed
one (`worker_process`).
"""

import time
from typing import Final

import gevent
from gevent.event import Event
from locust.env import Environment

from hookproof.load.latency import stretch_s
from hookproof.load.ledger.run_progress import RunProgress
from hookproof.load.ledger.sending import Sending
from hookproof.load.ledger.share import Share
from hookproof.load.locust_worker.progress import Interrupts
from hookproof.load.locust_worker.sender import SENDERS, TestWork
from hookproof.load.locust_worker.sidecar_link import CALL_WITHIN_S, SidecarLink
from hookproof.load.locust_worker.slot_user import SecretRoller, SlotSender
from hookproof.load.locust_worker.users import LONGEST_ANSWER_S, ApiAccess
from hookproof.load.plan import LoadPlan
from hookproof.load.profile.schedule import Schedule
from hookproof.target.connection import ApiConnection
from hookproof.target.rate_answer import ApiPause

# Time for the users to be spawned before the first slot.
START_DELAY_S: Final = 0.5

LOOK_EVERY_S: Final = 0.05

# The longest answer to a call that was begun before the end of a run.
ENDS_WITHIN_S: Final = max(LONGEST_ANSWER_S, CALL_WITHIN_S)


class Generator:
    """Carries out a plan; `key` and `connection` are the target's, `control_url` that of the
    sidecar.
    """

    def __init__(
        self,
        plan: LoadPlan,
        *,
        key: str,
        connection: ApiConnection,
        control_url: str,
        environment: Environment,
        interrupts: Interrupts,
    ) -> None:
        self._plan = plan
        self._key = key
        self._connection = connection
        self._interrupts = interrupts
        self._ended = Event()
        self._link = SidecarLink(control_url, plan, stats=environment.stats, ended=self._ended)
        self._environment = environment
        self._greenlets: list[gevent.Greenlet] = []
        self._finished = False
        self._cpu_share = 0.0

    def begin(self) -> None:
        """Set the time of the first slot and inform the sidecar; raises requests' exceptions."""
        self._link.register()
        plan, shape = self._plan, self._plan.shape
        schedule = Schedule(shape, worker=plan.worker, workers=plan.workers)
        self._slots = schedule.slots
        self.sending = Sending(
            schedule.slots,
            step=plan.workers,
            started_at=time.time() + START_DELAY_S,
            stretch_s=stretch_s(shape.duration_s),
        )
        self._ended_at = self.sending.started_at
        access = ApiAccess.through(self._connection, plan, self._key, ApiPause())
        SENDERS[self._environment] = self._sender = SlotSender(
            TestWork(plan=plan, access=access), schedule, self.sending, self._link.announce_secret
        )
        self._link.begin(self.sending)
        self._greenlets = [
            gevent.spawn(self._link.follow),
            *(gevent.spawn(self._link.change_replies, period) for period in plan.reply_periods),
        ]
        if plan.rolls is not None:
            roller = SecretRoller(self._environment)
            self._greenlets.append(
                gevent.spawn(
                    roller.roll_regularly, plan.rolls.every_s, shape.duration_s, self._ended
                )
            )
        self._began, self._burned = time.monotonic(), time.process_time()

    def abandon(self) -> None:
        """Close the connection to the sidecar of a run that could not begin."""
        self._link.close()

    def wait_for_answers(self) -> None:
        """Wait until all slots are answered, or for longer than any answer may take.

        After ctrl-C, wait for the requests under way only.
        """
        total, counts, sender = self._slots, self.sending.counts, self._sender
        deadline = self.sending.started_at + self._plan.shape.duration_s + LONGEST_ANSWER_S
        while counts["done"] + counts["held_back"] < total and time.time() < deadline:
            if sender.ceased:
                gevent.sleep(LOOK_EVERY_S)  # lets the users go on; they count what is answered
                total = counts["requests"] + counts["held_back"]
            elif self._interrupts.new.wait(timeout=LOOK_EVERY_S):
                sender.ceased, deadline = True, time.time() + LONGEST_ANSWER_S
        self._ended_at = time.time()
        self._cpu_share = (time.process_time() - self._burned) / (time.monotonic() - self._began)
        self._finished = True

    def tally(self) -> RunProgress:
        counts = self.sending.counts
        return self._link.progress(
            accepted=counts["accepted"],
            refused=counts["refused"],
            limited=counts["limited"],
            answering=self.sending.answering_buckets,
            lateness=self.sending.lateness_buckets,
            cpu_s=time.process_time() - self._burned,
            finished=self._finished,
        )

    def conclude(self) -> Share:
        """Stop and return both sides; if the sidecar does not answer, the sending side alone."""
        # Not killed, since a call that is would leave its connection open.
        self._ended.set()
        gevent.joinall(self._greenlets, timeout=ENDS_WITHIN_S)
        arrived = self._link.conclude()
        sent = self.sending.result(
            begun=self._sender.begun,
            ended_at=self._ended_at,
            cpu_share=self._cpu_share,
            problem=self._link.problem,
        )
        return Share(worker=self._plan.worker, sent=sent, arrived=arrived)
