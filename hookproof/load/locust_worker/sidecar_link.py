"""The generator's connection to its sidecar.

It shows arrivals in Locust's statistics, rolls secrets and changes the receivers' replies.
Deliveries are an entry of their own request type in Locust's tables; they are added in sums twice a
second, so that this costs the generator next to nothing.
"""

import time
from collections.abc import Mapping
from typing import Any, Final

import gevent
import msgspec
import requests
from locust.stats import RequestStats, StatsEntry, bucket_response_time
from urllib3 import disable_warnings
from urllib3.exceptions import InsecureRequestWarning

from hookproof.load.ledger.sending import Sending
from hookproof.load.plan import LoadPlan, ReplyPeriod, SecretRolls, is_success, no_answer_reason
from hookproof.load.sidecar.api import Arrived
from hookproof.load.sidecar.arrivals import NewRun
from hookproof.load.target.settings import new_secret
from hookproof.target.connection import ApiConnection
from hookproof.target.rate_answer import ApiPause, requested_pause_s

REQUEST_TYPE: Final = "DELIVERY"
NAME: Final = "broadcast to arrival"
POLL_S: Final = 0.5
CALL_WITHIN_S: Final = 30.0
ARRIVALS_WITHIN_S: Final = 60.0
# What a call of a sidecar that has stopped answering raises.
SILENCE: Final = (requests.RequestException, ValueError, KeyError)


class SidecarLink:
    """The connection; each method that loops runs in a greenlet of its own."""

    def __init__(
        self,
        control_url: str,
        plan: LoadPlan,
        key: str,
        connection: ApiConnection,
        *,
        stats: RequestStats,
        pause: ApiPause,
    ) -> None:
        self._control_url = control_url
        self._plan = plan
        self._headers = plan.headers_with(key, connection)
        self._stats = stats
        self._pause = pause
        self._session = requests.Session()
        self._at_target = _options_at_target(connection)
        self.arrived = 0
        self.progressed = 0
        self.settled = 0
        self.backlog = 0
        self.problem: str | None = None

    def register(self) -> None:
        """Send the sidecar the endpoints of the run; raises requests' exceptions."""
        self._call(
            "POST", "/endpoints", data=msgspec.json.encode({"endpoints": self._plan.endpoints})
        )

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
        self._call("POST", "/runs", data=msgspec.json.encode(new))

    def conclude(self) -> Arrived:
        """All that arrived in the run; nothing, and a `problem`, if the sidecar does not answer."""
        try:
            self.look()
            answer = self._session.get(f"{self._control_url}/arrivals", timeout=ARRIVALS_WITHIN_S)
            answer.raise_for_status()
            return msgspec.json.decode(answer.content, type=Arrived)
        except SILENCE as error:
            self.problem = self.problem or f"the sidecar stopped answering: {error}"
            return Arrived.nothing()
        finally:
            self._session.close()

    def follow(self) -> None:
        """Show what arrives until killed, or until the sidecar does not answer (see `problem`)."""
        try:
            while True:
                gevent.sleep(POLL_S)  # paces the calls
                self.look()
        except SILENCE as error:
            self.problem = f"the sidecar stopped answering: {error}"

    def look(self) -> None:
        """Add what arrived since the last call to Locust's statistics."""
        accepted = self._sending.counts["accepted"]
        fresh = self._call("POST", "/fresh")
        self.arrived, self.settled = fresh["arrived"], fresh["settled"]
        self.progressed = fresh["progressed"]
        self.backlog = accepted * self._plan.deliveries_each - self.settled
        latencies = {int(latency): count for latency, count in fresh["latencies_ms"].items()}
        if latencies or fresh["without_latency"]:
            entry = _entry(self._stats, latencies, fresh["without_latency"], time.time())
            self._stats.get(NAME, REQUEST_TYPE).extend(entry)
            self._stats.total.extend(entry)

    def change_replies(self, period: ReplyPeriod) -> None:
        """Change the replies of receivers for a period."""
        self._sleep_until(period.from_s)
        reply = {"reply": msgspec.to_builtins(period.reply), "succeeds": period.succeeds}
        for token in period.tokens:
            self._call("PUT", f"/endpoints/{token}/reply", json=reply)
        self._sleep_until(period.to_s)
        for token in period.tokens:
            self._call("DELETE", f"/endpoints/{token}/reply")

    def roll(self, rolls: SecretRolls, until_s: float) -> None:
        """Roll secrets until so many seconds of the run have passed (section 4.3)."""
        due_s = rolls.every_s
        while due_s < until_s:
            self._sleep_until(due_s)
            for endpoint in rolls.endpoints:
                secret = new_secret(rolls.secret_prefix, rolls.secret_form)
                # The sidecar knows it first: the target may sign with it before it has answered.
                self._call("POST", f"/endpoints/{endpoint.token}/secrets", json={"secret": secret})
                self._roll_secret(rolls, endpoint.path, secret)
            due_s += rolls.every_s

    def _roll_secret(self, rolls: SecretRolls, path: str, secret: str) -> None:
        if self._pause.holds(time.monotonic()):
            return  # a later roll follows; the secret is never used
        body = {"secret": secret, "expiration": rolls.expiration}
        self._sending.counts["rolls"] += 1
        try:
            answer = self._session.request(
                rolls.method,
                self._plan.base_url + path,
                json=body,
                headers=self._headers,
                timeout=CALL_WITHIN_S,
                allow_redirects=False,
                **self._at_target,
            )
        except requests.RequestException as error:
            reason = no_answer_reason(error, CALL_WITHIN_S)
            self._sending.failed("a roll", f"the server does not answer: {reason}")
            return
        status = answer.status_code
        if status in rolls.statuses if rolls.statuses else is_success(status):
            return
        pause_s = requested_pause_s(status, answer.headers)
        if pause_s is None:
            self._sending.failed("a roll", f"answered {status}")
        else:
            self._pause.extend(pause_s, time.monotonic())
            self._sending.limited("a roll", f"answered {status}")

    def _sleep_until(self, second: float) -> None:
        """Pace the run: sleep until so many seconds after its start."""
        gevent.sleep(max(0.0, self._sending.started_at + second - time.time()))

    def _call(self, method: str, path: str, **content: Any) -> Mapping[str, Any]:
        answer = self._session.request(
            method, self._control_url + path, timeout=CALL_WITHIN_S, **content
        )
        answer.raise_for_status()
        content_of_answer: Mapping[str, Any] = answer.json() if answer.content else {}
        return content_of_answer


def _options_at_target(connection: ApiConnection) -> Mapping[str, Any]:
    """The options of a request to the target that say how it is reached."""
    if not connection.verify:
        disable_warnings(InsecureRequestWarning)  # the report says so, once
    pair, proxy = (connection.client_cert, connection.client_key), connection.proxy
    return {
        "verify": connection.verify and (connection.ca is None or str(connection.ca)),
        "cert": None if None in pair else tuple(map(str, pair)),
        "proxies": {} if proxy is None else {"http": proxy, "https": proxy},
    }


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
