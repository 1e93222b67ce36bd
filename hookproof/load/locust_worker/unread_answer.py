"""An answer of which little but the status counts, so that its body is neither decompressed nor
kept: what a target sends cannot exhaust the memory of a generator, nor its time.
"""

from typing import ClassVar, Final

from locust.contrib.fasthttp import FastResponse

# In bytes; whoever sends more of an answer has failed.
LONGEST_ANSWER: Final = 16 * 1024 * 1024
READ_AT_ONCE: Final = 65536
LONGEST_BEGINNING: Final = 8192
LONGEST_EVENT: Final = 1024 * 1024


class UnreadAnswer(FastResponse):
    """`beginning` is the body up to `longest_beginning`."""

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
