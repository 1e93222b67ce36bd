"""A plan: everything that a Locust process needs to know about its share of one run.

The command prepares the run (endpoints, sidecars) with the project's ordinary clients; Locust runs
in processes of its own, since it patches whatever process imports it. A plan reaches them in a file
or as a message of Locust's. It does not hold the target's key: each process reads that from its
environment.
"""

import os
import socket
import ssl
from collections.abc import Iterator, Sequence
from errno import errorcode
from http import HTTPStatus
from typing import Any, Final

import msgspec

from hookproof.load.broadcast_mark import data_with_mark, marked_data
from hookproof.load.profile.schedule import Point, RateCurve
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import SuccessStatus
from hookproof.target.connection import ApiConnection


def no_answer_reason(error: BaseException, within_s: float) -> str:
    """What the first of the errors behind this one says; an answer may take `within_s` seconds."""
    behind = list(_errors_behind(error))
    for each in behind:
        if isinstance(each, ssl.SSLError):  # numbers, also of what it causes, are of OpenSSL
            said = (getattr(each, name, None) for name in ("verify_message", "reason"))
            return next(filter(None, said), str(each))
    for each in behind:
        if isinstance(each, TimeoutError):
            return f"nothing within {within_s:g} s"
        if isinstance(each, socket.gaierror) and each.strerror:
            return each.strerror.lower()
        if isinstance(each, OSError) and each.errno is not None and each.errno in errorcode:
            return os.strerror(each.errno).lower()
    return str(error) or type(error).__name__


def _errors_behind(error: BaseException) -> Iterator[BaseException]:
    each: BaseException | None = error
    while each is not None:
        yield each
        each = each.__cause__ or each.__context__


KEY: Final = "{key}"
FIRST_SUCCESS, FIRST_REDIRECT = 200, 300


def is_success(status: int) -> bool:
    """Whether a status is a success where the dialect does not say which it is (section 7)."""
    return FIRST_SUCCESS <= status < FIRST_REDIRECT


class OperationTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """One operation as it is sent; no `statuses` means any success.

    `paths` are used in turn, and so are `bodies`, JSON texts; without them the request has no body.
    """

    method: str
    paths: tuple[str, ...]
    statuses: tuple[int, ...]
    bodies: tuple[str, ...] = ()


class ReceivingEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint whose deliveries come to this worker's sidecar; `advanced` is how it signs."""

    token: str
    url: str
    secrets: tuple[str, ...]
    advanced: bool
    limited: bool


class RolledEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint whose secret is rolled: its path (section 4.3) and its token at the sidecar."""

    path: str
    token: str


class SecretRolls(msgspec.Struct, frozen=True, kw_only=True):
    """How secrets are rolled, every `every_s` seconds; `expiration` is in the dialect's unit."""

    every_s: float
    expiration: int
    endpoints: tuple[RolledEndpoint, ...]
    secret_prefix: str
    secret_form: str


class ReplyPeriod(msgspec.Struct, frozen=True, kw_only=True):
    """A period of the run in which the deliveries for these tokens get another reply."""

    tokens: tuple[str, ...]
    from_s: float
    to_s: float
    reply: Reply
    succeeds: bool


class LoadPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One worker's share of a run: number `worker` of `workers`, counted from 0.

    `points` are the corners of the whole run's rate, as (seconds, slots a second), and `users` the
    users of all workers; `headers` go with each request, with `KEY` in place of the key. `mix`
    weighs the `calls` by operationId. `pad` fills the `data` of a broadcast, unless that
    is `payload` with its mark. `dialect` is for a worker that has none of its own. `endpoints` are
    those of this worker; `deliveries_each` is the number of all endpoints; `timeout_s` is how long
    the target waits for the answer to a delivery, 0 if unknown. After the last answer deliveries
    may arrive for `drain_s` seconds, and longer while others arrive, at most for `drain_at_most_s`;
    `pause_s` is the longest pause between two of them. With `may_drop` some need not arrive at all.
    """

    run: str
    worker: int
    workers: int
    base_url: str
    headers: dict[str, str]
    points: tuple[tuple[float, float], ...]
    users: int
    mix: dict[str, float]
    calls: dict[str, OperationTemplate]
    pad: str
    payload: dict[str, Any] | None = None
    dialect: dict[str, Any] | None = None
    endpoints: tuple[ReceivingEndpoint, ...]
    deliveries_each: int
    late_after_s: float
    timeout_s: float
    drain_s: float
    drain_at_most_s: float
    pause_s: float
    may_drop: bool
    rolls: SecretRolls | None
    reply_periods: tuple[ReplyPeriod, ...]

    @property
    def shape(self) -> RateCurve:
        """The rate of the whole run."""
        return RateCurve(points=tuple(Point(at_s=at_s, rate=rate) for at_s, rate in self.points))

    def data(self, number: int, intended_at: float) -> bytes:
        """The `data` of a broadcast."""
        if self.payload is None:
            return data_with_mark(self.run, number, intended_at, self.pad)
        return marked_data(self.payload, self.run, number, intended_at, "")

    def headers_with(self, key: str, connection: ApiConnection) -> dict[str, str]:
        """The headers of each request (section 5), and those that target.yaml adds."""
        own = [(name, value.replace(KEY, key)) for name, value in self.headers.items()]
        return dict(connection.with_headers(own))


def failure_reason(
    status: int, expected: Sequence[int], error: Exception | None, within_s: float
) -> str:
    """Why an answer is no success, in words; `expected` are the statuses of the dialect."""
    if not status:
        reason = "no reason is known" if error is None else no_answer_reason(error, within_s)
        return f"the server does not answer: {reason}"
    if is_success(status):
        return f"answered {status}, where the dialect expects {' or '.join(map(str, expected))}"
    return f"answered {status}"


def counts_as_delivered(reply: Reply, dialect: Dialect, patience_s: float) -> bool:
    """Whether the target surely makes no further attempt after this reply (section 1).

    One that gives up before a slow success has come, after `patience_s`, tries again, and doubles
    nothing.
    """
    if reply.hang or reply.delay_s >= patience_s:
        return False
    status = reply.status
    success = dialect.retry.success
    any_2xx = success.decided and success.value is SuccessStatus.ANY_2XX
    return is_success(status) if any_2xx else status == HTTPStatus.OK
