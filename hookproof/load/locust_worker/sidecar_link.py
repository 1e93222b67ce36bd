"""The generator's connection to its sidecar.

It shows arrivals in Locust's statistics and changes the receivers' replies.
Deliveries are an entry of their own request type in Locust's tables; they are added in sums twice a
second, so that this costs the generator next to nothing.
"""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
import requests
from gevent.event import Event
from locust.stats import RequestStats, StatsEntry, bucket_response_time

from hookproof.load.latency import Buckets
from hookproof.load.ledger.run_progress import RunProgress
from hookproof.load.ledger.sending import Sending
from hookproof.load.locust_worker.tracing import trace_deliveries, tracer, untraced
from hookproof.load.plan import (
    LoadPlan,
    ReceivingEndpoint,
    ReplyPeriod,
)
from hookproof.load.sidecar.api import Arrived
from hookproof.load.sidecar.arrivals import DeliveryTrace, FreshDelivery, NewRun

REQUEST_TYPE: Final = "DELIVERY"
NAME: Final = "broadcast to arrival"
POLL_S: Final = 0.5
CALL_WITHIN_S: Final = 30.0
ARRIVALS_WITHIN_S: Final = 60.0
# What a call of a sidecar that has stopped answering raises.
SILENCE: Final = (requests.RequestException, ValueError, KeyError)


class SidecarClient:
    """The control API of a sidecar; methods raise what is in `SILENCE`.

    `fresh` keeps what the sidecar counts: `arrived`, `progressed` and `settled`, as in `Arrivals`,
    and the others, as in `RunProgress`.
    """

    def __init__(self, control_url: str) -> None:
        self._control_url = control_url
        self._session = requests.Session()
        self.arrived = 0
        self.progressed = 0
        self.settled = 0
        self.delivered = 0
        self.wrong: Counter[str] = Counter()
        self.latency = Buckets()
        self._tracer = tracer()

    def register(self, endpoints: Iterable[ReceivingEndpoint]) -> None:
        self._call("POST", "/endpoints", data=msgspec.json.encode({"endpoints": [*endpoints]}))

    def set_dialect(self, dialect: Mapping[str, Any]) -> None:
        self._call("PUT", "/dialect", json=dialect)

    def begin(self, new: NewRun) -> None:
        new = msgspec.structs.replace(new, traced=self._tracer is not None)
        self._call("POST", "/runs", data=msgspec.json.encode(new))

    def add_secret(self, token: str, secret: str) -> None:
        self._call("POST", f"/endpoints/{token}/secrets", json={"secret": secret})

    def put_reply(self, token: str, reply: Mapping[str, Any]) -> None:
        self._call("PUT", f"/endpoints/{token}/reply", json=reply)

    def delete_reply(self, token: str) -> None:
        self._call("DELETE", f"/endpoints/{token}/reply")

    def fresh(self) -> list[tuple[FreshDelivery, int]]:
        """The deliveries that arrived since the last call, with the number of each kind."""
        fresh = self._call("POST", "/fresh")
        self.arrived, self.settled = fresh["arrived"], fresh["settled"]
        self.progressed = fresh["progressed"]
        deliveries = [(FreshDelivery(*kind), count) for *kind, count in fresh["deliveries"]]
        for delivery, count in deliveries:
            self.delivered += 0 if delivery.repeated else count
            if delivery.failure is not None:
                self.wrong.update(dict.fromkeys(delivery.failure.split(", "), count))
            if delivery.latency_ms is not None:
                self.latency.note(delivery.latency_ms / 1000, count)
        if fresh["traces"]:
            trace_deliveries(self._tracer, (DeliveryTrace(*each) for each in fresh["traces"]))
        return deliveries

    def progress(self, **further: Any) -> RunProgress:
        """What was counted, and what is known besides."""
        return RunProgress(
            arrived=self.arrived,
            progressed=self.progressed,
            delivered=self.delivered,
            settled=self.settled,
            wrong=self.wrong,
            latency=self.latency,
            **further,
        )

    def arrivals(self) -> Arrived:
        """All that arrived in the run."""
        with untraced():
            answer = self._session.get(f"{self._control_url}/arrivals", timeout=ARRIVALS_WITHIN_S)
        answer.raise_for_status()
        return msgspec.json.decode(answer.content, type=Arrived)

    def close(self) -> None:
        self._session.close()

    def _call(self, method: str, path: str, **content: Any) -> Mapping[str, Any]:
        with untraced():
            answer = self._session.request(
                method, self._control_url + path, timeout=CALL_WITHIN_S, **content
            )
        answer.raise_for_status()
        content_of_answer: Mapping[str, Any] = answer.json() if answer.content else {}
        return content_of_answer


class SidecarLink:
    """The connection; methods that loop run in greenlets of their own, until `ended` is set."""

    def __init__(
        self,
        control_url: str,
        plan: LoadPlan,
        *,
        stats: RequestStats,
        ended: Event,
    ) -> None:
        self._sidecar = SidecarClient(control_url)
        self._plan = plan
        self._stats = stats
        self._ended = ended
        self.backlog = 0
        self.problem: str | None = None

    def register(self) -> None:
        """Send the sidecar the endpoints of the run; raises requests' exceptions."""
        self._sidecar.register(self._plan.endpoints)

    def begin(self, sending: Sending) -> None:
        """Have the sidecar begin the run; raises requests' exceptions."""
        self._sending, plan = sending, self._plan
        new = NewRun(
            run=plan.run,
            broadcasts=plan.shape.slots,
            started_at=sending.started_at,
            stretch_s=sending.over_time.length_s,
            late_after_s=plan.late_after_s,
            timeout_s=plan.timeout_s,
            worker=plan.worker,
            workers=plan.workers,
        )
        self._sidecar.begin(new)

    def progress(self, **further: Any) -> RunProgress:
        """What has arrived, and what is known besides."""
        return self._sidecar.progress(backlog=self.backlog, problem=self.problem, **further)

    def conclude(self) -> Arrived:
        """All that arrived in the run; nothing, and a `problem`, if the sidecar does not answer."""
        try:
            self.look()
            return self._sidecar.arrivals()
        except SILENCE as error:
            self.problem = self.problem or f"the sidecar stopped answering: {error}"
            return Arrived.nothing()
        finally:
            self._sidecar.close()

    def close(self) -> None:
        self._sidecar.close()

    def follow(self) -> None:
        """Show what arrives, as long as the sidecar answers (see `problem`)."""
        try:
            while not self._ended.wait(POLL_S):
                self.look()
        except SILENCE as error:
            self.problem = f"the sidecar stopped answering: {error}"

    def look(self) -> None:
        """Add what arrived since the last call to Locust's statistics."""
        accepted = self._sending.counts["accepted"]
        latencies: Counter[int | None] = Counter()
        for delivery, count in self._sidecar.fresh():
            if not delivery.repeated:
                latencies[delivery.latency_ms] += count
        self.backlog = accepted * self._plan.deliveries_each - self._sidecar.settled
        if latencies:
            others = latencies.pop(None, 0)
            known = {ms: count for ms, count in latencies.items() if ms is not None}
            entry = _entry(self._stats, known, others, time.time())
            self._stats.get(NAME, REQUEST_TYPE).extend(entry)
            self._stats.total.extend(entry)

    def announce_secret(self, token: str, secret: str) -> None:
        self._sidecar.add_secret(token, secret)

    def change_replies(self, period: ReplyPeriod) -> None:
        """Change the replies of receivers for a period."""
        reply = {"reply": msgspec.to_builtins(period.reply), "succeeds": period.succeeds}
        if self._ends_before(period.from_s):
            return
        for token in period.tokens:
            self._sidecar.put_reply(token, reply)
        if self._ends_before(period.to_s):
            return
        for token in period.tokens:
            self._sidecar.delete_reply(token)

    def _ends_before(self, second: float) -> bool:
        """Whether the run ends before so many seconds after its start, which are waited for."""
        wait_s = self._sending.started_at + second - time.time()
        return bool(self._ended.wait(max(0.0, wait_s)))


def _entry(stats: Any, latencies: Mapping[int, int], others: int, now: float) -> StatsEntry:
    """An entry for Locust's statistics; `others` are deliveries without a latency."""
    entry = StatsEntry(stats, NAME, REQUEST_TYPE)
    total = sum(latencies.values()) + others
    entry.num_requests, entry.num_none_requests = total, others
    entry.num_reqs_per_sec[int(now)] = total
    entry.total_response_time = sum(latency * count for latency, count in latencies.items())
    entry.min_response_time = min(latencies, default=None)
    entry.max_response_time = max(latencies, default=0)
    entry.last_request_timestamp = now
    for latency, count in latencies.items():
        entry.response_times[bucket_response_time(latency)] += count
    return entry
