"""The composition root: every part of the server is made and joined here, and started and stopped in order."""

import logging
import random
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from mockserver.api import Api, Limits
from mockserver.control import Control
from mockserver.delivery.egress import EgressGuard, Network
from mockserver.delivery.engine import DeliveryEngine
from mockserver.delivery.tls import TlsContexts
from mockserver.dispatch import EngineDispatch
from mockserver.documentation import documentation_pages
from mockserver.faults.live import LiveFaults
from mockserver.fixture_file import FixtureLoader, Fixtures
from mockserver.handlers import handlers_for
from mockserver.identifiers import Entropy, identifiers, timestamp_writer
from mockserver.journal import Journal
from mockserver.keys import Keys
from mockserver.listener import Listener
from mockserver.notifications.assembly import notifier_for
from mockserver.notifications.bounds import Bounds
from mockserver.notifications.mail import MailServer
from mockserver.notifications.notifier import Notifier
from mockserver.refusals import Refusals
from mockserver.service import Service
from mockserver.signing_secrets import SigningSecrets
from mockserver.store.contacts import Contacts
from mockserver.store.database import IN_MEMORY, Database
from mockserver.store.deliveries import Deliveries
from mockserver.store.endpoints import Endpoints
from mockserver.store.events import Events
from mockserver.store.portal_links import PortalLinks
from mockserver.store.sources import Sources
from mockserver.wire import Wire
from spec.contract import contract_for
from spec.dialect import Answer, Dialect

REQUEST_S: Final = 5.0
_SHUTDOWN_S: Final = 5.0
_LAST_NOTIFICATIONS_S: Final = 1.0
_BACKLOG: Final = 4096
_MAY_STAY_OPEN: Final = ("delivery.notify_on", "delivery.own_events")
_SEEDED_START_NS: Final = 1_700_000_000_000_000_000
_SEEDED_STEP_NS: Final = 1_000_000


class Unsettled(Exception):
    """The dialect leaves answers open that a server must have; the text names them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Randomness:
    """Where identifiers, secrets and jitter come from; all of it repeats for the same seed."""

    identifiers: Entropy
    time_ns: Callable[[], int]
    secrets: Entropy
    jitter: random.Random

    @classmethod
    def of(cls, seed: int | None) -> "Randomness":
        """Seeded, or strong."""
        if seed is None:
            return cls(
                identifiers=random.Random(secrets.randbits(256)).randbytes,  # unique, not secret, and often wanted
                time_ns=time.time_ns,
                secrets=secrets.token_bytes,
                jitter=random.Random(),
            )
        # The times in identifiers are counted, since a clock would not repeat.
        ticks = count(_SEEDED_START_NS, _SEEDED_STEP_NS)
        return cls(
            identifiers=random.Random(f"{seed} identifiers").randbytes,
            time_ns=lambda: next(ticks),
            secrets=random.Random(f"{seed} secrets").randbytes,
            jitter=random.Random(f"{seed} jitter"),
        )


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

    async def start(self, host: str, port: int, control_host: str, control_port: int) -> tuple[int, int]:
        """Listen; returns the ports of the API and of the control listener. Raises OSError."""
        self._listener.watch()
        await self._dispatch.start()
        ports = []
        places = (
            (web.ServerRunner(self._listener, shutdown_timeout=_SHUTDOWN_S), host, port),
            (
                web.AppRunner(self._control.application(), access_log=None, shutdown_timeout=_SHUTDOWN_S),
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
    mail_server: MailServer | None = None,
    notifications: Bounds | None = None,
) -> App:
    """Make a server for these projects, given as id and keys; call it in a running event loop.

    `ca_file` and `egress` say whom deliveries trust and where they may go. `request_s` are the seconds in which
    a request's head must arrive, and then its body. Without a `mail_server` no e-mail is sent. Raises Unsettled,
    UnusableDatabase, BadRecord, and OSError or ssl.SSLError for an unusable `ca_file`.
    """
    settle(dialect)
    contract = contract_for(dialect)
    refusals = Refusals.of(dialect)
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
    dispatch = EngineDispatch(
        DeliveryEngine(
            Deliveries(database, dialect, clock),
            dialect,
            clock=clock,
            rng=randomness.jitter,
            ca_file=ca_file,
            egress=EgressGuard(egress),
            log=logging.getLogger("mockserver.delivery"),
            observer=notifier,
        )
    )
    shown = dialect.representation
    service = Service(
        dialect=dialect,
        contract=contract,
        refusals=refusals,
        wire=Wire(contract, dialect),
        database=database,
        endpoints=Endpoints(database),
        portal_links=PortalLinks(database),
        sources=Sources(database),
        events=Events(database),
        now=ever_later(clock),
        timestamp=timestamp_writer(shown.timestamp.value),
        identifier=identifiers(shown.identifier.value, randomness.identifiers, randomness.time_ns),
        secrets=SigningSecrets(rules=dialect.signatures.secret, entropy=randomness.secrets),
        cursor_seal=database.cursor_seal(randomness.secrets),
        dispatch=dispatch,
    )
    journal = Journal(clock)
    limits = Limits(body_bytes=dialect.requests.size_limit, arrival_s=request_s)
    handlers = handlers_for(service)
    keys = Keys.of(projects, dialect, refusals)
    api = Api(
        contract,
        handlers,
        keys=keys,
        refusals=refusals,
        limits=limits,
        database=database,
        journal=journal,
        pages=documentation_pages(contract),
    )
    loader = FixtureLoader(service, keys.projects)
    if not database.holds_resources():
        loader.load(fixtures)
    faults = LiveFaults(api)
    control = Control(service, loader=loader, fixtures=fixtures, journal=journal, faults=faults, notifier=notifier)
    return App(
        listener=Listener(faults, refusals, limits),
        control=control,
        database=database,
        dispatch=dispatch,
        notifier=notifier,
    )


def ever_later(clock: Callable[[], float]) -> Callable[[], float]:
    """The clock, made to grow by a microsecond at least: the order of creation is also the order of `created_at`."""
    latest = 0.0

    def now() -> float:
        nonlocal latest
        latest = max(clock(), latest + 1e-6)
        return latest

    return now


def settle(dialect: Dialect) -> None:
    """Raise Unsettled if a gap is undecided, other than those that this server answers by keeping silent."""
    open_answers = [name for name in _undecided(dialect, "") if name not in _MAY_STAY_OPEN]
    if open_answers:
        raise Unsettled(f"the dialect {dialect.name} leaves undecided: {', '.join(open_answers)}")


def _undecided(group: Any, where: str) -> list[str]:
    found = []
    for field in fields(group):
        value = getattr(group, field.name)
        if isinstance(value, Answer):
            found += [] if value.decided else [f"{where}{field.name}"]
        elif is_dataclass(value):
            found += _undecided(value, f"{where}{field.name}.")
    return found
