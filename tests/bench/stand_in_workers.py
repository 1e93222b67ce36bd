"""Many workers of a distributed run in one process, which send and receive nothing but messages:
`python -m tests.bench.stand_in_workers --master H:P --workers N --endpoints N`.

Each says what a real one would that is answered at once: Locust's own messages, its progress twice
a second, and at the end a share of the ledger in which every delivery has arrived. They end with
their master, and say then how many messages of each kind they have sent, and how many bytes.
"""

import locust  # first: it patches what the other imports bring in

# isort: split
import argparse
import json
import time
from argparse import Namespace
from collections import defaultdict
from typing import Any, Final

import gevent
from locust.env import Environment
from locust.event import Events
from locust.rpc.protocol import Message
from locust.runners import WorkerRunner

from hookproof.load.latency import OverTime, histogram, note, stretch_s
from hookproof.load.latency import packed as packed_histogram
from hookproof.load.ledger.head_messages import Hello, packed, unpacked
from hookproof.load.ledger.run_progress import RunProgress
from hookproof.load.ledger.sending import Sending
from hookproof.load.ledger.share import Share
from hookproof.load.locust_worker.generator import START_DELAY_S
from hookproof.load.locust_worker.messages import CONCLUDE, HELLO, RUN, SHARE, STATS, TALLY
from hookproof.load.locust_worker.participant import TALLY_EVERY_S
from hookproof.load.locust_worker.slot_user import SlotUser
from hookproof.load.plan import LoadPlan
from hookproof.load.profile.schedule import Schedule
from hookproof.load.sidecar.api import Arrived, ArrivedAt
from hookproof.receiver.http.address import Address

# As fast as a reference server answers and delivers.
ANSWER_S: Final = 0.004
DELIVERY_S: Final = 0.012
ANSWER_BYTES: Final = 900

# By kind of message: how many, and how many bytes.
sent: dict[str, list[int]] = defaultdict(lambda: [0, 0])


class RestingUser(locust.User):
    """A user that does nothing."""

    @locust.task
    def rest(self) -> None:
        gevent.sleep(60)  # paces nothing: it is killed at the end of the run


RestingUser.__name__ = SlotUser.__name__  # what the master spawns


class StandIn:
    """One worker; `endpoints` is how many lead to its receiver."""

    def __init__(self, master: Address, number: int, endpoints: int) -> None:
        self._endpoints = endpoints
        self._environment = Environment(
            user_classes=[RestingUser],
            events=Events(),
            parsed_options=Namespace(
                web_base_path="", tags=None, exclude_tags=None, headless=False
            ),
        )
        self._runner: WorkerRunner = self._environment.create_worker_runner(
            master.host, master.port
        )
        self._count_messages()
        self._runner.register_message(RUN, self._run)
        self._runner.register_message(CONCLUDE, self._conclude)
        hello = Hello(
            name=f"stand-in-{number}",
            url=f"https://{number}.invalid",
            dialect="reference",
            may_load=None,
        )
        self._send(HELLO, packed(hello))

    @property
    def is_over(self) -> bool:
        return not self._runner.greenlet

    def _count_messages(self) -> None:
        send = self._runner.client.send

        def counted(message: Message) -> None:
            number = sent[message.type]
            number[0] += 1
            number[1] += len(message.serialize())
            send(message)

        self._runner.client.send = counted

    def _send(self, kind: str, data: Any) -> None:
        self._runner.send_message(kind, data)

    def _run(self, environment: Environment, msg: Any) -> None:
        self._plan = unpacked(msg.data, LoadPlan)
        gevent.spawn(self._work)

    def _work(self) -> None:
        plan = self._plan
        schedule = Schedule(plan.shape, worker=plan.worker, workers=plan.workers)
        began = time.time() + START_DELAY_S
        self._sending = Sending(
            schedule.slots,
            step=plan.workers,
            started_at=began,
            stretch_s=stretch_s(plan.shape.duration_s),
        )
        due, done, told = schedule.take(), 0, 0.0
        while due is not None:
            now = time.time()
            while due is not None and began + due <= now:
                self._answered(done * plan.workers + plan.worker, began + due)
                due, done = schedule.take(), done + 1
            if now - told >= TALLY_EVERY_S:
                told = now
                self._tell(finished=False)
            gevent.sleep(TALLY_EVERY_S / 5)  # paces the sending
        self._done = done
        self._tell(finished=True)

    def _answered(self, number: int, due_at: float) -> None:
        self._sending.left(due_at=due_at, sent_at=due_at, waited=False)
        self._sending.accepted(number, intended_at=due_at, now=due_at + ANSWER_S)
        for name in ("broadcast", "delivery"):
            self._environment.stats.log_request("POST", name, int(1000 * ANSWER_S), ANSWER_BYTES)

    def _tell(self, *, finished: bool) -> None:
        accepted = self._sending.counts["accepted"]
        arrived = accepted * self._plan.deliveries_each
        progress = RunProgress(
            accepted=accepted,
            arrived=arrived,
            progressed=arrived,
            settled=arrived,
            finished=finished,
        )
        self._send(TALLY, packed(progress))

    def _conclude(self, environment: Environment, msg: Any) -> None:
        figures: dict[str, Any] = {}
        environment.events.report_to_master.fire(  # type: ignore[no-untyped-call]
            client_id=self._runner.client_id, data=figures
        )
        self._send(STATS, figures)
        sending, plan = self._sending, self._plan
        own = sending.result(begun=self._done, ended_at=time.time(), cpu_share=0.1, problem=None)
        self._send(SHARE, packed(Share(worker=plan.worker, sent=own, arrived=self._arrived())))

    def _arrived(self) -> Arrived:
        """Each endpoint has had every broadcast of the run, whoever sent it."""
        plan, latencies = self._plan, histogram()
        over_time = OverTime(length_s=stretch_s(plan.shape.duration_s))
        schedule = Schedule(plan.shape, worker=plan.worker, workers=plan.workers)
        while (due := schedule.take()) is not None:
            note(latencies, DELIVERY_S)
            over_time.note(due, DELIVERY_S)
        broadcasts = plan.shape.slots
        endpoint = ArrivedAt(
            successes=b"\1" * broadcasts, failures=bytes(broadcasts), arrived=broadcasts, times=()
        )
        return Arrived(
            endpoints={f"{plan.worker}-{number}": endpoint for number in range(self._endpoints)},
            counts={"arrived": broadcasts * self._endpoints},
            samples={},
            latencies=packed_histogram(latencies),
            over_time=over_time.packed(),
            last_s=plan.shape.duration_s,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--master", required=True, metavar="H:P")
    parser.add_argument("--workers", type=int, required=True)
    parser.add_argument("--endpoints", type=int, required=True)
    options = parser.parse_args()
    at = Address.parse(options.master)
    workers = [StandIn(at, number, options.endpoints) for number in range(options.workers)]
    while not all(worker.is_over for worker in workers):
        gevent.sleep(0.2)
    print(json.dumps(sent))


if __name__ == "__main__":
    main()
