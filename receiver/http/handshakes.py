"""Counts TLS handshakes: a sender that does not trust the authority begins them and ends none.

Such a sender connects and leaves before a request, and no other part of the receiver sees it.
"""

import ssl
import time
from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Handshakes:
    """How many handshakes senders began with a listener, and how many of them they completed.

    `first_at` is when the first one began, by time.monotonic; 0 if there was none.
    """

    begun: int = 0
    completed: int = 0
    first_at: float = 0.0

    def count_beginnings(self, context: ssl.SSLContext) -> None:
        """Count the handshakes that begin in this context, beside what its callback does."""
        notify = context.sni_callback

        def begin(connection: ssl.SSLObject, name: str, used: ssl.SSLContext) -> int | None:
            self.begun += 1
            self.first_at = self.first_at or time.monotonic()
            return None if notify is None else notify(connection, name, used)

        context.sni_callback = begin


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyListener:
    """A listener whose TLS is wrong: its base URL, and the handshakes with it."""

    url: str
    handshakes: Handshakes
