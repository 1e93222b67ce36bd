"""After an endpoint has failed, nothing is delivered to any other."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest

from hookproof.mockserver.delivery.attempt.credentials import Authenticator, TokenSource
from hookproof.mockserver.delivery.attempt.sender import AttemptResult
from hookproof.mockserver.delivery.attempt.signing import Signer
from hookproof.mockserver.delivery.http_client.http1 import Response
from hookproof.mockserver.delivery.http_client.transport import ParsedUrl, Transport
from hookproof.mockserver.delivery.store_port import Failure, PendingDelivery
from hookproof.mockserver.faults.catalogue.deliveries.fan_out import FailureStopsTheRest
from tests.mockserver.delivery.engines import dialect
from tests.mockserver.delivery.memory_store import settings

NO_TOKENS = cast("TokenSource", None)


class RecordedExchanges:
    """A transport in which hosts named `bad...` answer 500, and others 200."""

    def __init__(self) -> None:
        self.hosts: list[str] = []

    async def exchange(self, _method: str, url: ParsedUrl, *_: Any, **__: Any) -> Response:
        self.hosts.append(url.authority)
        return Response(
            status=500 if url.authority.startswith("bad") else 200,
            headers=(),
            body=b"",
            reusable=False,
        )


def delivery(number: int, host: str) -> PendingDelivery:
    return PendingDelivery(
        id=number,
        event_uid="event",
        event_type="a.b",
        endpoint_uid=host,
        body=b"{}",
        custom_headers={},
        attempts=0,
        due_at=0.0,
    )


def try_in_turn(*hosts: str) -> tuple[list[str], Sequence[AttemptResult]]:
    """Make attempts at these hosts; return the hosts that were tried, and the results."""

    async def main() -> tuple[list[str], Sequence[AttemptResult]]:
        exchanges, reference = RecordedExchanges(), dialect()
        sender = FailureStopsTheRest(
            reference,
            cast("Transport", exchanges),
            Authenticator(reference.words, NO_TOKENS, frozenset()),
            Signer(reference),
            lambda: 0.0,
        )
        results = [
            await sender.send(delivery(number, host), settings(host, f"https://{host}/"))
            for number, host in enumerate(hosts)
        ]
        return exchanges.hosts, results

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("started", "tried"),
    [
        (["good", "fine"], ["good", "fine"]),
        (["bad", "good", "fine"], ["bad"]),
        (["good", "bad", "fine"], ["good", "bad"]),
        (["bad", "good", "bad", "worse"], ["bad", "bad"]),
    ],
    ids=str,
)
def test_nothing_but_the_endpoint_that_has_failed_is_tried_again(
    started: list[str], tried: list[str]
) -> None:
    hosts, results = try_in_turn(*(f"{name}.invalid" for name in started))
    assert hosts == [f"{name}.invalid" for name in tried]
    failures = [result.failure for result in results]
    assert failures.count(Failure.INTERNAL) == len(started) - len(tried)
