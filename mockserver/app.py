"""The composition root: every part of the server is made and joined here, and started and stopped
in order.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from aiohttp import web

from hookproof.mockserver.api.listener import Listener
from hookproof.mockserver.api.request_pipeline import Limits
from hookproof.mockserver.api.response import Answering
from hookproof.mockserver.assembly import Assembly, Randomness
from hookproof.mockserver.collaborators import Collaborators
from hookproof.mockserver.control.fixtures import FixtureLoader, Fixtures
from hookproof.mockserver.control.listener import Control
from hookproof.mockserver.delivery.engine_dispatch import EngineDispatch
from hookproof.mockserver.delivery.http_client.egress import Network
from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.faults.live import LiveFaults, Order
from hookproof.mockserver.faults.registry import Fault, with_faults
from hookproof.mockserver.notifications.assembly import notifier_for
from hookproof.mockserver.notifications.bounds import Bounds
from hookproof.mockserver.notifications.mail import MailServer
from hookproof.mockserver.notifications.notifier import Notifier
from hookproof.mockserver.store.contacts import Contacts
from hookproof.mockserver.store.database import IN_MEMORY, Database
from hookproof.spec.dialect.answers import require_decided
from hookproof.spec.dialect.model import Dialect

REQUEST_S: Final = 5.0
_SHUTDOWN_S: Final = 5.0
_LAST_NOTIFICATIONS_S: Final = 1.0
_BACKLOG: Final = 4096


class App:
    """The server's parts, joined; `start` and `stop` belong in one event loop."""

    def __init__(
        self,
        *,
        listener: Listener,
        control: Control,
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
        self, host: str, port: int, control_host: str, control_port: int
    ) -> tuple[int, int]:
        """Listen; returns the ports of the API and of the control listener. Raises OSError."""
        self._listener.watch()
        await self._dispatch.start()
        ports = []
        places = (
            (web.ServerRunner(self._listener, shutdown_timeout=_SHUTDOWN_S), host, port),
            (
                web.AppRunner(
                    self._control.application(), access_log=None, shutdown_timeout=_SHUTDOWN_S
                ),
                control_host,
                control_port,
            ),
        )
        for runner, place, number in places:
            self._runners.append(runner)
            await runner.setup()
            site = web.TCPSite(runner, place, number, backlog=_BACKLOG)
            await site.start()
            ports.append(runner.addresses[0][1])
        return ports[0], ports[1]

    async def stop(self) -> None:
        """Stop listening, let what is in progress finish, and close the store."""
        for runner in self._runners:
            await runner.cleanup()
        await self._dispatch.stop(_SHUTDOWN_S)
        await self._notifier.stop(_LAST_NOTIFICATIONS_S)
        self._database.close()


def create_app(
    dialect: Dialect,
    projects: Mapping[str, Sequence[str]],
    *,
    fixtures: Fixtures,
    path: str = IN_MEMORY,
    seed: int | None = None,
    ca_file: Path | None = None,
    egress: Sequence[Network] = (),
    clock: Callable[[], float] = time.time,
    request_s: float = REQUEST_S,
    faults: Sequence[Fault] = (),
    orders: Sequence[Order] = (),
    mail_server: MailServer | None = None,
    notifications: Bounds | None = None,
) -> App:
    """Make a server for these projects, given as id and keys; call it in a running event loop.

    `ca_file` and `egress` say whom deliveries trust and where they may go. `request_s` are the
    seconds in which a request's head must arrive, and then its body. `faults` are what it does
    wrong, and `orders` which of its answers are spoilt. Without a `mail_server` no e-mail is sent.
    Raises Undecided, UnusableDatabase, BadRecord, BadOrder, and OSError or ssl.SSLError for an
    unusable `ca_file`.
    """
    require_decided(dialect)
    randomness = Randomness.of(seed)
    database = Database(path, dialect=dialect.name)
    notifier = notifier_for(
        dialect,
        Contacts(database).of,
        clock=clock,
        trust=TlsContexts(ca_file),
        egress=egress,
        mail_server=mail_server,
        bounds=notifications or Bounds(),
    )
    limits = Limits(body_bytes=dialect.requests.size_limit, arrival_s=request_s)
    assembly = Assembly(
        dialect,
        projects,
        database=database,
        randomness=randomness,
        clock=clock,
        limits=limits,
        ca_file=ca_file,
        egress=egress,
        observer=notifier,
    )
    made_of = with_faults(Collaborators(), faults)
    dispatch = EngineDispatch(assembly.engine(made_of))
    service = assembly.service(made_of, dispatch)
    loader = FixtureLoader(service, list(projects))
    if not database.holds_resources():
        loader.load(fixtures)

    async def join_anew(further: Sequence[Fault]) -> Answering:
        """The API with further faults; what is pending in the store goes on with an engine that has
        them too.
        """
        joined = with_faults(made_of, further)
        await dispatch.replace(assembly.engine(joined), _SHUTDOWN_S)
        return assembly.api(joined, assembly.service(joined, dispatch))

    live = LiveFaults(assembly.api(made_of, service), dialect, join_anew)
    for order in orders:
        live.arm_answering(order)
    control = Control(
        service,
        loader=loader,
        fixtures=fixtures,
        journal=assembly.journal,
        faults=live,
        notifier=notifier,
    )
    listener = Listener(live, service.refusals, limits)
    return App(
        listener=listener, control=control, database=database, dispatch=dispatch, notifier=notifier
    )
