"""The change feed as server-sent events.

Events are `started` (start empty; the receiver's settings), `skipped` (a count), `forgotten`
(tokens whose rows are removed), `deliveries` (a list of rows) and `judged` (tokens whose verdicts
may have changed). Each has the cursor as its id, so a browser that lost its connection continues
from there by `Last-Event-ID`.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import orjson
from aiohttp import web

from hookproof.receiver.dashboard.change_feed import (
    Batch,
    ChangeFeed,
    ChangeKind,
    Cursor,
    FeedChange,
)

# Changes in one batch; limited, so that no page blocks the receiver for long.
MOST_ROWS: Final = 500
# The pause between two batches; a page need not change more often.
PAUSE_S: Final = 0.1
# A comment is sent this often, so that a lost connection is noticed.
HEARTBEAT_S: Final = 15.0
MOST_PAGES: Final = 32

# Renders deliveries by token and sequence; the value is whether the page has no row of it yet.
Rows = Callable[[Mapping[tuple[str, int], bool]], list[dict[str, object]]]


@dataclass(slots=True, kw_only=True)
class EventStream:
    """Serves the feed to pages.

    `rows` renders deliveries; `settings()` is sent to a page first.
    """

    feed: ChangeFeed
    rows: Rows
    settings: Callable[[], dict[str, object]]
    most_pages: int = MOST_PAGES
    heartbeat_s: float = HEARTBEAT_S
    pause_s: float = PAUSE_S
    _pages: int = field(default=0, init=False)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Send events until the page disconnects or the receiver stops."""
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
        events: list[tuple[str, object]] = (
            [("skipped", {"deliveries": batch.skipped})] if batch.skipped else []
        )
        if forgotten := _tokens(batch, ChangeKind.FORGOTTEN):
            events.append(("forgotten", forgotten))
        if rows := self.rows(changed_deliveries(batch.changes)):
            events.append(("deliveries", rows))
        if judged := _tokens(batch, ChangeKind.VERDICTS_CHANGED):
            events.append(("judged", judged))
        return b"".join(_event(kind, data, batch.cursor) for kind, data in events)


def changed_deliveries(changes: Sequence[FeedChange]) -> dict[tuple[str, int], bool]:
    """Map each delivery that the changes concern to whether it is new to the page.

    Deliveries that their token forgot later are left out: the page gets `forgotten` first.
    """
    deliveries: dict[tuple[str, int], bool] = {}
    for change in changes:
        key = (change.token, change.sequence)
        if change.kind is ChangeKind.FORGOTTEN:
            deliveries = {
                other: new for other, new in deliveries.items() if other[0] != change.token
            }
        elif change.kind is not ChangeKind.VERDICTS_CHANGED:
            deliveries[key] = deliveries.get(key, False) or change.kind is ChangeKind.ARRIVED
    return deliveries


def _tokens(batch: Batch, kind: ChangeKind) -> list[str]:
    return list(dict.fromkeys(change.token for change in batch.changes if change.kind is kind))


def _event(kind: str, data: object, cursor: Cursor) -> bytes:
    return b"event: %s\nid: %s\ndata: %s\n\n" % (
        kind.encode(),
        str(cursor).encode(),
        orjson.dumps(data),
    )
