"""Joins the server's parts, out of whichever classes it is told, around one database that stays.

The parts can be joined anew while the server runs: whatever is to be remembered is in the database,
or in what an Assembly keeps.
"""

import logging
import random
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

from hookproof.mockserver.api.docs import documentation_pages
from hookproof.mockserver.api.errors import Refusals
from hookproof.mockserver.api.handlers import handlers_for
from hookproof.mockserver.api.request_journal import Journal
from hookproof.mockserver.api.request_pipeline import Api, Limits
from hookproof.mockserver.api.service import Dispatch, Service
from hookproof.mockserver.collaborators import Collaborators
from hookproof.mockserver.delivery.engine import DeliveryEngine
from hookproof.mockserver.delivery.http_client.egress import Network
from hookproof.mockserver.delivery.store_port import OutcomeObserver
from hookproof.mockserver.store.database import Database
from hookproof.mockserver.store.identifiers import Entropy, identifiers, timestamp_writer
from hookproof.mockserver.store.sources import Sources
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.model import Dialect

_SEEDED_START_NS: Final = 1_700_000_000_000_000_000
_SEEDED_STEP_NS: Final = 1_000_000


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
                identifiers=random.Random(
                    secrets.randbits(256)
                ).randbytes,  # unique, not secret, and often wanted
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


class Assembly:
    """Makes the API and the delivery engine over one database, as often as asked.

    `ca_file` and `egress` say whom deliveries trust and where they may go, `observer` hears of
    those that are given up.
    """

    def __init__(
        self,
        dialect: Dialect,
        projects: Mapping[str, Sequence[str]],
        *,
        database: Database,
        randomness: Randomness,
        clock: Callable[[], float],
        limits: Limits,
        ca_file: Path | None,
        egress: Sequence[Network],
        observer: OutcomeObserver | None = None,
    ) -> None:
        self._dialect = dialect
        self._projects = projects
        self._database = database
        self._randomness = randomness
        self._clock = clock
        self._limits = limits
        self._ca_file = ca_file
        self._egress = egress
        self._observer = observer
        self._contract = contract_for(dialect)
        self._pages = documentation_pages(self._contract)
        self._now = ever_later(clock)
        self._timestamp = timestamp_writer(dialect.representation.timestamp.value)
        form = dialect.representation.identifier.value
        self._identifier = identifiers(form, randomness.identifiers, randomness.time_ns)
        self._cursor_seal = database.cursor_seal(randomness.secrets)
        self.journal = Journal(clock)

    def engine(self, made_of: Collaborators) -> DeliveryEngine:
        """A delivery engine; raises OSError or ssl.SSLError for an unusable `ca_file`."""
        return DeliveryEngine(
            made_of.deliveries(self._database, self._dialect, self._clock),
            self._dialect,
            clock=self._clock,
            rng=self._randomness.jitter,
            ca_file=self._ca_file,
            egress=made_of.delivery.egress(self._egress),
            log=logging.getLogger("hookproof.mockserver.delivery"),
            collaborators=made_of.delivery,
            observer=self._observer,
            answered_requests=self.journal.counts.total,
        )

    def service(self, made_of: Collaborators, dispatch: Dispatch) -> Service:
        """What the handlers work with."""
        database, dialect = self._database, self._dialect
        return Service(
            dialect=dialect,
            contract=self._contract,
            refusals=made_of.refusals.of(dialect),
            wire=made_of.wire(self._contract, dialect),
            database=database,
            endpoints=made_of.endpoints(database),
            portal_links=made_of.portal_links(database),
            sources=Sources(database),
            events=made_of.events(database),
            now=self._now,
            timestamp=self._timestamp,
            identifier=self._identifier,
            secrets=made_of.secrets(
                rules=dialect.signatures.secret, entropy=self._randomness.secrets
            ),
            pager=made_of.pager,
            listing=made_of.listing,
            cursor_seal=self._cursor_seal,
            dispatch=dispatch,
        )

    def api(self, made_of: Collaborators, service: Service) -> Api:
        """The API over a service."""
        refusals: Refusals = service.refusals
        handlers = handlers_for(
            made_of.endpoint_handlers(service),
            made_of.portal_link_handlers(service),
            made_of.source_handlers(service),
            made_of.event_handlers(service),
        )
        return made_of.api(
            self._contract,
            handlers,
            keys=made_of.keys.of(self._projects, self._dialect, refusals),
            refusals=refusals,
            limits=self._limits,
            database=self._database,
            journal=self.journal,
            pages=self._pages,
            routes=made_of.routes,
        )


def ever_later(clock: Callable[[], float]) -> Callable[[], float]:
    """The clock, made to grow by a microsecond at least: the order of creation is also the order of
    `created_at`.
    """
    latest = 0.0

    def now() -> float:
        nonlocal latest
        latest = max(clock(), latest + 1e-6)
        return latest

    return now
