"""The delivery engine: builds its parts from a dialect, and starts, wakes and stops them.

`EngineDispatch` is what request handlers see of it.
"""

import asyncio
import logging
import os
import random
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from hookproof.mockserver.delivery.attempt.headers import (
    CONTENT_TYPE,
    FRAMING_HEADERS,
    service_header_names,
)
from hookproof.mockserver.delivery.attempt.sender import ATTEMPT_ERRORS
from hookproof.mockserver.delivery.collaborators import CLEAN, DeliveryCollaborators
from hookproof.mockserver.delivery.http_client.egress import EgressGuard
from hookproof.mockserver.delivery.http_client.transport import parse_url
from hookproof.mockserver.delivery.own_trouble import OwnTrouble
from hookproof.mockserver.delivery.scheduling.attempt_limits import ApiPriority, ConcurrencyBounds
from hookproof.mockserver.delivery.scheduling.dispatcher import OWN_TROUBLE_PAUSE_S
from hookproof.mockserver.delivery.scheduling.retry import SUCCESSFUL
from hookproof.mockserver.delivery.store_port import Clock, DeliveryStore, OutcomeObserver
from hookproof.spec.dialect.model import Dialect


class DeliveryEngine:
    """Delivers what the store holds, under one dialect.

    `clock` returns unix seconds, which others are shown. `steady` returns them too, but goes on
    evenly when the clock is set, and decides when something is due. `monotonic` returns seconds
    that never decrease. `rng` draws the jitter of retries. `ca_file` (PEM) replaces the authorities
    of the system; a file that cannot be read raises OSError or ssl.SSLError here. `observer` is
    notified of exhausted deliveries. `answered_requests` returns how many API requests were
    answered on the same event loop; the engine leaves time to them.
    """

    def __init__(
        self,
        store: DeliveryStore,
        dialect: Dialect,
        *,
        clock: Clock,
        steady: Clock | None = None,
        rng: random.Random,
        ca_file: str | os.PathLike[str] | None,
        egress: EgressGuard,
        log: logging.Logger,
        bounds: ConcurrencyBounds | None = None,
        monotonic: Clock = time.monotonic,
        collaborators: DeliveryCollaborators = CLEAN,
        observer: OutcomeObserver | None = None,
        answered_requests: Callable[[], int] = lambda: 0,
    ) -> None:
        self._log = log
        steady = steady or clock
        self._visit_timeout_s = dialect.delivery.default_timeout_s.value
        self._transport = collaborators.transport(egress, collaborators.tls(ca_file))
        self._tokens = collaborators.tokens(self._transport, dialect, clock, rng)
        forbidden = FRAMING_HEADERS | service_header_names(dialect) | {CONTENT_TYPE.lower()}
        authenticator = collaborators.authenticator(dialect.words, self._tokens, forbidden)
        sender = collaborators.attempt_sender(
            dialect, self._transport, authenticator, collaborators.signer(dialect), clock
        )
        rules = collaborators.retry_rules(dialect.retry, steady, rng, clock)
        self._dispatcher = collaborators.dispatcher(
            store,
            sender.send,
            collaborators.outcomes(store, rules, dialect, steady, observer),
            over_limit=dialect.delivery.excess.value,
            clock=steady,
            monotonic=monotonic,
            log=log,
            bounds=bounds or ConcurrencyBounds(),
            api_priority=ApiPriority(answered_requests),
            queue_class=collaborators.endpoint_queue,
        )

    async def start(self) -> None:
        """Begin with what is pending in the store."""
        self._dispatcher.start()

    def wake(self, endpoint_uids: Iterable[str]) -> None:
        """Note that these endpoints have new deliveries; call it after they were stored."""
        self._dispatcher.wake(endpoint_uids)

    async def visit(self, url: str, method: str) -> int | None:
        """Send the URL of a new endpoint an unsigned request without a body (section 4.1).

        Returns the status, or None if there is no response within the dialect's default timeout.
        Raises OwnTrouble if the request cannot be made at the moment.
        """
        try:
            response = await self._transport.exchange(
                method, parse_url(url), (), b"", timeout_s=self._visit_timeout_s
            )
        except (*ATTEMPT_ERRORS, TimeoutError) as error:
            self._log.info("the visit of a new endpoint got no response: %s", error)
            return None
        return response.status

    async def stop(self, grace_s: float) -> None:
        """Stop everything; attempts under way get `grace_s` seconds.

        The deliveries of attempts that do not end by then stay pending.
        """
        await self._dispatcher.stop(grace_s)
        await self._tokens.close()
        await self._transport.close()


class EngineDispatch:
    """Wakes the current engine, and visits new endpoints in tasks, which `stop` cancels."""

    def __init__(self, engine: DeliveryEngine) -> None:
        self._engine = engine
        self._visits: set[asyncio.Task[None]] = set()

    def wake(self, *endpoint_uids: str) -> None:
        """Note that these endpoints have new deliveries in the store."""
        self._engine.wake(endpoint_uids)

    def visit(self, url: str, *methods: str) -> None:
        """Request a URL in the background, with each method until one gets a 2xx."""
        task = asyncio.create_task(self._visit(url, *methods))
        self._visits.add(task)
        task.add_done_callback(self._visits.discard)

    async def is_answered(self, url: str, *methods: str) -> bool:
        """Request a URL with each method until one gets a 2xx, and return whether one does.

        Raises OwnTrouble if that cannot be found out at the moment.
        """
        for method in methods:
            status = await self._engine.visit(url, method)
            if status is not None and status // 100 == SUCCESSFUL:
                return True
        return False

    async def _visit(self, url: str, *methods: str) -> None:
        while True:
            with suppress(OwnTrouble):
                await self.is_answered(url, *methods)
                return
            await asyncio.sleep(OWN_TROUBLE_PAUSE_S)

    async def replace(self, engine: DeliveryEngine, grace_s: float) -> None:
        """Stop the current engine and let another one continue with what is pending."""
        await self.stop(grace_s)
        self._engine = engine
        await self.start()

    async def start(self) -> None:
        await self._engine.start()

    async def stop(self, grace_s: float) -> None:
        """Stop the engine; attempts under way get `grace_s` seconds, visits are cancelled."""
        for task in self._visits:
            task.cancel()
        await asyncio.gather(*self._visits, return_exceptions=True)
        await self._engine.stop(grace_s)
