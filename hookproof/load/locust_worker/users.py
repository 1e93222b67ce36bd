"""How a user of Locust calls the operations of a target, by whatever way leads there."""

import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final
from urllib.parse import unquote, urlsplit

from locust import FastHttpUser
from locust.contrib.fasthttp import FastResponse
from locust.env import Environment

from hookproof.load.locust_worker.tracing import RequestSpan, tracer
from hookproof.load.plan import LoadPlan, OperationTemplate, failure_reason, is_success
from hookproof.target.connection import ApiConnection
from hookproof.target.rate_answer import ApiPause, is_refusal, requested_pause_s

# In bytes; whoever sends more of an answer has failed.
LONGEST_ANSWER: Final = 16 * 1024 * 1024
READ_AT_ONCE: Final = 65536
LONGEST_BEGINNING: Final = 8192
LONGEST_EVENT: Final = 1024 * 1024


class UnreadAnswer(FastResponse):
    """An answer of which little but the status counts: it is neither decompressed nor kept.

    So what a target sends cannot exhaust the memory of a generator, nor its time. `beginning` is
    the body up to `longest_beginning`.
    """

    longest_beginning: ClassVar[int] = LONGEST_BEGINNING
    beginning: bytes = b""

    def _content(self) -> bytes:
        """Read the body and forget it; raises ConnectionError for one without end."""
        if self.headers is None or self._response is None:
            return b""
        length = 0
        try:
            while piece := self._response.read(READ_AT_ONCE):
                if length < self.longest_beginning:
                    self.beginning += piece[: self.longest_beginning - length]
                length += len(piece)
                if length > LONGEST_ANSWER:
                    reason = f"its answer is longer than {LONGEST_ANSWER} bytes"
                    raise ConnectionError(reason)
        finally:
            self.release()
        return b""


class EventAnswer(UnreadAnswer):
    """An answer that lists the endpoints which an event reaches, of which there may be many."""

    longest_beginning = LONGEST_EVENT


ANSWER_WITHIN_S: Final = 10.0
# Connecting and answering may take ANSWER_WITHIN_S each.
LONGEST_ANSWER_S: Final = 2 * ANSWER_WITHIN_S
PROXY_PORT: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFailure:
    """Why a request failed; `certain` if it was refused, so that it has had no effect.

    `limited` if the target put it off, which is no failure of the target.
    """

    why: str
    certain: bool
    limited: bool


@dataclass(slots=True, kw_only=True)
class ApiAccess:
    """How all users of a process call the target; `pause` is one that it has asked for."""

    plan: LoadPlan
    tls: ssl.SSLContext
    insecure: bool
    proxy: str | None
    headers: dict[str, str]
    pause: ApiPause
    tracer: Any = None

    @classmethod
    def through(
        cls, connection: ApiConnection, plan: LoadPlan, key: str, pause: ApiPause
    ) -> "ApiAccess":
        return cls(
            plan=plan,
            tls=connection.tls_context(),
            insecure=not connection.verify,
            proxy=connection.proxy,
            headers=plan.headers_with(key, connection),
            pause=pause,
            tracer=tracer(),
        )


def body_of_broadcast(beginning: bytes, run: str, number: int, data: bytes) -> bytes:
    """The body of a broadcast whose JSON begins so; it has an idempotency key of its own."""
    return b'%b,"idempotency_key":"%b.%d","data":%b}' % (beginning, run.encode(), number, data)


class ApiUser(FastHttpUser):
    """A user that calls the operations of a target; subclasses set `access` before they begin."""

    abstract = True
    access: ApiAccess
    connection_timeout = ANSWER_WITHIN_S
    network_timeout = ANSWER_WITHIN_S

    def __init__(self, environment: Environment) -> None:
        # That of the plan, which a worker has checked, not the one in Locust's message.
        self.host = self.access.plan.base_url
        self.insecure = self.access.insecure
        proxy = urlsplit(self.access.proxy or "")
        if proxy.hostname is not None:
            self.proxy_host, self.proxy_port = proxy.hostname, proxy.port or PROXY_PORT
        super().__init__(environment)
        if proxy.username is not None:  # Locust has no attribute for this
            self.client.client.clientpool.client_args.update(
                proxy_user=unquote(proxy.username), proxy_password=unquote(proxy.password or "")
            )

    def ssl_context_factory(self, cafile: str | None = None) -> ssl.SSLContext:
        """TLS as target.yaml says, without the certificates that Locust's client brings."""
        return self.access.tls

    def exchange(
        self,
        operation_id: str,
        call: OperationTemplate,
        path: str,
        body: bytes | None,
        *,
        keep: Callable[[bytes], None] | None = None,
        answer: type[UnreadAnswer] = UnreadAnswer,
    ) -> RequestFailure | None:
        """Send a request and return what is wrong with its answer, or None; `keep` gets the
        beginning of an answer that is right.
        """
        headers = self.access.headers
        if self.access.tracer is None:
            return self._exchanged(operation_id, call, path, body, headers, keep, answer)
        span = RequestSpan(self.access.tracer, operation_id, call.method)
        headers = {**headers, **span.headers}
        failure = self._exchanged(operation_id, call, path, body, headers, keep, answer)
        span.end(None if failure is None else failure.why)
        return failure

    def _exchanged(
        self,
        operation_id: str,
        call: OperationTemplate,
        path: str,
        body: bytes | None,
        headers: dict[str, str],
        keep: Callable[[bytes], None] | None,
        answer: type[UnreadAnswer],
    ) -> RequestFailure | None:
        agent = self.client.client
        usual, agent.response_type = agent.response_type, answer  # type: ignore[misc]  # this user's
        try:
            context = self.client.request(
                call.method,
                path,
                data=body,  # type: ignore[arg-type]  # it sends bytes
                headers=headers,
                name=operation_id,
                catch_response=True,
                allow_redirects=False,
            )
        finally:
            agent.response_type = usual  # type: ignore[misc]
        with context as response:
            status = response.status_code
            succeeded = status in call.statuses if call.statuses else is_success(status)
            if succeeded:
                if keep is not None:
                    keep(getattr(response, "beginning", b""))
                response.success()
                return None
            pause_s = requested_pause_s(status, response.headers)
            failure = RequestFailure(
                # Locust gives a success that is not expected no `error` at all.
                why=failure_reason(
                    status, call.statuses, getattr(response, "error", None), ANSWER_WITHIN_S
                ),
                certain=is_refusal(status),
                limited=pause_s is not None,
            )
            if pause_s is None:
                response.failure(failure.why)
                return failure
            self.access.pause.extend(pause_s, time.monotonic())
            response.request_meta["name"] = f"{operation_id}, put off"
            response.success()
            return failure
