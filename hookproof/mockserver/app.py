"""The composition root: creates the parts of the server, connects them, starts and stops them.

Start reading at `create_app`. `Assembly` creates the parts that a fault can replace; it can do so
again while the server runs, because what has to be remembered is in the database.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from aiohttp import web

from hookproof.control.runner import ControlRunner
from hookproof.control.same_origin import own_names
from hookproof.mockserver.api.docs import build_docs_pages
from hookproof.mockserver.api.errors import ApiError
from hookproof.mockserver.api.handlers import build_handlers
from hookproof.mockserver.api.handlers.endpoints import visits_first
from hookproof.mockserver.api.listener import ApiListener
from hookproof.mockserver.api.request_journal import RequestJournal
from hookproof.mockserver.api.request_pipeline import RequestLimits, RequestPipeline
from hookproof.mockserver.api.response import Responder
from hookproof.mockserver.api.routes import Routes
from hookproof.mockserver.api.service import ApiService, Dispatch
from hookproof.mockserver.collaborators import Collaborators
from hookproof.mockserver.control.fixtures import FixtureLoader
from hookproof.mockserver.control.listener import ControlListener
from hookproof.mockserver.delivery.engine import DeliveryEngine, EngineDispatch
from hookproof.mockserver.delivery.http_client.egress import Network
from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.delivery.scheduling.attempt_limits import ConcurrencyBounds
from hookproof.mockserver.delivery.store_port import OutcomeObserver
from hookproof.mockserver.faults.live import FaultOrder, LiveFaults
from hookproof.mockserver.faults.registry import Fault, with_faults
from hookproof.mockserver.fixture_file import ProjectFixtures
from hookproof.mockserver.notifications.channels import MailServer
from hookproof.mockserver.notifications.notifier import (
    NotificationLimits,
    Notifier,
    create_notifier,
)
from hookproof.mockserver.randomness import Randomness, steady_clock, strictly_increasing
from hookproof.mockserver.store.contacts import Contacts
from hookproof.mockserver.store.database import IN_MEMORY, Database
from hookproof.mockserver.store.deliveries import put_times_right
from hookproof.mockserver.store.identifiers import create_identifier_source, create_timestamp_writer
from hookproof.mockserver.store.sources import SourceTable
from hookproof.process.system_resources import descriptor_limit
from hookproof.spec.contract.service_contract import Contract, contract_for
from hookproof.spec.dialect.answers import require_decided
from hookproof.spec.dialect.groups.requests import most
from hookproof.spec.dialect.model import Dialect

REQUEST_S: Final = 5.0
_SHUTDOWN_S: Final = 5.0
_LAST_NOTIFICATIONS_S: Final = 1.0
_BACKLOG: Final = 4096
# Of the descriptors the API's connections may have half and attempts a quarter. The rest is left to
# idle connections to endpoints, which are closed when it is used up, to the store and to the log.
_API_SHARE: Final = 2
_DELIVERIES_SHARE: Final = 4


class App:
    """A complete server; call `start` and `stop` in the same event loop."""

    def __init__(
        self,
        *,
        listener: ApiListener,
        control: ControlListener,
        database: Database,
        dispatch: EngineDispatch,
        notifier: Notifier,
    ) -> None:
        self._listener = listener
        self._control = control
        self._database = database
        self._dispatch = dispatch
        self._notifier = notifier
        self._runners: list[web.BaseRunner] = []

    async def start(
        self,
        host: str,
        port: int,
        control_host: str,
        control_port: int,
        *,
        control_names: tuple[str, ...] = (),
    ) -> tuple[int, int]:
        """Listen; return the ports of the API and of the control listener. Raises OSError.

        `control_names` are additional host names by which browsers may reach the latter.
        """
        self._listener.watch()
        await self._dispatch.start()
        api = web.ServerRunner(self._listener, shutdown_timeout=_SHUTDOWN_S)
        names = own_names(control_host, control_names)
        control = ControlRunner(self._control.application(names), shutdown_timeout=_SHUTDOWN_S)
        return (
            await self._listen(api, host, port),
            await self._listen(control, control_host, control_port),
        )

    async def stop(self) -> None:
        """Stop listening, let what is in progress finish, and close the database."""
        for runner in self._runners:
            await runner.cleanup()
        await self._dispatch.stop(_SHUTDOWN_S)
        await self._notifier.stop(_LAST_NOTIFICATIONS_S)
        self._database.close()

    async def _listen(self, runner: web.BaseRunner, host: str, port: int) -> int:
        self._runners.append(runner)
        await runner.setup()
        await web.TCPSite(runner, host, port, backlog=_BACKLOG).start()
        return int(runner.addresses[0][1])


class Assembly:
    """Creates API pipelines and delivery engines over one database.

    Deliveries trust the CA in `ca_file` and go to loopback and to the networks in `egress`;
    `observer` is called for each delivery that is given up.
    """

    def __init__(
        self,
        dialect: Dialect,
        projects: Mapping[str, Sequence[str]],
        *,
        contract: Contract,
        database: Database,
        randomness: Randomness,
        clock: Callable[[], float],
        steady: Callable[[], float],
        limits: RequestLimits,
        ca_file: Path | None,
        egress: Sequence[Network],
        observer: OutcomeObserver | None = None,
    ) -> None:
        self._dialect = dialect
        self._projects = projects
        self._database = database
        self._randomness = randomness
        self._clock = clock
        self._steady = steady
        self._limits = limits
        self._ca_file = ca_file
        self._egress = egress
        self._observer = observer
        self._contract = contract
        self._pages = build_docs_pages(self._contract, dialect)
        self._now = strictly_increasing(clock)
        self._timestamp = create_timestamp_writer(dialect.representation.timestamp.value)
        form = dialect.representation.identifier.value
        self._identifier = create_identifier_source(
            form,
            randomness.identifiers,
            randomness.time_ns,
            dialect.representation.identifier_of,
        )
        self._cursor_seal = database.cursor_seal(randomness.secrets)
        self.journal = RequestJournal(clock)

    def engine(self, collaborators: Collaborators) -> DeliveryEngine:
        """Create a delivery engine; raises OSError or ssl.SSLError for an unusable `ca_file`."""
        return DeliveryEngine(
            collaborators.deliveries(self._database, self._dialect, self._clock),
            self._dialect,
            clock=self._clock,
            steady=self._steady,
            rng=self._randomness.jitter,
            ca_file=self._ca_file,
            egress=collaborators.delivery.egress(self._egress),
            log=logging.getLogger("hookproof.mockserver.delivery"),
            bounds=ConcurrencyBounds.within(descriptor_limit() // _DELIVERIES_SHARE),
            collaborators=collaborators.delivery,
            observer=self._observer,
            answered_requests=self.journal.counts.total,
        )

    def service(self, collaborators: Collaborators, dispatch: Dispatch) -> ApiService:
        database, dialect = self._database, self._dialect
        return ApiService(
            dialect=dialect,
            contract=self._contract,
            errors=collaborators.errors.of(dialect),
            serializer=collaborators.serializer(self._contract, dialect, self._clock),
            database=database,
            endpoints=collaborators.endpoints(database),
            portal_links=collaborators.portal_links(database),
            sources=SourceTable(database),
            events=collaborators.events(database),
            now=self._now,
            steady=self._steady,
            timestamp=self._timestamp,
            identifier=self._identifier,
            secrets=collaborators.secrets(
                rules=dialect.signatures.secret,
                entropy=self._randomness.secrets,
                key_size=dialect.signatures.key_size,
            ),
            pager=collaborators.pager,
            listing=collaborators.listing,
            cursor_seal=self._cursor_seal,
            dispatch=dispatch,
        )

    def pipeline(self, collaborators: Collaborators, service: ApiService) -> RequestPipeline:
        handlers = build_handlers(
            collaborators.endpoint_handlers(service),
            collaborators.portal_link_handlers(service),
            collaborators.source_handlers(service),
            collaborators.event_handlers(service),
        )
        return collaborators.pipeline(
            self._contract,
            handlers,
            api_keys=collaborators.api_keys.of(self._projects, self._dialect, service.errors),
            errors=service.errors,
            limits=self._limits,
            rules=self._dialect.requests,
            database=self._database,
            journal=self.journal,
            pages=self._pages,
            routes=collaborators.routes,
            is_answered=self._is_answered(service.dispatch),
        )

    def _is_answered(self, dispatch: Dispatch) -> Callable[[str], Awaitable[bool]] | None:
        """Whether a URL answers a visit, where new endpoints must (section 4.1)."""
        if not visits_first(self._dialect.delivery):
            return None
        methods = self._dialect.delivery.creation_visit.value.methods
        return lambda url: dispatch.is_answered(url, *methods)


def create_app(
    dialect: Dialect,
    projects: Mapping[str, Sequence[str]],
    *,
    fixtures: ProjectFixtures,
    contract: Contract | None = None,
    path: str = IN_MEMORY,
    seed: int | None = None,
    ca_file: Path | None = None,
    egress: Sequence[Network] = (),
    clock: Callable[[], float] = time.time,
    steady: Callable[[], float] | None = None,
    request_s: float = REQUEST_S,
    faults: Sequence[Fault] = (),
    orders: Sequence[FaultOrder] = (),
    mail_server: MailServer | None = None,
    notifications: NotificationLimits | None = None,
) -> App:
    """Create a server for these projects (API keys by project id), in a running event loop.

    Deliveries trust the CA in `ca_file` and go to loopback and to the networks in `egress`. A
    request's head, and then its body, must each arrive within `request_s` seconds. `faults` are
    built in from the start, `orders` alter single responses. Without `mail_server` no e-mail is
    sent. `contract` is that of the dialect, from a caller who has it already. `steady` says when
    deliveries are due: unix seconds that go on evenly when `clock` is set back or forth.

    Raises Undecided, UnusableDatabase, BadRecord, BadOrder, and OSError or ssl.SSLError for
    an unusable `ca_file`.
    """
    require_decided(dialect)
    database = Database(path, dialect=dialect.name)
    steady = steady or steady_clock(clock)
    put_times_right(database, steady())
    notifier = create_notifier(
        dialect,
        Contacts(database).find,
        clock=clock,
        trust=TlsContexts(ca_file),
        egress=egress,
        mail_server=mail_server,
        limits=notifications or NotificationLimits(),
    )
    limits = RequestLimits(body_bytes=most(dialect.requests.size_limit), arrival_s=request_s)
    assembly = Assembly(
        dialect,
        projects,
        contract=contract or contract_for(dialect),
        database=database,
        randomness=Randomness.from_seed(seed),
        clock=clock,
        steady=steady,
        limits=limits,
        ca_file=ca_file,
        egress=egress,
        observer=notifier,
    )
    collaborators = with_faults(Collaborators(), faults)
    dispatch = EngineDispatch(assembly.engine(collaborators))
    service = assembly.service(collaborators, dispatch)
    loader = FixtureLoader(service, list(projects))
    if not database.has_resources():
        loader.load(fixtures)
    live = _live_faults(assembly, collaborators, dispatch, service, orders)
    control = ControlListener(
        service,
        loader=loader,
        fixtures=fixtures,
        journal=assembly.journal,
        faults=live,
        notifier=notifier,
    )
    listener = ApiListener(
        live,
        service.errors,
        limits,
        most_connections=max(1, descriptor_limit() // _API_SHARE),
    )
    return App(
        listener=listener, control=control, database=database, dispatch=dispatch, notifier=notifier
    )


def _live_faults(
    assembly: Assembly,
    collaborators: Collaborators,
    dispatch: EngineDispatch,
    service: ApiService,
    orders: Sequence[FaultOrder],
) -> LiveFaults:
    async def rebuild(faults: Sequence[Fault]) -> Responder:
        """Replace the delivery engine and create a pipeline that both have these faults as well.

        Deliveries that are pending in the database continue with the new engine.
        """
        faulty = with_faults(collaborators, faults)
        await dispatch.replace(assembly.engine(faulty), _SHUTDOWN_S)
        return assembly.pipeline(faulty, assembly.service(faulty, dispatch))

    routes = Routes(service.contract.operations.values(), service.errors)

    def find_operation(method: str, path: str) -> str | None:
        try:
            return routes.find(method, path).operation.operation_id
        except ApiError:
            return None

    pipeline = assembly.pipeline(collaborators, service)
    live = LiveFaults(pipeline, service.dialect, find_operation, rebuild)
    for order in orders:
        live.arm_responder_fault(order)
    return live
