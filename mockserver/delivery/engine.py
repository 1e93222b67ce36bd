"""The delivery engine: what the composition root starts, wakes and stops."""

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
from hookproof.mockserver.delivery.attempt.sender import FAULTS
from hookproof.mockserver.delivery.collaborators import CLEAN, DeliveryCollaborators
from hookproof.mockserver.delivery.http_client.egress import EgressGuard
from hookproof.mockserver.delivery.http_client.transport import parse_url
from hookproof.mockserver.delivery.scheduling.api_priority import Courtesy
from hookproof.mockserver.delivery.scheduling.concurrency_limit import Bounds
from hookproof.mockserver.delivery.store_port import Clock, DeliveryStore, OutcomeObserver
from hookproof.spec.dialect.model import Dialect


class DeliveryEngine:
    """Delivers what the store holds, as a dialect says.

    `clock` gives unix seconds, `monotonic` seconds that never step back, `rng` draws the jitter.
    `ca_file` (PEM) stands in for the system's authorities; one that cannot be read raises OSError
    or ssl.SSLError here. `egress` says where connections may go, `made_of` which classes do the
    work. `observer` hears of deliveries that are given up. `answered` counts the requests that were
    answered on the same event loop, to which the engine gives way.
    """

    def __init__(
        self,
        store: DeliveryStore,
        dialect: Dialect,
        *,
        clock: Clock,
        rng: random.Random,
        ca_file: str | os.PathLike[str] | None,
        egress: EgressGuard,
        log: logging.Logger,
        bounds: Bounds | None = None,
        monotonic: Clock = time.monotonic,
        made_of: DeliveryCollaborators = CLEAN,
        observer: OutcomeObserver | None = None,
        answered: Callable[[], int] = lambda: 0,
    ) -> None:
        self._log = log
        self._visit_timeout_s = dialect.delivery.default_timeout_s.value
        self._transport = made_of.transport(egress, made_of.tls(ca_file))
        self._tokens = made_of.tokens(self._transport, dialect.words, clock, rng)
        forbidden = FRAMING_HEADERS | service_header_names(dialect) | {CONTENT_TYPE.lower()}
        credentials = made_of.credentials(dialect.words, self._tokens, forbidden)
        courier = made_of.courier(
            dialect, self._transport, credentials, made_of.signer(dialect), clock
        )
        self._dispatcher = made_of.dispatcher(
            store,
            courier.carry,
            made_of.outcomes(
                store, made_of.retry_rules(dialect.retry, clock, rng), dialect, clock, observer
            ),
            excess=dialect.delivery.excess.value,
            clock=clock,
            monotonic=monotonic,
            log=log,
            bounds=bounds or Bounds(),
            courtesy=Courtesy(answered),
            lane=made_of.lane,
        )

    async def start(self) -> None:
        """Take up what is pending in the store."""
        self._dispatcher.start()

    def wake(self, endpoint_uids: Iterable[str]) -> None:
        """Say that these endpoints have new deliveries in the store; call it after they were
        written.
        """
        self._dispatcher.wake(endpoint_uids)

    async def visit(self, url: str, method: str) -> int | None:
        """Try the URL of a new endpoint with a request without body, unsigned: it is no delivery.

        The answered status, or None if there was no answer within the dialect's default time-out;
        never raises.
        """
        try:
            address = parse_url(url)
            response = await self._transport.exchange(
                method, address, (), b"", timeout_s=self._visit_timeout_s
            )
        except (*FAULTS, TimeoutError) as fault:
            self._log.info("no answer to the visit of a new endpoint: %s", fault)
            return None
        return response.status

    async def stop(self, grace_s: float) -> None:
        """End everything: attempts under way get `grace_s` seconds, what is not over by then stays
        pending.
        """
        await self._dispatcher.stop(grace_s)
        await self._tokens.close()
        await self._transport.close()
