"""Takes part in runs as their head says: in a worker, or in the only process of a run."""

import time
from typing import Any, Final

import gevent
import requests
from locust.env import Environment
from locust.runners import LocalRunner, WorkerRunner

from hookproof.load.ledger.head_messages import packed, unpacked
from hookproof.load.ledger.run_progress import RunProgress
from hookproof.load.ledger.sending import Sending
from hookproof.load.ledger.share import Share
from hookproof.load.locust_worker.generator import Generator
from hookproof.load.locust_worker.messages import CONCLUDE, INTERRUPT, RUN, SHARE, TALLY
from hookproof.load.locust_worker.progress import Interrupts
from hookproof.load.plan import LoadPlan
from hookproof.load.sidecar.api import Arrived
from hookproof.target.connection import ApiConnection

TALLY_EVERY_S: Final = 0.5


class CannotTakePart(Exception):
    """A plan is not carried out; the message says why."""


class Participant:
    """Carries out the plans that the head of its runs sends; `report` runs in a greenlet."""

    def __init__(
        self,
        runner: WorkerRunner | LocalRunner,
        *,
        control_url: str,
        key: str,
        connection: ApiConnection,
    ) -> None:
        self._runner = runner
        self._control_url = control_url
        self._key = key
        self._connection = connection
        self._interrupts = Interrupts()
        self._generator: Generator | None = None
        self._refusal: str | None = None
        self._number = 0
        for kind, listener in ((RUN, self._run), (INTERRUPT, self._interrupt)):
            runner.register_message(kind, listener)
        runner.register_message(CONCLUDE, self._conclude, concurrent=True)

    def prepare(self, plan: LoadPlan) -> None:
        """Prepare for a run; raises CannotTakePart, and requests' exceptions."""

    def conclude(self) -> Share:
        """Both sides of the ledger; nothing if this process could not begin."""
        generator, self._generator = self._generator, None
        if generator is not None:
            return generator.conclude()
        now = time.time()
        sent = Sending(0, started_at=now, stretch_s=1.0).result(
            begun=0, ended_at=now, cpu_share=0.0, problem=self._refusal
        )
        return Share(worker=self._number, sent=sent, arrived=Arrived.nothing())

    def report(self) -> None:
        """Report the progress of the run twice a second, until killed."""
        while True:
            gevent.sleep(TALLY_EVERY_S)  # paces the reports
            tally = None if self._generator is None else self._generator.tally()
            if self._refusal is not None:
                tally = RunProgress(finished=True, problem=self._refusal)
            if tally is not None:
                self._send(TALLY, packed(tally))

    def _run(self, environment: Environment, msg: Any) -> None:
        """Begin a run; Locust's own message to spawn users follows."""
        plan = unpacked(msg.data, LoadPlan)
        self._interrupts, self._generator = Interrupts(), None
        self._refusal, self._number = None, plan.worker
        environment.host = plan.base_url
        generator = Generator(
            plan,
            key=self._key,
            connection=self._connection,
            control_url=self._control_url,
            environment=environment,
            interrupts=self._interrupts,
        )
        try:
            self.prepare(plan)
            generator.begin()
        except CannotTakePart as reason:
            self._refusal = str(reason)
        except requests.RequestException as error:
            self._refusal = f"the sidecar does not answer: {error}"
        else:
            self._generator = generator
            gevent.spawn(generator.wait_for_answers)
        finally:
            if self._generator is None:
                generator.abandon()

    def _interrupt(self, environment: Environment, msg: Any) -> None:
        self._interrupts.interrupt()

    def _conclude(self, environment: Environment, msg: Any) -> None:
        generator, share = self._generator, self.conclude()
        if generator is not None:
            self._send(TALLY, packed(generator.tally()))
        self._send(SHARE, packed(share))

    def _send(self, kind: str, content: bytes) -> None:
        self._runner.send_message(kind, content)  # type: ignore[arg-type]  # msgpack carries bytes
