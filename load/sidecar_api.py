"""The sidecar's control API: which endpoints a run has, what they answer, and what has arrived."""

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import msgspec
from aiohttp import web

from load.arrivals import Arrivals, Endpoint
from load.signatures import Signatures
from receiver.json_exchange import body_of, json_answer, told_in_json
from receiver.script import DEFAULT_REPLY, Reply
from spec.dialect import Dialect


class NewRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that begins: its name, its most broadcasts, its start in Unix seconds, the stretch of its plots."""

    run: str
    broadcasts: int
    started_at: float
    stretch_s: float


class NewEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint that was created at the target."""

    secrets: tuple[str, ...]
    advanced: bool
    limited: bool


class NewSecret(msgspec.Struct, frozen=True, kw_only=True):
    """A secret that an endpoint is about to get."""

    secret: str


class NewReply(msgspec.Struct, frozen=True, kw_only=True):
    """What an endpoint answers from now on, and whether the target takes that for success."""

    reply: Reply
    succeeds: bool


class ArrivedAt(msgspec.Struct, frozen=True, kw_only=True):
    """One endpoint's arrivals, as in `Endpoint`; times are monotonic seconds."""

    successes: bytes
    failures: bytes
    arrived: int
    times: tuple[float, ...]


class Arrived(msgspec.Struct, frozen=True, kw_only=True):
    """All that arrived in a run; `latencies` is an encoded HdrHistogram, `last_at` Unix seconds."""

    endpoints: dict[str, ArrivedAt]
    counts: dict[str, int]
    samples: dict[str, list[str]]
    latencies: str
    over_time: list[dict[str, Any]]
    last_at: float | None


@dataclass(slots=True)
class Answering:
    """What each endpoint's deliveries are answered with, where it is not the usual success."""

    by_token: dict[str, tuple[Reply, bool]] = field(default_factory=dict)

    def of(self, token: str) -> tuple[Reply, bool]:
        """The reply, and whether it is a success."""
        return self.by_token.get(token, (DEFAULT_REPLY, True))


@dataclass(frozen=True, slots=True, kw_only=True)
class SidecarApi:
    """What the control API works on."""

    arrivals: Arrivals
    answering: Answering
    dialect: Dialect

    def application(self) -> web.Application:
        """The API's aiohttp application."""
        app = web.Application(middlewares=[told_in_json])
        app.add_routes(
            [
                web.post("/runs", self.begin),
                web.put("/endpoints/{token}", self.put_endpoint),
                web.post("/endpoints/{token}/secrets", self.learn_secret),
                web.put("/endpoints/{token}/reply", self.put_reply),
                web.delete("/endpoints/{token}/reply", self.delete_reply),
                web.post("/fresh", self.fresh),
                web.get("/arrivals", self.arrived),
            ]
        )
        return app

    async def begin(self, request: web.Request) -> web.Response:
        """Begin a run with all endpoints that there are."""
        new = await body_of(request, NewRun)
        self.arrivals.begin(new.run, new.broadcasts, started_at=new.started_at, stretch_s=new.stretch_s)
        return _done()

    async def put_endpoint(self, request: web.Request) -> web.Response:
        """Enter an endpoint; it takes part from the next run on."""
        token, new = request.match_info["token"], await body_of(request, NewEndpoint)
        try:
            signatures = Signatures(self.dialect, advanced=new.advanced, secrets=new.secrets)
        except ValueError as wrong:
            raise web.HTTPConflict(text=f"the endpoint's secret {wrong}") from None
        self.arrivals.endpoints[token] = Endpoint(token=token, signatures=signatures, limited=new.limited)
        return _done()

    async def learn_secret(self, request: web.Request) -> web.Response:
        """Know a further secret of an endpoint."""
        new = await body_of(request, NewSecret)
        self.arrivals.endpoints[request.match_info["token"]].signatures.learn(new.secret)
        return _done()

    async def put_reply(self, request: web.Request) -> web.Response:
        """Answer an endpoint's deliveries so from now on."""
        new = await body_of(request, NewReply)
        self.answering.by_token[request.match_info["token"]] = (new.reply, new.succeeds)
        return _done()

    async def delete_reply(self, request: web.Request) -> web.Response:
        """Answer an endpoint's deliveries with success again."""
        self.answering.by_token.pop(request.match_info["token"], None)
        return _done()

    async def fresh(self, request: web.Request) -> web.Response:
        """The latencies since the last call, in whole milliseconds; how much arrived, and how much has been settled."""
        fresh = {str(latency): count for latency, count in self.arrivals.take_fresh().items()}
        return json_answer(
            {"latencies_ms": fresh, "arrived": self.arrivals.counts["arrived"], "settled": self.arrivals.settled}
        )

    async def arrived(self, request: web.Request) -> web.Response:
        """All that arrived."""
        found = self.arrivals
        told = Arrived(
            endpoints={
                token: ArrivedAt(
                    successes=bytes(one.successes),
                    failures=bytes(one.failures),
                    arrived=one.arrived,
                    times=tuple(one.times),
                )
                for token, one in found.endpoints.items()
            },
            counts=dict(found.counts),
            samples=found.samples,
            latencies=found.latencies.encode().decode(),
            over_time=[dict(one) for one in found.over_time.told()],
            last_at=found.last_at,
        )
        return web.Response(body=msgspec.json.encode(told), content_type="application/json")


def _done() -> web.Response:
    return web.Response(status=HTTPStatus.NO_CONTENT)
