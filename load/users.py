"""Who sends: users that take slots from the run's schedule and broadcast."""

import json
import time
from typing import Final
from uuid import uuid4

import gevent
from locust import FastHttpUser, task
from locust.exception import StopUser

from load.ledger import Ledger
from load.plan import MARKER, Plan
from load.schedule import Schedule

OPERATION: Final = "createBroadcastEvent"


class BroadcastUser(FastHttpUser):
    """Sends one broadcast (section 4.8) a slot; the class attributes are set once, before the run starts.

    The run's users share one process and its event loop, so schedule and ledger need no lock.
    """

    plan: Plan
    schedule: Schedule
    ledger: Ledger
    started_at: float
    connection_timeout = 10.0
    network_timeout = 10.0

    @task
    def broadcast(self) -> None:
        """Wait for the next slot, then send; a slot that is already past is sent at once."""
        slot = self.schedule.take()
        if slot is None:
            raise StopUser
        intended_at = self.started_at + slot
        gevent.sleep(max(0.0, intended_at - time.time()))
        marker = uuid4().hex
        self.ledger.sent(marker, intended_at=intended_at, sent_at=time.time())
        with self.client.post(
            self.plan.path,
            data=broadcast_body(marker),
            headers=self.plan.headers,
            name=OPERATION,
            catch_response=True,
        ) as response:
            accepted = self._accepted(response.status_code)
            self.ledger.answered(marker, accepted=accepted)
            if accepted:
                response.success()
            else:
                response.failure(f"answered {response.status_code}")

    def _accepted(self, status: int) -> bool:
        if self.plan.accepted_statuses:
            return status in self.plan.accepted_statuses
        return 200 <= status < 300  # noqa: PLR2004


def broadcast_body(marker: str) -> str:
    """The request body of one broadcast; every field is given, so that no dialect misses one it requires."""
    return json.dumps(
        {
            "event_type": "hookproof.load",
            "data": {MARKER: marker},
            "idempotency_key": marker,
        }
    )
