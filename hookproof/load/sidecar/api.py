"""The control API of the sidecar: the endpoints of a run, their replies, and what has arrived."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import msgspec
from aiohttp import web

from hookproof.load.latency import Buckets, Stretch, histogram, note, packed
from hookproof.load.plan import ReceivingEndpoint, counts_as_delivered
from hookproof.load.sidecar.arrivals import Arrivals, Endpoint, NewRun
from hookproof.load.sidecar.signatures import EndpointSignatures
from hookproof.receiver.control.json_exchange import errors_as_json, json_response, read_body
from hookproof.receiver.replies.script import DEFAULT_REPLY, Reply
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect_mapping

WINDOW_S: Final = 1.0
_STAT: Final = Path("/proc/stat")
# The fields of its first line, proc_stat(5): idle and iowait, of eight that do not overlap.
_IDLE: Final = slice(3, 5)
_ALL: Final = slice(0, 8)


def machine_ticks() -> tuple[int, int]:
    """The idle time and the whole time of the machine's processors so far; zeros if unknown."""
    try:
        fields = [int(text) for text in _STAT.read_text("ascii").partition("\n")[0].split()[1:]]
    except (OSError, ValueError):
        return 0, 0
    return sum(fields[_IDLE]), sum(fields[_ALL])


class OwnLoad:
    """How busy the receiver of a run and its machine are while deliveries arrive.

    Where they were the limit, what was measured is theirs and not the target's. Adds up the windows
    of a run in which something arrived; `arrived` counts arrivals.
    """

    def __init__(
        self,
        arrived: Callable[[], int],
        *,
        clock: Callable[[], float] = time.monotonic,
        cpu: Callable[[], float] = time.process_time,
        machine: Callable[[], tuple[int, int]] = machine_ticks,
    ) -> None:
        self._arrived = arrived
        self._clock, self._cpu, self._machine = clock, cpu, machine
        self.begin()

    def begin(self) -> None:
        """Forget what was, since a run begins."""
        self.lateness: Any = histogram()
        self.lateness_buckets = Buckets()
        self._sums = [0.0] * 4
        self._read()

    def note_delay(self, delay_s: float) -> None:
        """Note by how much a timer of this process was late; called many times a second."""
        note(self.lateness, delay_s)
        self.lateness_buckets.note(delay_s)
        if self._clock() - self._last[0] >= WINDOW_S:
            self._close_window()

    def shares(self) -> tuple[float | None, float | None]:
        """The share of a core that this process used, and the share of the machine that was idle.

        None where nothing is known.
        """
        self._close_window()
        wall, used, idle, whole = self._sums
        return (used / wall if wall else None), (idle / whole if whole else None)

    def _close_window(self) -> None:
        before, count = self._last, self._count
        self._read()
        if self._count != count:
            changes = (now - then for now, then in zip(self._last, before, strict=True))
            self._sums = [total + change for total, change in zip(self._sums, changes, strict=True)]

    def _read(self) -> None:
        self._last = (self._clock(), self._cpu(), *self._machine())
        self._count = self._arrived()


# The largest request: there may be some ten thousand endpoints.
MOST_BYTES: Final = 64_000_000


class NewEndpoints(msgspec.Struct, frozen=True, kw_only=True):
    """Endpoints that were created at the target."""

    endpoints: tuple[ReceivingEndpoint, ...]


class NewSecret(msgspec.Struct, frozen=True, kw_only=True):
    """A secret that an endpoint is about to get."""

    secret: str


class NewReply(msgspec.Struct, frozen=True, kw_only=True):
    """What an endpoint answers from now on; `succeeds` if the target counts it as success, which
    the dialect says by default.
    """

    reply: Reply
    succeeds: bool | None = None


class ArrivedAt(msgspec.Struct, frozen=True, kw_only=True):
    """The arrivals at one endpoint, as in `Endpoint`; times are seconds since the run's start."""

    successes: bytes
    failures: bytes
    arrived: int
    times: tuple[float, ...]


class Arrived(msgspec.Struct, frozen=True, kw_only=True):
    """What arrived at a sidecar in a run; `last_s` is the last arrival, since the start.

    `cpu_share`, `machine_idle` and `lateness` (packed) are those of `OwnLoad`.
    """

    endpoints: dict[str, ArrivedAt]
    counts: dict[str, int]
    samples: dict[str, list[str]]
    latencies: str
    over_time: list[Stretch]
    last_s: float | None
    cpu_share: float | None = None
    machine_idle: float | None = None
    lateness: str | None = None

    @classmethod
    def nothing(cls) -> "Arrived":
        """The arrivals of a sidecar that does not answer any more."""
        return cls(
            endpoints={},
            counts={},
            samples={},
            latencies=packed(histogram()),
            over_time=[],
            last_s=None,
        )


@dataclass(slots=True)
class EndpointReplies:
    """The replies of the endpoints that do not answer as all others; `of_others` is what these
    answer, with success by default.
    """

    by_token: dict[str, tuple[Reply, bool]] = field(default_factory=dict)
    of_others: tuple[Reply, bool] = (DEFAULT_REPLY, True)

    def of(self, token: str) -> tuple[Reply, bool]:
        """The reply, and whether it is a success."""
        return self.by_token.get(token, self.of_others)


@dataclass(slots=True, kw_only=True)
class SidecarApi:
    arrivals: Arrivals
    replies: EndpointReplies
    dialect: Dialect
    own_load: OwnLoad

    def application(self) -> web.Application:
        app = web.Application(middlewares=[errors_as_json], client_max_size=MOST_BYTES)
        app.add_routes(
            [
                web.put("/dialect", self.set_dialect),
                web.post("/runs", self.begin),
                web.post("/endpoints", self.add_endpoints),
                web.post("/endpoints/{token}/secrets", self.add_secret),
                web.put("/endpoints/{token}/reply", self.put_reply),
                web.delete("/endpoints/{token}/reply", self.delete_reply),
                web.put("/reply", self.put_reply_of_others),
                web.delete("/reply", self.delete_reply_of_others),
                web.post("/fresh", self.fresh),
                web.get("/arrivals", self.arrived),
            ]
        )
        return app

    async def set_dialect(self, request: web.Request) -> web.Response:
        """Take this dialect for endpoints that are added from now on."""
        written = await read_body(request, dict[str, Any])
        self.dialect = load_dialect_mapping(written, "the master's dialect")
        self.arrivals.attempts = attempts_in(self.dialect)
        return _done()

    async def begin(self, request: web.Request) -> web.Response:
        """Begin a run with all known endpoints."""
        self.arrivals.begin(await read_body(request, NewRun))
        self.own_load.begin()
        return _done()

    async def add_endpoints(self, request: web.Request) -> web.Response:
        """Add endpoints, which take part from the next run on.

        A known endpoint keeps its secrets.
        """
        known = self.arrivals.endpoints
        for new in (await read_body(request, NewEndpoints)).endpoints:
            if new.token in known:
                continue
            try:
                signatures = EndpointSignatures(
                    self.dialect, advanced=new.advanced, secrets=new.secrets, url=new.url
                )
            except ValueError as problem:
                raise web.HTTPConflict(text=f"the endpoint's secret {problem}") from None
            known[new.token] = Endpoint(token=new.token, signatures=signatures, limited=new.limited)
        return _done()

    async def add_secret(self, request: web.Request) -> web.Response:
        new = await read_body(request, NewSecret)
        self.arrivals.endpoints[request.match_info["token"]].signatures.learn(new.secret)
        return _done()

    async def put_reply(self, request: web.Request) -> web.Response:
        token = request.match_info["token"]
        self.replies.by_token[token] = await self._reply(request)
        return _done()

    async def delete_reply(self, request: web.Request) -> web.Response:
        """Answer an endpoint's deliveries with success again."""
        self.replies.by_token.pop(request.match_info["token"], None)
        return _done()

    async def put_reply_of_others(self, request: web.Request) -> web.Response:
        """Change the answer of all endpoints that have none of their own, from now on."""
        self.replies.of_others = await self._reply(request)
        return _done()

    async def delete_reply_of_others(self, request: web.Request) -> web.Response:
        self.replies.of_others = (DEFAULT_REPLY, True)
        return _done()

    async def _reply(self, request: web.Request) -> tuple[Reply, bool]:
        new = await read_body(request, NewReply)
        patience_s = self.arrivals.timeout_s or math.inf
        succeeds = counts_as_delivered(new.reply, self.dialect, patience_s)
        return new.reply, succeeds if new.succeeds is None else new.succeeds

    async def fresh(self, request: web.Request) -> web.Response:
        """The deliveries since the last call with the number of each, and the counts so far."""
        return json_response(
            {
                "deliveries": [
                    [*kind, count] for kind, count in self.arrivals.take_fresh().items()
                ],
                "arrived": self.arrivals.counts["arrived"],
                "progressed": self.arrivals.progressed,
                "settled": self.arrivals.settled,
                "traces": self.arrivals.take_traces(),
            }
        )

    async def arrived(self, request: web.Request) -> web.Response:
        arrivals = self.arrivals
        cpu_share, machine_idle = self.own_load.shares()
        content = Arrived(
            endpoints={
                token: ArrivedAt(
                    successes=bytes(endpoint.successes),
                    failures=bytes(endpoint.failures),
                    arrived=endpoint.arrived,
                    times=tuple(arrivals.since_began(time) for time in endpoint.times),
                )
                for token, endpoint in arrivals.endpoints.items()
            },
            counts=dict(arrivals.counts),
            samples=arrivals.diagnosed_samples(),
            latencies=packed(arrivals.latencies),
            over_time=arrivals.over_time.packed(),
            last_s=arrivals.last_s,
            cpu_share=cpu_share,
            machine_idle=machine_idle,
            lateness=packed(self.own_load.lateness),
        )
        return web.Response(body=msgspec.json.encode(content), content_type="application/json")


def attempts_in(dialect: Dialect) -> int:
    """How often a target tries a delivery, 0 if that is not known."""
    return dialect.retry.attempts.value if dialect.retry.attempts.decided else 0


def _done() -> web.Response:
    return web.Response(status=HTTPStatus.NO_CONTENT)
