"""The feed as server-sent events: rows of deliveries, how many were skipped, and when to begin
anew.

Events are `started` (begin with nothing; the receiver's settings), `skipped` (a count), `forgotten`
(tokens whose rows are to go), `deliveries` (a list of rows) and `judged` (tokens whose verdicts may
have changed). Each ends with the cursor as its id, so that a browser that lost its connection reads
on from there by `Last-Event-ID`.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import orjson
from aiohttp import web

from hookproof.receiver.dashboard.change_feed import Batch, Change, Cursor, Feed, Kind

# Changes in one batch, so that no page holds up the receiver for long.
MOST_ROWS: Final = 500
# Between two batches: a page need not change more often, and what is behind by then is skipped.
PAUSE_S: Final = 0.1
# A sign of life, by which a connection that is gone is noticed.
HEARTBEAT_S: Final = 15.0
MOST_PAGES: Final = 32

# Renders deliveries by token and sequence; the value says whether a delivery is new to the page.
Rows = Callable[[Mapping[tuple[str, int], bool]], list[dict[str, object]]]


@dataclass(slots=True, kw_only=True)
class Stream:
    """Serves the feed to pages; `rows` renders deliveries, `settings()` is what a page is told
    first.
    """

    feed: Feed
    rows: Rows
    settings: Callable[[], dict[str, object]]
    most_pages: int = MOST_PAGES
    heartbeat_s: float = HEARTBEAT_S
    pause_s: float = PAUSE_S
    _pages: int = field(default=0, init=False)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Send events until the page leaves or the receiver stops."""
        if self._pages >= self.most_pages:
            raise web.HTTPServiceUnavailable(
                text=f"{self.most_pages} pages are open already; close one"
            )
        response = web.StreamResponse(
            status=HTTPStatus.OK,
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"},
        )
        response.force_close()
        self._pages += 1
        try:
            await response.prepare(request)
            with suppress(ConnectionError):
                await self._send(response, Cursor.parse(request.headers.get("Last-Event-ID", "")))
        finally:
            self._pages -= 1
        return response

    async def _send(self, response: web.StreamResponse, cursor: Cursor | None) -> None:
        while not self.feed.closed:
            if cursor is None or not self.feed.knows(cursor):
                cursor = self.feed.beginning()
                await response.write(_event("started", self.settings(), cursor))
            if not await self.feed.wait(cursor, timeout_s=self.heartbeat_s):
                await response.write(b": alive\n\n")
            elif self.feed.knows(cursor):
                batch = self.feed.read(cursor, most=MOST_ROWS)
                cursor = batch.cursor
                await response.write(self._events(batch))
                await asyncio.sleep(self.pause_s)

    def _events(self, batch: Batch) -> bytes:
        told: list[tuple[str, object]] = (
            [("skipped", {"deliveries": batch.skipped})] if batch.skipped else []
        )
        if forgotten := _tokens(batch, Kind.FORGOTTEN):
            told.append(("forgotten", forgotten))
        if rows := self.rows(standing(batch.changes)):
            told.append(("deliveries", rows))
        if judged := _tokens(batch, Kind.JUDGED_ANEW):
            told.append(("judged", judged))
        return b"".join(_event(kind, data, batch.cursor) for kind, data in told)


def standing(changes: Sequence[Change]) -> dict[tuple[str, int], bool]:
    """The deliveries that the changes are about, each once, and whether the page does not know it
    yet.

    What its token forgot later on is left out, so that the page may be told of that first.
    """
    found: dict[tuple[str, int], bool] = {}
    for change in changes:
        key = (change.token, change.sequence)
        if change.kind is Kind.FORGOTTEN:
            found = {other: new for other, new in found.items() if other[0] != change.token}
        elif change.kind is not Kind.JUDGED_ANEW:
            found[key] = found.get(key, False) or change.kind is Kind.ARRIVED
    return found


def _tokens(batch: Batch, kind: Kind) -> list[str]:
    return list(dict.fromkeys(change.token for change in batch.changes if change.kind is kind))


def _event(kind: str, data: object, cursor: Cursor) -> bytes:
    return b"event: %s\nid: %s\ndata: %s\n\n" % (
        kind.encode(),
        str(cursor).encode(),
        orjson.dumps(data),
    )
