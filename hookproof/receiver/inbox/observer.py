"""How others follow an inbox: the live page, and the lines of the command line."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from hookproof.receiver.inbox.delivery import ReceivedDelivery


class Observer(Protocol):
    """Is notified of every change; must be quick, since a sender waits meanwhile."""

    def arrived(self, token: str, sequence: int) -> None: ...

    def updated(self, token: str, sequence: int) -> None:
        """A request was answered, or its sender left."""
        ...

    def verdicts_changed(self, token: str) -> None:
        """The token has other secrets, so the verdicts of its deliveries may differ."""
        ...

    def forgotten(self, tokens: Collection[str]) -> None:
        """Nothing of these tokens is kept any more; their counts start at 1 again."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Observers:
    """All observers; `on_done` gets each delivery that was answered or broken off.

    `on_done` must not block.
    """

    observers: tuple[Observer, ...] = ()
    on_done: Callable[[ReceivedDelivery], None] | None = None
