"""`Receiver`: a URL of its own for each test, in a process of `hookproof receive`.

with Receiver() as receiver:
receiver.reply_with(503, 200)
...  # have something sent to receiver.url by a sender that trusts receiver.ca_file
first, second = receiver.wait_for(2)
"""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from hookproof.receiver.client.child_process import child
from hookproof.receiver.client.control_api import ReceiverClient, ReceiverToken
from hookproof.receiver.http.request_handler import VISITS
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.replies.script import Reply
from hookproof.receiver.signatures.judgement import SchemeFormat, SignatureJudge
from hookproof.spec.dialect.reader import load_dialect
from hookproof.testing.background import READY_WITHIN_S, BackgroundLoop, BackgroundProcess
from hookproof.testing.delivery import WebhookDelivery

# How long to wait for deliveries unless the caller says more.
ARRIVE_WITHIN_S: Final = 5.0
# How many deliveries a failure shows.
MOST_SHOWN: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _OpenReceiver:
    """A token of a running receiver; `failed_handshakes` are those before it was issued."""

    loop: BackgroundLoop
    client: ReceiverClient
    token: ReceiverToken
    failed_handshakes: int
    ca_file: Path
    control_url: str


class Receiver(BackgroundProcess):
    """Receives webhooks at a URL.

    Methods whose name ends in `_async` are the same for callers in an event loop.
    """

    def __init__(self, *, ca_folder: Path | None = None) -> None:
        """With `ca_folder` the receiver has the CA in it, which is made there if it is empty;
        otherwise a CA is made that ends with the process.
        """
        super().__init__()
        self._arguments = ["receive", *(["--ca-dir", str(ca_folder)] if ca_folder else [])]
        self._open: _OpenReceiver | None = None
        self._judge: SignatureJudge | None = None

    def _start(self, stack: ExitStack) -> None:
        loop = stack.enter_context(BackgroundLoop())
        ready = loop.enter(child(self._arguments, deadline_s=READY_WITHIN_S))
        client = loop.enter(ReceiverClient(ready["control"]))
        self._open = _OpenReceiver(
            loop=loop,
            client=client,
            token=loop.call(client.new_token()),
            failed_handshakes=0,
            ca_file=Path(ready["ca"]),
            control_url=ready["control"],
        )
        stack.callback(setattr, self, "_open", None)

    def another(self) -> "Receiver":
        """A further URL of the same process, with deliveries, replies and secrets of its own.

        It needs no `with`, and ends with this one.
        """
        opened = self._opened
        further = Receiver()
        further._open = replace(
            opened,
            token=opened.loop.call(opened.client.new_token()),
            failed_handshakes=opened.loop.call(_failed_handshakes(opened.client)),
        )
        return further

    @property
    def url(self) -> str:
        """Where to send deliveries: an https URL, whose further path segments are free."""
        return self._opened.token.url

    @property
    def ca_file(self) -> Path:
        """The certificate of the CA that senders must trust, in PEM."""
        return self._opened.ca_file

    @property
    def control_url(self) -> str:
        """The live page for a browser, and the control API for programs."""
        return self._opened.control_url

    @property
    def deliveries(self) -> tuple[WebhookDelivery, ...]:
        """What has arrived so far, without visits; raises ReceiverFailed."""
        return self._judged(_without_visits(self._opened.loop.call(self._arrived())))

    @property
    def visits(self) -> tuple[WebhookDelivery, ...]:
        """The GET, HEAD and OPTIONS requests so far, by which a service may try a URL before it
        delivers there; raises ReceiverFailed.
        """
        arrived = self._opened.loop.call(self._arrived())
        return self._judged([each for each in arrived if each.method in VISITS])

    def secrets(
        self,
        *secrets: str,
        dialect: str = "reference",
        scheme: Literal["simple", "advanced"] | None = None,
    ) -> None:
        """Verify deliveries, from now on also those that arrived before, by these secrets.

        `dialect` is the name of a shipped dialect or a file; `scheme` its signature format, either
        of the two by default. Raises FileProblems for a dialect that cannot be read.
        """
        self._judge = SignatureJudge(
            dialect=load_dialect(dialect),
            secrets=secrets,
            formats=(SchemeFormat(scheme),) if scheme else tuple(SchemeFormat),
        )

    def reply_with(self, *replies: Reply | int) -> None:
        """Answer the next deliveries so, one after the other; the last reply repeats indefinitely.

        A number is a status. Raises ReceiverFailed for what cannot be sent.
        """
        opened = self._opened
        script = [Reply(status=each) if isinstance(each, int) else each for each in replies]
        opened.loop.call(opened.client.script(opened.token.token, script))

    def wait_for(
        self, count: int = 1, timeout_s: float = ARRIVE_WITHIN_S
    ) -> tuple[WebhookDelivery, ...]:
        """All deliveries, without visits, as soon as there are `count` of them.

        Raises AssertionError, which shows what arrived, if there are fewer after `timeout_s`
        seconds.
        """
        __tracebackhide__ = True
        arrived = self._opened.loop.call(self._arrived(count, timeout_s))
        return self._at_least(count, arrived, timeout_s)

    async def wait_for_async(
        self, count: int = 1, timeout_s: float = ARRIVE_WITHIN_S
    ) -> tuple[WebhookDelivery, ...]:
        """As `wait_for`."""
        __tracebackhide__ = True
        arrived = await self._opened.loop.call_async(self._arrived(count, timeout_s))
        return self._at_least(count, arrived, timeout_s)

    def describe(self) -> str:
        """What has arrived, a line for each delivery, and why signatures did not verify."""
        deliveries, visits = self.deliveries, self.visits
        if not deliveries:
            seen = f" but visits: {', '.join(each.method for each in visits)}" if visits else ""
            return f"nothing arrived at {self.url}{seen}{self._distrust()}"
        lines = [f"  {delivery!r}" for delivery in deliveries[:MOST_SHOWN]]
        if len(deliveries) > MOST_SHOWN:
            lines.append(f"  and {len(deliveries) - MOST_SHOWN} more")
        return "\n".join([f"{len(deliveries)} arrived at {self.url}:", *lines])

    @property
    def _opened(self) -> _OpenReceiver:
        if self._open is None:
            raise RuntimeError("the receiver does not run: use it in a with statement")
        return self._open

    async def _arrived(
        self, count: int = 0, timeout_s: float = 0.0
    ) -> tuple[ReceivedDelivery, ...]:
        """All requests, as soon as `count` of them are no visits."""
        opened = self._opened
        ends_at = time.monotonic() + timeout_s
        wanted = count
        while True:
            left_s = max(0.0, ends_at - time.monotonic())
            arrived = await opened.client.deliveries(opened.token.token, wanted, left_s)
            missing = count - len(_without_visits(arrived))
            if missing <= 0 or not left_s:
                return arrived
            wanted = len(arrived) + missing

    def _judged(self, deliveries: Sequence[ReceivedDelivery]) -> tuple[WebhookDelivery, ...]:
        return tuple(WebhookDelivery.of(delivery, self._judge) for delivery in deliveries)

    def _at_least(
        self, count: int, deliveries: Sequence[ReceivedDelivery], timeout_s: float
    ) -> tuple[WebhookDelivery, ...]:
        __tracebackhide__ = True
        deliveries = _without_visits(deliveries)
        if len(deliveries) < count:
            raise AssertionError(
                f"deliveries expected within {timeout_s:g} s: {count}; {self.describe()}"
            )
        return self._judged(deliveries)

    def _distrust(self) -> str:
        """A hint if senders connected and got no further."""
        opened = self._opened
        failed = opened.loop.call(_failed_handshakes(opened.client)) - opened.failed_handshakes
        if failed <= 0:
            return ""
        return f"; TLS handshakes that failed: {failed} (does the sender trust {self.ca_file}?)"


def _without_visits(arrived: Sequence[ReceivedDelivery]) -> list[ReceivedDelivery]:
    return [each for each in arrived if each.method not in VISITS]


async def _failed_handshakes(client: ReceiverClient) -> int:
    handshakes = await client.tls_handshakes()
    return handshakes.begun - handshakes.completed
