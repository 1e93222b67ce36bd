"""The arrival side of the ledger, as the sidecar keeps it: counts and samples in bounded memory.

For each broadcast and endpoint two bytes are kept, and for limited endpoints the time of each
arrival; bodies are judged and dropped. Which broadcasts were accepted is not known here: `balance`
joins both sides.
"""

from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec

from hookproof.load.broadcast_mark import BroadcastMark, read_mark
from hookproof.load.latency import Buckets, OverTime, histogram, note
from hookproof.load.sidecar.signatures import EndpointSignatures, SecretMask
from hookproof.receiver.clock import Instant
from hookproof.receiver.inbox.arrival import RawHeaders

MOST_SAMPLES: Final = 5
# How much of an altered delivery a sample quotes, and how much is searched for secrets.
MOST_QUOTED: Final = 120
MOST_READ: Final = 4096
# How many secrets of other endpoints are tried to explain an unverifiable delivery.
MOST_OTHER_SECRETS: Final = 64
TRACE_HEADER: Final = b"traceparent"
# How many traces are kept until the next call takes them.
MOST_TRACES: Final = 10_000
# What one byte holds.
MOST_COUNT: Final = 255
# How many broadcasts an endpoint has space for at first; more is made when they arrive.
SPACE: Final = 65_536


class FreshDelivery(NamedTuple):
    """A delivery as a load generator shows it, in words of its own table.

    `failure` is what is wrong with it, None for nothing; `latency_ms` is None if it is not known.
    A `repeated` one had arrived before, and has none.
    """

    limited: bool
    repeated: bool
    failure: str | None
    latency_ms: int | None


class DeliveryTrace(NamedTuple):
    """A delivery that carries on a trace (W3C Trace Context): its header, and its times in Unix
    seconds and seconds; `failure` is as in `FreshDelivery`.
    """

    traceparent: str
    arrived_at: float
    latency_s: float | None
    failure: str | None


@dataclass(slots=True, kw_only=True)
class Endpoint:
    """One endpoint of a run.

    `successes` and `failures` count, by broadcast, the arrivals that were answered so; `latest` is
    the latest broadcast from each worker. `times` are monotonic, in seconds, and kept for an
    endpoint with a rate limit only.
    """

    token: str
    signatures: EndpointSignatures
    limited: bool
    successes: bytearray = field(default_factory=bytearray)
    failures: bytearray = field(default_factory=bytearray)
    arrived: int = 0
    latest: list[int] = field(default_factory=list)
    times: "array[float]" = field(default_factory=lambda: array("d"))

    def begin(self, broadcasts: int, workers: int) -> None:
        """Reset the counts for a run with this many broadcasts."""
        space = min(broadcasts, SPACE)
        self.successes, self.failures = bytearray(space), bytearray(space)
        self.arrived, self.latest, self.times = 0, [-1] * workers, array("d")

    def make_space_for(self, number: int) -> None:
        """Have space for the broadcast with this number."""
        missing = number + 1 - len(self.successes)
        if missing > 0:
            self.successes.extend(bytes(missing + SPACE))
            self.failures.extend(bytes(missing + SPACE))


class NewRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that begins; `started_at` is in Unix seconds, `broadcasts` the most that it may send.

    This sidecar is that of worker number `worker` of `workers`, which use the numbers of the run in
    turn. `timeout_s` is how long the target waits for the answer to a delivery, 0 if unknown. Of
    more than `rate_limit` deliveries to a limited endpoint within `rate_limit_s`, the further ones
    are over the limit; 0 if that is not asked for. If it is `traced`, the traces that deliveries
    carry on are kept until they are taken.
    """

    run: str
    broadcasts: int
    started_at: float
    stretch_s: float
    late_after_s: float
    timeout_s: float = 0.0
    worker: int = 0
    workers: int = 1
    rate_limit: int = 0
    rate_limit_s: float = 0.0
    traced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnverifiableDelivery:
    """A delivery whose signature no known secret explains, kept for its diagnosis."""

    endpoint: Endpoint
    what: str
    headers: RawHeaders
    body: bytes
    arrived_at: float


NO_RUN: Final = NewRun(run="", broadcasts=0, started_at=0.0, stretch_s=1.0, late_after_s=0.0)


class Arrivals:
    """What arrived in one run at all endpoints of a sidecar.

    `attempts` is how often the target tries a delivery, 0 if unknown; `own_lateness_since` returns
    how late this process was at most since a monotonic time. Latency is measured for the
    broadcasts of the sidecar's own worker only: others may have been sent by another machine's
    clock.
    """

    def __init__(self, *, attempts: int) -> None:
        self.attempts = attempts
        self.own_lateness_since: Callable[[float], float] = lambda _: 0.0
        self.endpoints: dict[str, Endpoint] = {}
        self._earlier: set[str] = set()
        self._run = NO_RUN
        self.begin(NO_RUN)

    def begin(self, new: NewRun) -> None:
        """Begin a run; arrivals of earlier runs are ignored from now on."""
        self._earlier.add(self._run.run)
        self._run = new
        self.settled = 0
        self.progressed = 0
        self.delivered = 0
        self.counts: Counter[str] = Counter()
        self.samples: dict[str, list[str]] = {}
        self._altered: list[tuple[str, bytes]] = []
        self._unverifiable: list[UnverifiableDelivery] = []
        self.latencies: Any = histogram()
        self.buckets = Buckets()
        self.over_time = OverTime(length_s=new.stretch_s)
        self.last_s: float | None = None
        self._fresh: Counter[FreshDelivery] = Counter()
        self._traces: list[DeliveryTrace] = []
        self._began: float | None = None
        for endpoint in self.endpoints.values():
            endpoint.begin(new.broadcasts, new.workers)

    @property
    def timeout_s(self) -> float:
        """How long the target waits for the answer to a delivery, 0 if unknown."""
        return self._run.timeout_s

    def since_began(self, monotonic: float) -> float:
        """Seconds from the run's start to a monotonic time of this run's arrivals."""
        return monotonic - (self._began or 0.0)

    def take_fresh(self) -> dict[FreshDelivery, int]:
        """The number of deliveries of each kind that arrived since the last call."""
        fresh, self._fresh = self._fresh, Counter()
        return dict(fresh)

    def take_traces(self) -> list[DeliveryTrace]:
        """The traces that deliveries since the last call carry on."""
        traces, self._traces = self._traces, []
        return traces

    def diagnosed_samples(self) -> dict[str, list[str]]:
        """The samples, without secrets of endpoints; those of unverifiable deliveries say what was
        signed instead, those of altered ones how they begin.

        Takes up to some 50 ms for each of the former, and looks for every secret in each encoding,
        so it is for the end of a run.
        """
        samples = dict(self.samples)
        if not (self._unverifiable or self._altered):
            return samples
        without_secrets = SecretMask(endpoint.signatures for endpoint in self.endpoints.values())
        samples["unverifiable"] = [
            without_secrets.text(self._diagnosed(one)) for one in self._unverifiable
        ]
        samples["altered"] = [
            f"{what}: {without_secrets.text(body.decode(errors='replace'))[:MOST_QUOTED]}"
            for what, body in self._altered
        ]
        return {kind: shown for kind, shown in samples.items() if shown}

    def _diagnosed(self, one: UnverifiableDelivery) -> str:
        others = (other for other in self.endpoints.values() if other is not one.endpoint)
        secrets = {
            f"the secret of the endpoint {other.token}": other.signatures.newest_secret
            for other in islice(others, MOST_OTHER_SECRETS)
        }
        cause = one.endpoint.signatures.cause(one.headers, one.body, one.arrived_at, secrets)
        return f"{one.endpoint.token}: {one.what}; {cause}"

    def arrived(
        self, token: str, headers: RawHeaders, body: bytes, at: Instant, *, succeeded: bool
    ) -> None:
        """Record a delivery, and whether it is answered with success."""
        endpoint = self.endpoints.get(token)
        if endpoint is None:
            return
        mark = read_mark(body)
        if mark is None:
            self._count_wrong("unexpected", token, "no mark of this run")
        elif mark.run == self._run.run and mark.number < self._run.broadcasts:
            endpoint.make_space_for(mark.number)
            wrong = [*self._record(endpoint, at), *self._judge(endpoint, mark, headers, body, at)]
            if self._run.traced:
                self._note_trace(mark, headers, at, wrong)
            if succeeded:
                self._succeeded(endpoint, mark, at, wrong)
            else:
                self._failed(endpoint, mark)
        elif mark.run == self._run.run or mark.run not in self._earlier:
            self._count_wrong("unexpected", token, f"{mark.run}.{mark.number}")

    def _record(self, endpoint: Endpoint, at: Instant) -> list[str]:
        """Count an arrival, and return what is wrong with its time."""
        endpoint.arrived += 1
        over_limit = endpoint.limited and self._is_over_limit(endpoint, at)
        if endpoint.limited:
            endpoint.times.append(at.monotonic)
        since_start_s = at.wall - self._run.started_at
        if self._began is None:
            self._began = at.monotonic - since_start_s
        self.last_s = since_start_s
        self.counts["arrived"] += 1
        self.counts["over_limit"] += over_limit
        return ["over the limit"] if over_limit else []

    def _is_over_limit(self, endpoint: Endpoint, at: Instant) -> bool:
        """Whether the limit is used up by those before, even if this process noticed them late."""
        limit, times = self._run.rate_limit, endpoint.times
        if not 0 < limit <= len(times):
            return False
        passed_s = at.monotonic - times[-limit]
        if passed_s >= self._run.rate_limit_s:
            return False
        return passed_s + self.own_lateness_since(times[-limit]) < self._run.rate_limit_s

    def _judge(
        self, endpoint: Endpoint, mark: BroadcastMark, headers: RawHeaders, body: bytes, at: Instant
    ) -> list[str]:
        """Count what is wrong with the content of a delivery, and return it."""
        wrong = []
        if mark.altered:
            wrong.append("altered")
            self._count_wrong("altered", endpoint.token, str(mark.number))
            if len(self._altered) < MOST_SAMPLES:
                self._altered.append((f"{endpoint.token}: {mark.number}", body[:MOST_READ]))
        why = endpoint.signatures.problem(headers, body, at.wall)
        if why is not None:
            wrong.append("unverifiable")
            what = f"{mark.number}: {why}"
            self._count_wrong("unverifiable", endpoint.token, what)
            if len(self._unverifiable) < MOST_SAMPLES:
                self._unverifiable.append(
                    UnverifiableDelivery(
                        endpoint=endpoint,
                        what=what,
                        headers=headers,
                        body=body,
                        arrived_at=at.wall,
                    )
                )
        return wrong

    def _succeeded(
        self, endpoint: Endpoint, mark: BroadcastMark, at: Instant, wrong: list[str]
    ) -> None:
        before = endpoint.successes[mark.number]
        endpoint.successes[mark.number] = min(before + 1, MOST_COUNT)
        if before:
            late = self._answered_late(mark, at)
            kind = "duplicated_by_receiver" if late else "duplicated"
            self._count_wrong(kind, endpoint.token, str(mark.number))
            self._show(endpoint, wrong if late else ["duplicated", *wrong], repeated=True)
            return
        self.progressed += 1
        self.delivered += 1
        # A delivery whose attempts were used up is settled already.
        if not self.attempts or endpoint.failures[mark.number] < self.attempts:
            self.settled += 1
        worker = mark.number % self._run.workers
        if mark.number < endpoint.latest[worker]:
            self.counts["out_of_order"] += 1
        endpoint.latest[worker] = max(endpoint.latest[worker], mark.number)
        intended_at = mark.intended_at if worker == self._run.worker else None
        latency = None if intended_at is None else max(0.0, at.wall - intended_at)
        self.over_time.note(at.wall - self._run.started_at, latency)
        self._show(endpoint, wrong, latency)
        if latency is None:
            return
        note(self.latencies, latency)
        self.buckets.note(latency)
        if latency > self._run.late_after_s:
            self._count_wrong("late", endpoint.token, f"{mark.number}: after {latency:.3f} s")

    def _show(
        self,
        endpoint: Endpoint,
        wrong: list[str],
        latency_s: float | None = None,
        *,
        repeated: bool = False,
    ) -> None:
        delivery = FreshDelivery(
            limited=endpoint.limited,
            repeated=repeated,
            failure=", ".join(wrong) or None,
            latency_ms=None if latency_s is None else int(latency_s * 1000),
        )
        self._fresh[delivery] += 1

    def _note_trace(
        self, mark: BroadcastMark, headers: RawHeaders, at: Instant, wrong: list[str]
    ) -> None:
        latency_s = None if mark.intended_at is None else max(0.0, at.wall - mark.intended_at)
        for name, value in headers:
            if name.lower() == TRACE_HEADER and len(self._traces) < MOST_TRACES:
                text = value.decode("latin-1")
                self._traces.append(
                    DeliveryTrace(text, at.wall, latency_s, ", ".join(wrong) or None)
                )

    def _answered_late(self, mark: BroadcastMark, at: Instant) -> bool:
        """Whether this process was so late since a broadcast that the target may have stopped
        waiting for the answer to its delivery: a handshake and a request, each noticed late.
        """
        intended_at = mark.intended_at
        if intended_at is None or mark.number % self._run.workers != self._run.worker:
            intended_at = self._run.started_at
        since = at.monotonic - (at.wall - intended_at)
        return 0 < self._run.timeout_s <= 2 * self.own_lateness_since(since)

    def _failed(self, endpoint: Endpoint, mark: BroadcastMark) -> None:
        failures = min(endpoint.failures[mark.number] + 1, MOST_COUNT)
        endpoint.failures[mark.number] = failures
        if not endpoint.successes[mark.number] and not 0 < self.attempts < failures:
            self.progressed += 1
        if failures == self.attempts and not endpoint.successes[mark.number]:
            self.settled += 1

    def _count_wrong(self, kind: str, token: str, what: str) -> None:
        self.counts[kind] += 1
        samples = self.samples.setdefault(kind, [])
        if len(samples) < MOST_SAMPLES:
            samples.append(f"{token}: {what}")
