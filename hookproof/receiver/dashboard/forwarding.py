"""Forwards deliveries to a server of the user, whose answers are passed on to the sender."""

import logging
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Self

from hookproof.receiver.clock import Clock
from hookproof.receiver.dashboard.replay import MOST_ANSWER_BYTES, Replayer
from hookproof.receiver.dashboard.replay_target import (
    ReplayAllowance,
    ReplayRefused,
    ReplayTarget,
)
from hookproof.receiver.http.reply_bytes import RelayedAnswer
from hookproof.receiver.inbox.delivery import ReceivedDelivery

LOG: Final = logging.getLogger(__name__)
ANSWER_WITHIN_S: Final = 30.0
TEXT: Final = (("Content-Type", "text/plain; charset=utf-8"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarder:
    """Sends each delivery to one URL as it came, byte for byte but for what is of a connection."""

    url: str
    replayer: Replayer

    @classmethod
    def to(cls, url: str, clock: Clock) -> Self:
        """A forwarder to the host of this URL and to no other; raises ReplayRefused."""
        host = ReplayTarget.parse(url).host.lower().rstrip(".")
        replayer = Replayer(
            allowance=ReplayAllowance(names=frozenset({host})),
            clock=clock,
            timeout_s=ANSWER_WITHIN_S,
            most_kept=MOST_ANSWER_BYTES,
        )
        return cls(url=url, replayer=replayer)

    async def __call__(self, delivery: ReceivedDelivery) -> RelayedAnswer:
        """The answer; 502 with the reason if there is none."""
        try:
            answer = await self.replayer.replay(delivery, self.url)
        except ReplayRefused as refused:
            problem = str(refused)
        else:
            if len(answer.body) < MOST_ANSWER_BYTES:
                return RelayedAnswer(status=answer.status, headers=answer.headers, body=answer.body)
            problem = f"{self.url} answers with {MOST_ANSWER_BYTES} bytes or more"
        LOG.warning("a delivery could not be forwarded: %s", problem)
        return RelayedAnswer(
            status=HTTPStatus.BAD_GATEWAY, headers=TEXT, body=f"{problem}\n".encode()
        )
