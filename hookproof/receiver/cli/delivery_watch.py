"""What `hookproof receive` reports of each delivery, and when it stops.

Deliveries are judged in a thread, so that diagnosing a bad signature does not delay the ones that
arrive meanwhile. What senders write is untrusted: control characters never reach the terminal.
"""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import Final, Protocol

from hookproof.process.terminal_text import printable as escaped
from hookproof.process.written_file import FileNotWritten, write_whole
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.signatures.judgement import SignatureJudge, SignatureJudgement
from hookproof.receiver.signatures.schemes.forwarded_url import forwarded_line
from hookproof.receiver.signatures.schemes.request_parts import RequestLine


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLines:
    """Appends deliveries to the file at `path`, of which `stream` is open for appending."""

    path: Path
    stream: FileIO

    def append(self, content: Mapping[str, object]) -> None:
        """Append a line; raises FileNotWritten."""
        try:
            write_whole(self.stream, f"{json.dumps(content)}\n".encode())
        except OSError as error:
            raise FileNotWritten(self.path, error) from None


# How many deliveries may wait to be reported; further ones are kept but not reported.
MOST_WAITING: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedDelivery:
    """A delivery that was answered or broken off, and its judgement if it is verified."""

    delivery: ReceivedDelivery
    judgement: SignatureJudgement | None

    def to_json(self) -> dict[str, object]:
        """The delivery as a line of `--jsonl`, with its judgement under `judgement`."""
        return self.delivery.to_json() | {
            "judgement": self.judgement.to_json() if self.judgement else None
        }


class Display(Protocol):
    """Shows deliveries to a person."""

    def show(self, judged_delivery: JudgedDelivery) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """What to do with each delivery that `only` is true for, and when to stop.

    `expect` deliveries are waited for, for at most `timeout_s` seconds, None: indefinitely. With
    `judge` None deliveries are not verified. `further_members` are what a line has besides the
    delivery and its judgement. `public_url` is the base of the URLs that senders call, by default
    as they say it; with `forwarded` a proxy is known to say them.
    """

    judge: SignatureJudge | None = None
    only: Callable[[ReceivedDelivery], bool] | None = None
    further_members: Callable[[ReceivedDelivery], Mapping[str, object]] | None = None
    lines: JsonLines | None = None
    expect: int | None = None
    timeout_s: float | None = None
    public_url: str | None = None
    forwarded: bool = False


class DeliveryWatch:
    """Reports deliveries one after the other.

    All methods are called within the event loop; `add` may be called at any rate.
    """

    def __init__(
        self, options: WatchOptions, display: Display, write_line: Callable[[str], None]
    ) -> None:
        self._options = options
        self._display = display
        self._write_line = write_line
        self._waiting: deque[ReceivedDelivery] = deque()
        self._changed = asyncio.Event()
        self._stopped = False
        self._unreported = 0
        self.count = 0
        self.unverified = 0

    def add(self, delivery: ReceivedDelivery) -> None:
        """Queue a delivery that was answered or broken off."""
        if len(self._waiting) < MOST_WAITING:
            self._waiting.append(delivery)
        else:
            self._unreported += 1
        self._changed.set()

    def stop(self) -> None:
        """End `report` once everything queued so far is reported."""
        self._stopped = True
        self._changed.set()

    async def report(self) -> int:
        """Report deliveries until the expected number, the timeout or `stop`.

        Returns the exit code.
        """
        if self._options.timeout_s is not None:
            asyncio.get_running_loop().call_later(self._options.timeout_s, self.stop)
        while self._options.expect is None or self.count < self._options.expect:
            if self._waiting:
                await self._report_delivery(self._waiting.popleft())
            elif self._stopped:
                break
            else:
                self._changed.clear()
                await self._changed.wait()
        return self.exit_code()

    def exit_code(self) -> int:
        """0 if the expected deliveries came and none failed verification, otherwise 1.

        In that case a line says why.
        """
        if self._options.expect is None:
            return 0
        missing = self._options.expect - self.count
        if missing > 0:
            self._write_line(f"{self.count} of {self._options.expect} deliveries came")
        if self.unverified:
            self._write_line(f"{self.unverified} of {self.count} deliveries are not verified")
        return 1 if missing > 0 or self.unverified else 0

    async def _report_delivery(self, delivery: ReceivedDelivery) -> None:
        if self._options.only is not None and not self._options.only(delivery):
            return
        judge, judgement = self._options.judge, None
        if judge is not None:
            judgement = await asyncio.to_thread(
                judge.judge,
                delivery.headers,
                delivery.body,
                delivery.arrived_at,
                _request_line(delivery, self._options),
            )
        self.count += 1
        if judgement is not None and not judgement.verified:
            self.unverified += 1
        judged_delivery = JudgedDelivery(delivery=delivery, judgement=judgement)
        if self._options.lines is not None:
            line = judged_delivery.to_json()
            if self._options.further_members is not None:
                line |= self._options.further_members(delivery)
            self._options.lines.append(line)
        self._display.show(judged_delivery)
        if self._unreported:
            self._write_line(
                f"{self._unreported} deliveries came too fast to be reported; the inbox has them"
            )
            self._unreported = 0


def _request_line(delivery: ReceivedDelivery, options: WatchOptions) -> RequestLine:
    """The method, and the URL that the sender called, for schemes that sign them."""
    own = f"http{'s' if delivery.tls else ''}://{delivery.header('host') or ''}"
    url = f"{options.public_url or own}{delivery.path}"
    line = RequestLine(method=delivery.method, url=url)
    return forwarded_line(line, delivery.headers) if options.forwarded else line


# The most characters shown of a text of a sender.
LONGEST: Final = 80


def delivery_line(judged_delivery: JudgedDelivery) -> str:
    """One delivery in one line, with its verdict if it was verified."""
    time, token, number, request, size, answer, verdict = cells(judged_delivery)
    line = f"{time} {token} #{number} {request} {size} bytes, {answer}"
    return f"{line}, {verdict}" if verdict else line


def cells(judged_delivery: JudgedDelivery) -> tuple[str, ...]:
    """The columns of one delivery, safe to print."""
    delivery = judged_delivery.delivery
    arrived = datetime.fromtimestamp(delivery.arrived_at, UTC)
    verdict = ""
    if judged_delivery.judgement is not None:
        verdict = (
            f"verified: {judged_delivery.judgement.sentence}"
            if judged_delivery.judgement.verified
            else _unverified_text(judged_delivery)
        )
    return (
        f"{arrived:%H:%M:%S}.{arrived.microsecond // 1000:03d}",
        printable(delivery.token),
        str(delivery.sequence),
        f"{printable(delivery.method)} {printable(delivery.path)}",
        str(len(delivery.body)),
        _answer_text(delivery),
        verdict,
    )


def _answer_text(delivery: ReceivedDelivery) -> str:
    if delivery.status is not None:
        return f"answered {delivery.status}"
    ended = delivery.closed_monotonic is not None
    return "broke off before its answer" if ended else "not answered yet"


def _unverified_text(judged_delivery: JudgedDelivery) -> str:
    judgement = judged_delivery.judgement
    assert judgement is not None
    assert judgement.diagnosis is not None
    return f"not verified: {judgement.reason}: {printable(judgement.cause, 400)}"


def printable(text: str, longest: int = LONGEST) -> str:
    """At most `longest` characters of a text; unprintable ones are written as escapes."""
    shown = escaped(text[: longest + 1])
    return shown if len(shown) <= longest else shown[: longest - 1] + "\u2026"
