"""The arrival side of the ledger, as the sidecar keeps it: counts in bounded memory, and samples of what is wrong.

One byte is kept for each broadcast and endpoint, and of limited endpoints each arrival's time; bodies are judged and
forgotten. Which broadcasts were accepted is not known here: `balance` brings both sides together.
"""

from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from load.latency import OverTime, histogram, note
from load.marker import Mark, read_mark
from load.signatures import Signatures
from receiver.arrival import RawHeaders
from receiver.clock import Instant

MOST_SAMPLES: Final = 5
MOST_COUNT: Final = 255


@dataclass(slots=True, kw_only=True)
class Endpoint:
    """One endpoint of a run. `times` are monotonic, in seconds, and kept only of an endpoint with a rate limit.

    `successes` and `failures` count, by broadcast, the arrivals that were answered so.
    """

    token: str
    signatures: Signatures
    limited: bool
    successes: bytearray = field(default_factory=bytearray)
    failures: bytearray = field(default_factory=bytearray)
    arrived: int = 0
    latest: int = -1
    times: "array[float]" = field(default_factory=lambda: array("d"))

    def begin(self, broadcasts: int) -> None:
        """Forget what came, and make room for a run's broadcasts."""
        self.successes, self.failures = bytearray(broadcasts), bytearray(broadcasts)
        self.arrived, self.latest, self.times = 0, -1, array("d")


class Arrivals:
    """What arrived in one run at all endpoints of a sidecar; `attempts` is how often a target tries, 0: not known."""

    def __init__(self, *, attempts: int, late_after_s: float) -> None:
        self._attempts = attempts
        self._late_after_s = late_after_s
        self.endpoints: dict[str, Endpoint] = {}
        self._earlier: set[str] = set()
        self._run = ""
        self.begin("", 0, started_at=0.0, stretch_s=1.0)

    def begin(self, run: str, broadcasts: int, *, started_at: float, stretch_s: float) -> None:
        """Begin a run of so many broadcasts at most; what still comes of an earlier one is passed over from now on."""
        self._earlier.add(self._run)
        self._run, self._broadcasts, self._started_at = run, broadcasts, started_at
        self.settled = 0
        self.counts: Counter[str] = Counter()
        self.samples: dict[str, list[str]] = {}
        self.latencies: Any = histogram()
        self.over_time = OverTime(length_s=stretch_s)
        self.last_at: float | None = None
        self._fresh: Counter[int] = Counter()
        for endpoint in self.endpoints.values():
            endpoint.begin(broadcasts)

    def take_fresh(self) -> dict[int, int]:
        """How many deliveries had which latency in whole milliseconds, of those since the last call."""
        fresh, self._fresh = self._fresh, Counter()
        return dict(fresh)

    def arrived(self, token: str, headers: RawHeaders, body: bytes, at: Instant, *, succeeded: bool) -> None:
        """Enter a delivery, and whether it is answered with success."""
        endpoint = self.endpoints.get(token)
        if endpoint is None:
            return
        mark = read_mark(body)
        if mark is None or (mark.run != self._run and mark.run not in self._earlier) or not self._known(mark):
            self._wrong("unexpected", token, "no mark of this run" if mark is None else f"{mark.run}.{mark.number}")
            return
        if mark.run != self._run:
            return
        endpoint.arrived += 1
        if endpoint.limited:
            endpoint.times.append(at.monotonic)
        self.last_at = at.wall
        self.counts["arrived"] += 1
        self._judge(endpoint, mark, headers, body, at)
        if succeeded:
            self._succeeded(endpoint, mark, at)
        else:
            self._failed(endpoint, mark)

    def _known(self, mark: Mark) -> bool:
        return mark.run != self._run or mark.number < self._broadcasts

    def _judge(self, endpoint: Endpoint, mark: Mark, headers: RawHeaders, body: bytes, at: Instant) -> None:
        if mark.altered:
            self._wrong("altered", endpoint.token, f"{mark.number}: {body[:120].decode(errors='replace')}")
        why = endpoint.signatures.problem(headers, body, at.wall)
        if why is not None:
            self._wrong("unverifiable", endpoint.token, f"{mark.number}: {why}")

    def _succeeded(self, endpoint: Endpoint, mark: Mark, at: Instant) -> None:
        before = endpoint.successes[mark.number]
        endpoint.successes[mark.number] = min(before + 1, MOST_COUNT)
        if before:
            self._wrong("duplicated", endpoint.token, str(mark.number))
            return
        self.settled += endpoint.failures[mark.number] < self._attempts or not self._attempts
        if mark.number < endpoint.latest:
            self.counts["out_of_order"] += 1
        endpoint.latest = max(endpoint.latest, mark.number)
        latency = None if mark.intended_at is None else max(0.0, at.wall - mark.intended_at)
        self.over_time.note(at.wall - self._started_at, latency)
        if latency is not None:
            note(self.latencies, latency)
            self._fresh[int(latency * 1000)] += 1
            if latency > self._late_after_s:
                self._wrong("late", endpoint.token, f"{mark.number}: after {latency:.3f} s")

    def _failed(self, endpoint: Endpoint, mark: Mark) -> None:
        failed = endpoint.failures[mark.number] = min(endpoint.failures[mark.number] + 1, MOST_COUNT)
        if failed == self._attempts and not endpoint.successes[mark.number]:
            self.settled += 1

    def _wrong(self, kind: str, token: str, what: str) -> None:
        self.counts[kind] += 1
        samples = self.samples.setdefault(kind, [])
        if len(samples) < MOST_SAMPLES:
            samples.append(f"{token}: {what}")
