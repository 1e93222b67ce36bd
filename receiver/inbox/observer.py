"""Whoever follows an inbox as things happen: the live page, and the lines of the command line."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from hookproof.receiver.inbox.delivery import ReceivedDelivery


class Watcher(Protocol):
    """Is told of every change as it happens; it must be quick, since a sender waits meanwhile."""

    def arrived(self, token: str, sequence: int) -> None:
        """A request arrived just now."""
        ...

    def amended(self, token: str, sequence: int) -> None:
        """More is known of a request."""
        ...

    def judged_anew(self, token: str) -> None:
        """The token has other secrets, so that its deliveries may have another verdict."""
        ...

    def forgotten(self, tokens: Collection[str]) -> None:
        """Nothing of these tokens is kept any more, and they count from 1 again."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """All who follow; `on_done` is told each delivery that was answered whole or broken off, and
    must not wait.
    """

    watchers: tuple[Watcher, ...] = ()
    on_done: Callable[[ReceivedDelivery], None] | None = None
