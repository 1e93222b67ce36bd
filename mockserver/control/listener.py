"""The control listener: what tests arrange and look at, on an address of its own, never on the
API's (design, control).

| request | answer | |---|---| | GET /health | `{"status": "ok"}` | | GET /metrics | counters in the
Prometheus text format | | POST /reset | 204; everything is deleted, the fixtures of the start are
back, no fault is armed | | POST /fixtures | 204; a JSON object of the fixture file's form is added
to every project | | POST /projects/{id}/portal-links | 201 and the portal link, made from a record
of section 2.6 | | POST /projects/{id}/sources | 201 and the source, made from a record of section
2.7 | | POST /faults | 201; misbehave, see `FaultOrder`; GET lists what is armed and the names,
DELETE ends all of it | | GET /journal | requests, deliveries and notifications, see `journal` |
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from http import HTTPStatus
from typing import Any, Final

import msgspec
from aiohttp import web

from hookproof.mockserver.api.request_journal import Entry, Journal
from hookproof.mockserver.api.service import Service
from hookproof.mockserver.control.fixtures import BadRecord, FixtureLoader, Fixtures
from hookproof.mockserver.faults.answering import FAULTS
from hookproof.mockserver.faults.live import BadOrder, FaultOrder, LiveFaults
from hookproof.mockserver.faults.registry import catalogue
from hookproof.mockserver.notifications.journal import NOTIFICATION_FIELDS
from hookproof.mockserver.notifications.notifier import Notifier
from hookproof.mockserver.store.delivery_journal import DELIVERY_FIELDS, DeliveryJournal

_LONGEST_WAIT_S: Final = 60.0
_POLL_S: Final = 0.01
_LARGEST_BODY: Final = 16 * 1024 * 1024

_Routine = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Control:
    """The control listener's application."""

    def __init__(
        self,
        service: Service,
        *,
        loader: FixtureLoader,
        fixtures: Fixtures,
        journal: Journal,
        faults: LiveFaults,
        notifier: Notifier,
    ) -> None:
        self._service = service
        self._loader = loader
        self._fixtures = fixtures
        self._journal = journal
        self._faults = faults
        self._notifier = notifier
        self._deliveries = DeliveryJournal(service.database)

    def application(self) -> web.Application:
        """The routes above, with faults in a request told in one line."""
        application = web.Application(middlewares=[_explain], client_max_size=_LARGEST_BODY)
        application.router.add_get("/health", self.health)
        application.router.add_get("/metrics", self.metrics)
        application.router.add_post("/reset", self.reset)
        application.router.add_post("/fixtures", self.fixtures)
        application.router.add_post("/projects/{project}/portal-links", self.portal_link)
        application.router.add_post("/projects/{project}/sources", self.source)
        application.router.add_get("/journal", self.journal)
        application.router.add_get("/faults", self.faults)
        application.router.add_post("/faults", self.arm)
        application.router.add_delete("/faults", self.disarm)
        return application

    async def health(self, _request: web.Request) -> web.Response:
        """Alive."""
        return web.json_response({"status": "ok"})

    async def metrics(self, _request: web.Request) -> web.Response:
        """Counters of requests, deliveries and notifications."""
        # Imported here: it costs a tenth of the time to start up, and few ask.
        from hookproof.mockserver.control.metrics import CONTENT_TYPE, exposition

        content = exposition(self._journal, self._deliveries, self._notifier.journal)
        return web.Response(body=content, headers={"Content-Type": CONTENT_TYPE})

    async def faults(self, _request: web.Request) -> web.Response:
        """What is armed, and what can be."""
        return web.json_response({"armed": self._faults.shown(), "faults": [*FAULTS, *catalogue()]})

    async def arm(self, request: web.Request) -> web.Response:
        """Misbehave from now on."""
        await self._faults.arm(msgspec.json.decode(await request.read(), type=FaultOrder))
        return web.Response(status=HTTPStatus.CREATED)

    async def disarm(self, _request: web.Request) -> web.Response:
        """Behave again."""
        await self._faults.disarm()
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def reset(self, _request: web.Request) -> web.Response:
        """Begin anew."""
        self._service.database.clear()
        self._loader.load(self._fixtures)
        self._journal.clear()
        self._notifier.reset()
        await self._faults.disarm()
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def fixtures(self, request: web.Request) -> web.Response:
        """Add portal links and sources to every project."""
        content = await _object(request)
        unknown = set(content) - {"portal_links", "sources"}
        if unknown:
            raise BadRecord(
                f"fixtures have portal_links and sources, not {', '.join(sorted(unknown))}"
            )
        lists = {
            name: msgspec.convert(value, list[dict[str, Any]]) for name, value in content.items()
        }
        self._loader.load(Fixtures(**lists))
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def portal_link(self, request: web.Request) -> web.Response:
        """Make a portal link."""
        return await self._make("portal_links", request)

    async def source(self, request: web.Request) -> web.Response:
        """Make a source."""
        return await self._make("sources", request)

    async def journal(self, request: web.Request) -> web.Response:
        """The requests, deliveries or notifications that match.

        `kind` is `requests` (the default), `deliveries` or `notifications`. The names of an entry's
        fields are filters. With `count`, the answer waits until so many match, or `timeout` seconds
        have passed; `complete` tells which.
        """
        wanted = dict(request.query)
        kind = wanted.pop("kind", "requests")
        count = _number(wanted.pop("count", "0"))
        timeout_s = min(_number(wanted.pop("timeout", "5")), _LONGEST_WAIT_S)
        looks = {
            "requests": self._requests,
            "deliveries": self._attempted,
            "notifications": self._notified,
        }
        look = looks.get(kind)
        if look is None:
            raise BadRecord("kind is requests, deliveries or notifications")
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        found = look(wanted)
        while len(found) < count and loop.time() < deadline:
            await asyncio.sleep(_POLL_S)
            found = look(wanted)
        return web.json_response({kind: found, "complete": len(found) >= count})

    def _requests(self, wanted: dict[str, str]) -> list[dict[str, Any]]:
        _refuse_other_names(wanted, Entry._fields)
        return self._journal.entries(wanted)

    def _attempted(self, wanted: dict[str, str]) -> list[dict[str, Any]]:
        _refuse_other_names(wanted, DELIVERY_FIELDS)
        return self._deliveries.entries(wanted)

    def _notified(self, wanted: dict[str, str]) -> list[dict[str, Any]]:
        _refuse_other_names(wanted, NOTIFICATION_FIELDS)
        return self._notifier.journal.entries(wanted)

    async def _make(self, kind: str, request: web.Request) -> web.Response:
        project = request.match_info["project"]
        if project not in self._loader.projects:
            raise web.HTTPNotFound(text=f"there is no project {project}")
        made = self._loader.make(kind, project, await _object(request))
        if self._service.database.pending is not None:
            await self._service.database.pending
        return web.Response(status=HTTPStatus.CREATED, body=made, content_type="application/json")


@web.middleware
async def _explain(request: web.Request, handler: _Routine) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as problem:
        return _problem(problem.status, problem.text or problem.reason)
    except (BadRecord, BadOrder, msgspec.MsgspecError, UnicodeError) as problem:
        return _problem(HTTPStatus.UNPROCESSABLE_ENTITY, str(problem))


def _problem(status: int, message: str) -> web.Response:
    return web.json_response({"problem": message}, status=status)


async def _object(request: web.Request) -> dict[str, Any]:
    return msgspec.json.decode(await request.read(), type=dict[str, Any])


def _refuse_other_names(wanted: Iterable[str], known: Sequence[str]) -> None:
    unknown = sorted(set(wanted).difference(known))
    if unknown:
        raise BadRecord(f"entries have {', '.join(known)}, not {', '.join(unknown)}")


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise BadRecord(f"{text!r} is not a number") from None
    if not 0 <= number < float("inf"):
        raise BadRecord(f"{text!r} is not a number from 0 up")
    return number
