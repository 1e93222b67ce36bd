"""The control listener: lets tests set up and inspect the server, on an address of its own.

GET  /health                       {"status": "ok"}
GET  /metrics                      counters in the Prometheus text format
POST /reset                        204; deletes everything, restores the fixtures, disarms faults
POST /fixtures                     204; adds a JSON object in fixture file form to every project
POST /projects/{id}/portal-links   201 and the portal link, from a record of section 2.6
POST /projects/{id}/sources        201 and the source, from a record of section 2.7
POST /faults                       201; arms a fault, see `FaultOrder`
GET  /faults                       what is armed, and the names of all faults
DELETE /faults                     204; disarms all faults
GET  /journal                      requests, deliveries and notifications, see `journal`

A request with a body says that it is application/json; requests of other pages in the user's
browser are refused (`hookproof.control.same_origin`).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from http import HTTPStatus
from typing import Any, Final, TypeVar

import msgspec
from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from hookproof.control.same_origin import guard
from hookproof.mockserver.api.request_journal import RequestEntry, RequestJournal
from hookproof.mockserver.api.service import ApiService
from hookproof.mockserver.control.fixtures import BadRecord, FixtureLoader
from hookproof.mockserver.faults.answering import FAULTS
from hookproof.mockserver.faults.catalogue import catalogue
from hookproof.mockserver.faults.live import BadOrder, FaultOrder, LiveFaults
from hookproof.mockserver.fixture_file import ProjectFixtures
from hookproof.mockserver.notifications.journal import NOTIFICATION_FIELDS, NotificationJournal
from hookproof.mockserver.notifications.notifier import Notifier
from hookproof.mockserver.store.deliveries import DELIVERY_FIELDS, DeliveryJournal

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST


def render_metrics(
    journal: RequestJournal, deliveries: DeliveryJournal, notifications: NotificationJournal
) -> bytes:
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_Collector(journal, deliveries, notifications))
    return generate_latest(registry)


class _Collector(Collector):
    def __init__(
        self,
        journal: RequestJournal,
        deliveries: DeliveryJournal,
        notifications: NotificationJournal,
    ) -> None:
        self._journal = journal
        self._deliveries = deliveries
        self._notifications = notifications

    def collect(self) -> Iterator[Metric]:
        requests = CounterMetricFamily(
            "hookproof_requests", "Requests to the API.", labels=("operation", "status")
        )
        for (operation, status), count in self._journal.counts.items():
            requests.add_metric((operation or "none", str(status)), count)
        yield requests
        states = GaugeMetricFamily(
            "hookproof_deliveries", "Deliveries by state.", labels=("state",)
        )
        for state, count in self._deliveries.counts().items():
            states.add_metric((state,), count)
        yield states
        notifications = CounterMetricFamily(
            "hookproof_notifications",
            "Notifications by channel and how they ended.",
            labels=("channel", "state"),
        )
        for labels, count in self._notifications.counts.items():
            notifications.add_metric(labels, count)
        yield notifications
        yield CounterMetricFamily(
            "hookproof_notifications_held_back",
            "Notifications that were held back by their rate limit.",
            value=self._notifications.held_back,
        )


_MAX_WAIT_S: Final = 60.0
_POLL_S: Final = 0.01
_MAX_BODY_BYTES: Final = 16 * 1024 * 1024
_JSON: Final = "application/json"

_T = TypeVar("_T")

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class ControlListener:
    def __init__(
        self,
        service: ApiService,
        *,
        loader: FixtureLoader,
        fixtures: ProjectFixtures,
        journal: RequestJournal,
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

    def application(self, names: frozenset[str]) -> web.Application:
        """Build the application; problems with a request are reported in one line.

        `names` are the host names by which it may be reached.
        """
        application = web.Application(
            middlewares=[guard(names, _problem), _report_problems], client_max_size=_MAX_BODY_BYTES
        )
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
        return web.json_response({"status": "ok"})

    async def metrics(self, _request: web.Request) -> web.Response:
        # Imported here because it takes a tenth of the start-up time and is rarely needed.
        from hookproof.mockserver.control.listener import CONTENT_TYPE, render_metrics

        content = render_metrics(self._journal, self._deliveries, self._notifier.journal)
        return web.Response(body=content, headers={"Content-Type": CONTENT_TYPE})

    async def faults(self, _request: web.Request) -> web.Response:
        return web.json_response(
            {"armed": self._faults.describe_armed(), "faults": [*FAULTS, *catalogue()]}
        )

    async def arm(self, request: web.Request) -> web.Response:
        await self._faults.arm(await _read_json(request, FaultOrder))
        return web.Response(status=HTTPStatus.CREATED)

    async def disarm(self, _request: web.Request) -> web.Response:
        await self._faults.disarm()
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def reset(self, _request: web.Request) -> web.Response:
        self._service.database.clear()
        self._loader.load(self._fixtures)
        self._journal.clear()
        self._notifier.reset()
        await self._faults.disarm()
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def fixtures(self, request: web.Request) -> web.Response:
        content = await _read_json(request, dict[str, Any])
        unknown = set(content) - {"portal_links", "sources"}
        if unknown:
            raise BadRecord(
                f"fixtures have portal_links and sources, not {', '.join(sorted(unknown))}"
            )
        lists = {
            name: msgspec.convert(value, list[dict[str, Any]]) for name, value in content.items()
        }
        self._loader.load(ProjectFixtures(**lists))
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def portal_link(self, request: web.Request) -> web.Response:
        return await self._create("portal_links", request)

    async def source(self, request: web.Request) -> web.Response:
        return await self._create("sources", request)

    async def journal(self, request: web.Request) -> web.Response:
        """Return the requests, deliveries or notifications that match.

        `kind` is `requests` (by default), `deliveries` or `notifications`; an entry's fields are
        filters. With `count`, the response waits until so many match or `timeout` seconds have
        passed; `complete` reports whether they do.
        """
        filters = dict(request.query)
        kind = filters.pop("kind", "requests")
        count = _number(filters.pop("count", "0"))
        timeout_s = min(_number(filters.pop("timeout", "5")), _MAX_WAIT_S)
        find_by_kind = {
            "requests": self._find_requests,
            "deliveries": self._find_deliveries,
            "notifications": self._find_notifications,
        }
        find = find_by_kind.get(kind)
        if find is None:
            raise BadRecord("kind must be requests, deliveries or notifications")
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        entries = find(filters)
        while len(entries) < count and loop.time() < deadline:
            # Polled: no journal announces its entries, and only tests wait here.
            await asyncio.sleep(_POLL_S)
            entries = find(filters)
        return web.json_response({kind: entries, "complete": len(entries) >= count})

    def _find_requests(self, filters: dict[str, str]) -> list[dict[str, Any]]:
        _require_known_names(filters, RequestEntry._fields)
        return self._journal.entries(filters)

    def _find_deliveries(self, filters: dict[str, str]) -> list[dict[str, Any]]:
        _require_known_names(filters, DELIVERY_FIELDS)
        return self._deliveries.entries(filters)

    def _find_notifications(self, filters: dict[str, str]) -> list[dict[str, Any]]:
        _require_known_names(filters, NOTIFICATION_FIELDS)
        return self._notifier.journal.entries(filters)

    async def _create(self, kind: str, request: web.Request) -> web.Response:
        project = request.match_info["project"]
        if project not in self._loader.projects:
            raise web.HTTPNotFound(text=f"there is no project {project}")
        resource = self._loader.create(kind, project, await _read_json(request, dict[str, Any]))
        if self._service.database.pending is not None:
            await self._service.database.pending
        return web.Response(
            status=HTTPStatus.CREATED, body=resource, content_type="application/json"
        )


@web.middleware
async def _report_problems(request: web.Request, handler: _Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as problem:
        return _problem(problem.status, problem.text or problem.reason)
    except (BadRecord, BadOrder, msgspec.MsgspecError, UnicodeError) as problem:
        return _problem(HTTPStatus.UNPROCESSABLE_ENTITY, str(problem))


def _problem(status: int, message: str) -> web.Response:
    return web.json_response({"problem": message}, status=status)


async def _read_json(request: web.Request, shape: type[_T]) -> _T:
    """Parse a JSON body.

    A form of another page can send any text, but cannot name this content type without asking for
    permission first (Fetch standard, CORS-safelisted request-header).
    """
    if request.content_type != _JSON:
        raise web.HTTPUnsupportedMediaType(
            text=f"the body is {request.content_type}; send it with Content-Type: {_JSON}"
        )
    return msgspec.json.decode(await request.read(), type=shape)


def _require_known_names(filters: Iterable[str], known: Sequence[str]) -> None:
    unknown = sorted(set(filters).difference(known))
    if unknown:
        raise BadRecord(f"entries have {', '.join(known)}, not {', '.join(unknown)}")


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise BadRecord(f"{text!r} is not a number") from None
    if not 0 <= number < float("inf"):
        raise BadRecord(f"{text!r} is not a number of at least 0")
    return number
