"""The delivery engine: builds its parts from a dialect, and starts, wakes and stops them."""

import logging
import os
import random
import time
from collections.abc import Callable, Iterable

from hookproof.mockserver.delivery.attempt.headers import (
    CONTENT_TYPE,
    FRAMING_HEADERS,
    service_header_names,
)
from hookproof.mockserver.delivery.attempt.sender import ATTEMPT_ERRORS
from hookproof.mockserver.delivery.collaborators import CLEAN, DeliveryCollaborators
from hookproof.mockserver.delivery.http_client.egress import EgressGuard
from hookproof.mockserver.delivery.http_client.transport import parse_url
from hookproof.mockserver.delivery.scheduling.api_priority import ApiPriority
from hookproof.mockserver.delivery.scheduling.concurrency_limit import ConcurrencyBounds
from hookproof.mockserver.delivery.store_port import Clock, DeliveryStore, OutcomeObserver
from hookproof.spec.dialect.model import Dialect


class DeliveryEngine:
    """Delivers what the store holds, under one dialect.

    `clock` returns unix seconds, `monotonic` seconds that never decrease, and `steady` unix seconds
    that go on evenly when `clock` is set: it decides when something is due, `clock` what is told to
    others. `rng` draws the jitter of retries. `ca_file` (PEM) replaces the authorities of the
    system; a file that cannot be read raises OSError or ssl.SSLError here. `observer` is notified
    of exhausted deliveries. `answered_requests` returns how many API requests were answered on the
    same event loop; the engine leaves time to them.
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
