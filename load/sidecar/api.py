"""The sidecar's control API: which endpoints a run has, what they answer, and what has arrived."""

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import msgspec
from aiohttp import web

from hookproof.load.latency import Stretch, histogram, packed
from hookproof.load.plan import Receiving
from hookproof.load.sidecar.arrivals import Arrivals, Endpoint, NewRun
from hookproof.load.sidecar.signatures import Signatures
from hookproof.receiver.control.json_exchange import errors_as_json, json_response, read_body
from hookproof.receiver.replies.script import DEFAULT_REPLY, Reply
from hookproof.spec.dialect.model import Dialect

# Of a request: there may be some ten thousand endpoints.
MOST_BYTES: Final = 64_000_000


class NewEndpoints(msgspec.Struct, frozen=True, kw_only=True):
    """Endpoints that were created at the target."""

    endpoints: tuple[Receiving, ...]


class NewSecret(msgspec.Struct, frozen=True, kw_only=True):
    """A secret that an endpoint is about to get."""

    secret: str


class NewReply(msgspec.Struct, frozen=True, kw_only=True):
    """What an endpoint answers from now on, and whether the target takes that for success."""

    reply: Reply
    succeeds: bool


class ArrivedAt(msgspec.Struct, frozen=True, kw_only=True):
    """One endpoint's arrivals, as in `Endpoint`; times are seconds since the run's start."""

    successes: bytes
    failures: bytes
    arrived: int
    times: tuple[float, ...]


class Arrived(msgspec.Struct, frozen=True, kw_only=True):
    """All that arrived at a sidecar in a run; `latencies` are packed, `last_s` is seconds since the
    run's start.
    """

    endpoints: dict[str, ArrivedAt]
    counts: dict[str, int]
    samples: dict[str, list[str]]
    latencies: str
    over_time: list[Stretch]
    last_s: float | None

    @classmethod
    def nothing(cls) -> "Arrived":
        """What is known of a sidecar that is gone."""
        return cls(
            endpoints={},
            counts={},
            samples={},
            latencies=packed(histogram()),
            over_time=[],
            last_s=None,
        )


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
        app = web.Application(middlewares=[errors_as_json], client_max_size=MOST_BYTES)
        app.add_routes(
            [
                web.post("/runs", self.begin),
                web.post("/endpoints", self.take_endpoints),
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
        self.arrivals.begin(await read_body(request, NewRun))
        return _done()

    async def take_endpoints(self, request: web.Request) -> web.Response:
        """Enter endpoints; they take part from the next run on. One that is known keeps what it has
        learnt.
        """
        known = self.arrivals.endpoints
        for new in (await read_body(request, NewEndpoints)).endpoints:
            if new.token in known:
                continue
            try:
                signatures = Signatures(self.dialect, advanced=new.advanced, secrets=new.secrets)
            except ValueError as wrong:
                raise web.HTTPConflict(text=f"the endpoint's secret {wrong}") from None
            known[new.token] = Endpoint(token=new.token, signatures=signatures, limited=new.limited)
        return _done()

    async def learn_secret(self, request: web.Request) -> web.Response:
        """Know a further secret of an endpoint."""
        new = await read_body(request, NewSecret)
        self.arrivals.endpoints[request.match_info["token"]].signatures.learn(new.secret)
        return _done()

    async def put_reply(self, request: web.Request) -> web.Response:
        """Answer an endpoint's deliveries so from now on."""
        new = await read_body(request, NewReply)
        self.answering.by_token[request.match_info["token"]] = (new.reply, new.succeeds)
        return _done()

    async def delete_reply(self, request: web.Request) -> web.Response:
        """Answer an endpoint's deliveries with success again."""
        self.answering.by_token.pop(request.match_info["token"], None)
        return _done()

    async def fresh(self, request: web.Request) -> web.Response:
        """The latencies since the last call, in whole milliseconds; how much arrived, and how much
        has been settled.
        """
        latencies, others = self.arrivals.take_fresh()
        return json_response(
            {
                "latencies_ms": {str(latency): count for latency, count in latencies.items()},
                "without_latency": others,
                "arrived": self.arrivals.counts["arrived"],
                "settled": self.arrivals.settled,
            }
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
                    times=tuple(found.since_began(time) for time in one.times),
                )
                for token, one in found.endpoints.items()
            },
            counts=dict(found.counts),
            samples=found.samples,
            latencies=packed(found.latencies),
            over_time=found.over_time.packed(),
            last_s=found.last_s,
        )
        return web.Response(body=msgspec.json.encode(told), content_type="application/json")


def _done() -> web.Response:
    return web.Response(status=HTTPStatus.NO_CONTENT)
