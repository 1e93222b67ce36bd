"""Odd answers of endpoints that a delivery engine does not survive or misreads (section 6)."""

from collections.abc import Sequence
from typing import Any, Final

from hookproof.mockserver.delivery.http_client.connection import EndpointConnection
from hookproof.mockserver.delivery.http_client.http1 import (
    BODY_LIMIT,
    ProtocolError,
    Response,
    ResponseReader,
)
from hookproof.mockserver.delivery.http_client.transport import Transport
from hookproof.mockserver.delivery.store_port import Failure, PendingDelivery, Record
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.store.deliveries import Deliveries

SHOWN: Final = ("odd_answers",)
# What the client says of an answer that has begun or was due, but never of a connection that could
# not be made.
INTERRUPTED: Final = ("before its response was complete", "the connection broke")
PROJECT_OF: Final = "SELECT project FROM endpoints WHERE uid = ?"


@fault(
    "any_answer_survived failure_retried silence_retried redirect_counted",
    seen="an error that ends the worker",
    shows_in=[*SHOWN, "retries"],
)
class InterruptedAnswerEndsDeliveries(Deliveries):
    """After an answer that is reset or cut, nothing more is delivered in the project."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._ended: set[object] = set()

    def pending(self, endpoint_uid: str, limit: int) -> Sequence[PendingDelivery]:
        if self._project_of(endpoint_uid) in self._ended:
            return ()
        return super().pending(endpoint_uid, limit)

    def record(self, records: Sequence[Record]) -> None:
        super().record(records)
        for record in records:
            detail = record.outcome.detail
            if record.outcome.failure is Failure.CONNECTION and any(
                words in detail for words in INTERRUPTED
            ):
                self._ended.add(self._project_of(record.delivery.endpoint_uid))

    def _project_of(self, endpoint_uid: str) -> object:
        return self._database.read(PROJECT_OF, (endpoint_uid,)).fetchone()


class InterimMovesDeadline(EndpointConnection):
    """Waits anew after each piece of an answer whose head is not complete."""

    def data_received(self, data: bytes) -> None:
        if data.startswith(b"HTTP/1.1 1") and self._response is not None:
            self._deadline = max(self._deadline, self._loop.time() + 3600)
        super().data_received(data)


@fault("interim_timeout", seen="a time-out that starts again with every byte", shows_in=SHOWN)
class InterimResponsesStopTheClock(Transport):
    """An attempt that gets an interim response waits an hour for the final one."""

    connection_class = InterimMovesDeadline


class FirstStatusReader(ResponseReader):
    """Takes the first status line for that of the answer."""

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        if self._status // 100 == 1:
            self._complete, self._reusable = True, False


class FirstStatusConnection(EndpointConnection):
    reader_class = FirstStatusReader


@fault("interim_not_final", seen="an HTTP client that knows no interim responses", shows_in=SHOWN)
class InterimResponseIsFinal(Transport):
    """An interim response is taken for the answer."""

    connection_class = FirstStatusConnection


class WholeBodyReader(ResponseReader):
    """Reads a body to its end, and refuses it afterwards if it was long."""

    def expect(self, *, bodiless: bool) -> None:
        super().expect(bodiless=bodiless)
        self._read_bytes = 0

    def on_body(self, data: bytes) -> None:
        self._read_bytes += len(data)

    def feed(self, data: bytes) -> Response | None:
        response = super().feed(data)
        if response is not None and self._read_bytes > BODY_LIMIT:
            raise ProtocolError("the endpoint's response has no room in its record")
        return response


class WholeBodyConnection(EndpointConnection):
    reader_class = WholeBodyReader


@fault(
    "long_answer_counts token_sent mapped_names_read",
    seen="an answer that has no room in its record",
    shows_in=[*SHOWN, "credentials"],
)
class LongAnswerIsAFailure(Transport):
    """An answer with a long body is read to its end, and then counts as a failure; that of a token
    URL as well.
    """

    connection_class = WholeBodyConnection
