"""Receives what a service sends while Schemathesis tests it: the callbacks of OpenAPI, webhooks.

A hook needs no more than this, and nothing here knows which API is tested:

    receiver = CallbackReceiver(target)

    @schemathesis.hook
    def before_call(context, case, kwargs):
        kwargs["json"] = {**case.body, "url": receiver.new_token().url}

    @schemathesis.hook
    def after_call(context, case, response):
        came = receiver.wait_for({token: lambda requests: len(requests) > 0}, timeout_s=10)
"""

import asyncio
import atexit
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.target.definition import Target
from hookproof.conformance.target.environment import open_environment
from hookproof.process.lateness import LatenessMeter
from hookproof.receiver.client.control_api import ReceiverClient, ReceiverToken
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.replies.script import Reply
from hookproof.testing.background import BackgroundLoop

Requests = tuple[ReceivedDelivery, ...]
# By token, whether what has come there is enough.
Conditions = Mapping[str, Callable[[Requests], bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """What has come by token, and the facts by which it can be judged whether more would have.

    `late_s` and `unused_s` are as in `DeliveryObservation`.
    """

    requests: Mapping[str, Requests]
    late_s: float
    unused_s: float | None


class CallbackReceiver:
    """A receiver in a process of its own, which ends with this one.

    Threads may share it. The constructor raises CommandError; the methods raise PreconditionFailed
    where the service does not trust the receiver, and ReceiverFailed.
    """

    def __init__(self, target: Target) -> None:
        self._loop: Final = BackgroundLoop()
        self._loop.__enter__()
        atexit.register(self._loop.__exit__, None, None, None)
        self._client: Final[ReceiverClient] = self._loop.enter(open_environment(target)).receiver
        self._lateness: Final = self._loop.call(_lateness_meter())

    def new_token(self) -> ReceiverToken:
        """A token with an https URL of its own, whose further path segments are free."""
        return self._loop.call(self._client.new_token())

    def script(self, token: str, replies: Sequence[Reply], *, only_for: str = "") -> None:
        """Set what the requests to a token are answered with, or those that contain a text."""
        self._loop.call(self._client.script(token, replies, only_for=only_for))

    def wait_for(self, conditions: Conditions, timeout_s: float) -> Received:
        """All that has come to these tokens, as soon as it is enough at each or the time is up."""
        return self._loop.call(self._wait_for(conditions, timeout_s))

    async def _wait_for(self, conditions: Conditions, timeout_s: float) -> Received:
        ends_at = asyncio.get_running_loop().time() + timeout_s
        came = await asyncio.gather(
            *(self._come_to(token, is_enough, ends_at) for token, is_enough in conditions.items())
        )
        late_s = [self._lateness.worst_s, *map(self._client.late_s, conditions)]
        return Received(
            requests=dict(zip(conditions, came, strict=True)),
            late_s=max(late_s),
            unused_s=(await self._client.tls_handshakes()).unused_s_ago,
        )

    async def _come_to(
        self, token: str, is_enough: Callable[[Requests], bool], ends_at: float
    ) -> Requests:
        wanted = 0
        while True:
            left_s = max(0.0, ends_at - asyncio.get_running_loop().time())
            came = await self._client.deliveries(token, wanted, left_s)
            if is_enough(came) or not left_s:
                return came
            wanted = len(came) + 1


async def _lateness_meter() -> LatenessMeter:
    return LatenessMeter(asyncio.get_running_loop())
