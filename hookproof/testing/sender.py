"""`Sender`: signed events for tests of software that consumes webhooks, in all ways of `send`.

sender = Sender("stripe", "whsec_...")
first, second = sender.send(url, {"order": 1}, "duplicate")
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from hookproof.receiver.sending.attempt import Event, Signer, new_event_id
from hookproof.receiver.sending.delivering import (
    SentDelivery,
    events_of,
    prepared_way,
    send_way,
)
from hookproof.receiver.sending.exchange import METHOD, Consumer
from hookproof.receiver.sending.signing import CannotSign, Headers, SignedDelivery, signing_key
from hookproof.receiver.sending.tables import ways
from hookproof.receiver.signatures.judgement import (
    SchemeFormat,
    contract_of_dialect,
    contract_of_scheme,
)
from hookproof.receiver.signatures.schemes.catalogue import load_scheme
from hookproof.receiver.signatures.schemes.request_parts import RequestLine
from hookproof.spec.dialect.reader import load_dialect

# A body: its bytes, its text, or what becomes JSON.
Body = bytes | str | Mapping[str, object] | Sequence[object]
JSON: Final = (("Content-Type", "application/json"),)
LARGE: Final = 2**20
# What a scheme that signs the URL signs unless the test says it.
SOME_URL: Final = "https://localhost/"


class Sender:
    """Signs and sends events as a service does; needs no process."""

    def __init__(
        self,
        scheme: str | None = None,
        *secrets: str,
        dialect: str | None = None,
        format: Literal["simple", "advanced"] = "advanced",  # noqa: A002 - as in `secrets`
        headers: Mapping[str, str] | None = None,
        ca_file: Path | None = None,
        timeout_s: float = 10.0,
    ) -> None:
        """`scheme` is the name of a known sender or a file; in its place `dialect` is a shipped one
        or a file. `headers` are sent besides those of the signature, by default Content-Type: JSON.

        Raises SchemeProblem or FileProblems for what cannot be read, and CannotSign for secrets
        that cannot sign.
        """
        if (scheme is None) == (dialect is None):
            raise CannotSign("give the scheme, or the dialect")
        self._contract = (
            contract_of_scheme(load_scheme(scheme))
            if scheme is not None
            else contract_of_dialect(load_dialect(str(dialect)), SchemeFormat(format))
        )
        if not secrets:
            raise CannotSign("give the secret that signs")
        for secret in secrets:
            signing_key(self._contract, secret)
        self._secrets = secrets
        self._headers: Headers = JSON if headers is None else tuple(headers.items())
        self._ca_file = ca_file
        self._timeout_s = timeout_s

    def signed(
        self,
        body: Body,
        way: str = "right",
        *,
        url: str = SOME_URL,
        event_id: str | None = None,
        large_bytes: int = LARGE,
    ) -> tuple[SignedDelivery, ...]:
        """Each delivery of a way, with `headers` and `body`, for the test client of a framework.

        What only a connection shows (`slow`, `chunked`, `aborted`) is as any other here.
        """
        events, signer = self._prepared(body, way, url, event_id, large_bytes)
        return tuple(delivery for _, delivery in prepared_way(signer, way, events))

    def send(
        self,
        url: str,
        body: Body,
        way: str = "right",
        *,
        event_id: str | None = None,
        large_bytes: int = LARGE,
    ) -> tuple[SentDelivery, ...]:
        """Send all deliveries of a way; each has the `status` of its answer, and `is_right`."""
        return asyncio.run(
            self.send_async(url, body, way, event_id=event_id, large_bytes=large_bytes)
        )

    async def send_async(
        self,
        url: str,
        body: Body,
        way: str = "right",
        *,
        event_id: str | None = None,
        large_bytes: int = LARGE,
    ) -> tuple[SentDelivery, ...]:
        """As `send`, within an event loop."""
        events, signer = self._prepared(body, way, url, event_id, large_bytes)
        prepared_way(signer, way, events)
        consumer = Consumer.at(url, ca=self._ca_file, timeout_s=self._timeout_s)
        return tuple([each async for each in send_way(consumer, signer, way, events)])

    def _prepared(
        self, body: Body, way: str, url: str, event_id: str | None, large_bytes: int
    ) -> tuple[Mapping[int, Event], Signer]:
        if way not in ways():
            raise CannotSign(f"there is no way {way!r}; there are {', '.join(ways())}")
        event = Event(id=event_id or new_event_id(), headers=self._headers, body=_bytes(body))
        signer = Signer(
            contract=self._contract,
            secrets=self._secrets,
            line=RequestLine(method=METHOD, url=url),
            size=large_bytes,
        )
        return events_of(event, new_event_id), signer


def _bytes(body: Body) -> bytes:
    if isinstance(body, bytes):
        return body
    return (body if isinstance(body, str) else json.dumps(body)).encode()
