"""Counts TLS handshakes: a sender that does not trust the authority begins them and ends none.

Such a sender connects and leaves before a request, and no other part of the receiver sees it. So
does one that is so slow that its own time-out is over before it has sent anything.
"""

import ssl
import time
import weakref
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, kw_only=True)
class Handshakes:
    """How many handshakes senders began with a listener, and how many of them they completed.

    `first_at` is when the first one began, `unused_at` when the last connection ended on which no
    request was sent, both by time.monotonic; 0 if there was none.
    """

    begun: int = 0
    completed: int = 0
    first_at: float = 0.0
    unused_at: float = 0.0
    _unfinished: "weakref.WeakKeyDictionary[ssl.SSLObject, weakref.finalize[..., Any]]" = field(
        default_factory=weakref.WeakKeyDictionary
    )

    def count_beginnings(self, context: ssl.SSLContext) -> None:
        """Count the handshakes that begin in this context, beside what its callback does."""
        notify = context.sni_callback

        def begin(connection: ssl.SSLObject, name: str, used: ssl.SSLContext) -> int | None:
            self.begun += 1
            self.first_at = self.first_at or time.monotonic()
            self._unfinished[connection] = weakref.finalize(connection, self.note_unused)
            return None if notify is None else notify(connection, name, used)

        context.sni_callback = begin

    def complete(self, connection: ssl.SSLObject) -> None:
        """Count a handshake as completed."""
        self.completed += 1
        if unfinished := self._unfinished.pop(connection, None):
            unfinished.detach()

    def note_unused(self) -> None:
        """A connection has ended on which no request was sent."""
        self.unused_at = time.monotonic()


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyListener:
    """A listener whose TLS is wrong: its base URL, and the handshakes with it."""

    url: str
    handshakes: Handshakes
