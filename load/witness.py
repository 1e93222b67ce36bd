"""Who sees what arrives: follows a receiver token and enters each delivery in the ledger and in Locust's statistics.

The receiver stamps arrivals itself, on this host's wall clock, so polling late does not make a delivery late.
"""

import base64
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import gevent
import requests
from locust.env import Environment

from load.ledger import Ledger
from load.plan import MARKER

REQUEST_TYPE: Final = "DELIVERY"
"""How deliveries are told from requests in Locust's tables."""

PAGE: Final = 1000
POLL_S: Final = 0.5


class Witness:
    """Follows one token; `follow` runs in a greenlet of its own."""

    def __init__(self, url: str, visit_methods: Sequence[str], ledger: Ledger, environment: Environment) -> None:
        self._url = url
        self._visit_methods = visit_methods
        self._ledger = ledger
        self._environment = environment
        self._session = requests.Session()
        self._seen = 0
        self.problem: str | None = None

    def follow(self) -> None:
        """Enter deliveries until killed; a receiver that stops answering ends it, with `problem` saying so."""
        try:
            while True:
                self.read(wait_s=POLL_S)
        except (requests.RequestException, ValueError, KeyError) as error:
            self.problem = f"the receiver stopped answering: {error}"

    def read(self, *, wait_s: float) -> None:
        """Enter what has arrived since the last call, waiting up to `wait_s` for the first."""
        query = {"after": self._seen, "limit": PAGE, "count": 1, "timeout": wait_s}
        answer = self._session.get(self._url, params=query, timeout=wait_s + 10)
        answer.raise_for_status()
        for delivery in answer.json()["deliveries"]:
            self._seen = max(self._seen, delivery["sequence"])
            self._enter(delivery)

    def drain(self, deadline: float) -> None:
        """Wait until nothing accepted is pending any more, or the deadline (unix time) has passed."""
        while self._ledger.pending and self.problem is None and time.time() < deadline:
            gevent.sleep(0.05)

    def close(self) -> None:
        """Close the connection to the receiver."""
        self._session.close()

    def _enter(self, delivery: Mapping[str, Any]) -> None:
        if delivery["method"] in self._visit_methods:
            return
        body = base64.b64decode(delivery["body_b64"])
        latency = self._ledger.arrived(marker_of(body), at=delivery["arrived_at"])
        if latency is None:
            return
        self._environment.events.request.fire(  # type: ignore[no-untyped-call]
            request_type=REQUEST_TYPE,
            name="broadcast to arrival",
            response_time=latency * 1000,
            response_length=len(body),
            exception=None,
            context={},
        )


def marker_of(body: bytes) -> str:
    """The marker in a delivery's body; one that carries none gets a name that was never sent."""
    try:
        return str(json.loads(body)[MARKER])
    except (ValueError, KeyError, TypeError, RecursionError):
        return "no marker"
