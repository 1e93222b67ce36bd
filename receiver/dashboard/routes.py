"""The live page's routes on the control listener: the page at `/`, and all that it asks for under
`/live/`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Final, Protocol

import msgspec
import orjson
from aiohttp import web

from hookproof.receiver.clock import Clock
from hookproof.receiver.dashboard.change_feed import Feed
from hookproof.receiver.dashboard.curl_command import Addresses
from hookproof.receiver.dashboard.delivery_rows import lost_row, opened, row
from hookproof.receiver.dashboard.event_stream import Stream
from hookproof.receiver.dashboard.page_files import (
    FIRST_PAGE,
    SECURITY_HEADERS,
    file_response,
    page_files,
)
from hookproof.receiver.dashboard.replay import Replayer
from hookproof.receiver.dashboard.replay_target import ReplayRefused
from hookproof.receiver.dashboard.signature_status import Standings, Verdict
from hookproof.receiver.inbox.delivery import ReceivedDelivery

# Asked for with a replay: no other page can send it without the browser asking first, and it gets
# no answer.
REPLAY_HEADER: Final = "X-Hookproof-Page"
# Rows in one answer.
MOST_ROWS: Final = 1000


class Kept(Protocol):
    """Where deliveries are looked up."""

    def find(self, token: str, sequence: int) -> ReceivedDelivery | None:
        """A delivery that is still kept; None for any other."""
        ...


class Place(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which delivery is meant."""

    token: str
    sequence: Annotated[int, msgspec.Meta(ge=1)]


class ReplayRequest(Place, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which delivery to send again, and where."""

    url: Annotated[str, msgspec.Meta(max_length=2000)]


class Range(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Deliveries of a token, from sequence `first` to `last`."""

    token: str
    first: Annotated[int, msgspec.Meta(ge=1)]
    last: Annotated[int, msgspec.Meta(ge=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """The live page, over the deliveries that are `kept`."""

    kept: Kept
    feed: Feed
    standings: Standings
    replayer: Replayer
    clock: Clock
    public_url: str
    ca: Path | None

    def join(self, application: web.Application) -> None:
        """Add the page to the control listener's application, whose middleware tells every error
        that is raised.
        """
        application.add_routes(self._routes())
        application.on_shutdown.append(self._end_streams)

    async def _end_streams(self, application: web.Application) -> None:
        self.feed.close()

    def _routes(self) -> Sequence[web.AbstractRouteDef]:
        content = page_files()
        stream = Stream(feed=self.feed, rows=self._rows, settings=self._settings)

        async def page(request: web.Request) -> web.Response:
            return file_response(content, request.match_info.get("name", FIRST_PAGE))

        return [
            web.get("/", page),
            web.get("/live/page/{name}", page),
            web.get("/live/events", stream.serve, allow_head=False),
            web.get("/live/rows", self.range_of_rows),
            web.get("/live/delivery", self.delivery),
            web.get("/live/body", self.body),
            web.get("/live/request", self.request),
            web.post("/live/replay", self.replay),
        ]

    def _settings(self) -> dict[str, object]:
        return {"receiver": self.public_url, "now": self.clock.wall()}

    async def range_of_rows(self, request: web.Request) -> web.Response:
        """Rows of a token, judged now."""
        wanted = msgspec.convert(dict(request.query), Range, strict=False)
        rows = []
        for sequence in range(wanted.first, min(wanted.last, wanted.first + MOST_ROWS - 1) + 1):
            rows.append(self._row(wanted.token, sequence, new=False))
            # Deliveries come first: a row may have to be read from disk.
            await asyncio.sleep(0)
        return _json({"rows": rows})

    async def delivery(self, request: web.Request) -> web.Response:
        """All that the page shows of one delivery."""
        found = self._asked_for(request)
        standing, bisection = self.standings.standing(found), None
        if standing.verdict is Verdict.UNVERIFIED:
            bisection = await asyncio.to_thread(self.standings.explain, found)
        addresses = Addresses(public=self.public_url, control=f"http://{request.host}", ca=self.ca)
        return _json(opened(found, standing, bisection, addresses))

    async def body(self, request: web.Request) -> web.Response:
        """The raw body, to be saved."""
        found = self._asked_for(request)
        return _download(found.body, f"delivery-{found.sequence}.body")

    async def request(self, request: web.Request) -> web.Response:
        """The whole request as it was sent, its head and body, to be saved."""
        found = self._asked_for(request)
        return _download(raw_request(found), f"delivery-{found.sequence}.http")

    async def replay(self, request: web.Request) -> web.Response:
        """Send a delivery again to another URL, and what was answered."""
        if REPLAY_HEADER not in request.headers or request.content_type != "application/json":
            raise web.HTTPForbidden(
                text=f"a replay is asked for as application/json with the header {REPLAY_HEADER}"
            )
        wanted = msgspec.json.decode(await request.read(), type=ReplayRequest)
        try:
            answer = await self.replayer.replay(self._kept(wanted), wanted.url)
        except ReplayRefused as refused:
            raise web.HTTPUnprocessableEntity(text=str(refused)) from None
        return _json(answer.to_json())

    def _rows(self, wanted: Mapping[tuple[str, int], bool]) -> list[dict[str, object]]:
        return [self._row(token, sequence, new=new) for (token, sequence), new in wanted.items()]

    def _row(self, token: str, sequence: int, *, new: bool) -> dict[str, object]:
        found = self.kept.find(token, sequence)
        return (
            row(found, self.standings.standing(found), new=new)
            if found
            else lost_row(token, sequence, new=new)
        )

    def _asked_for(self, request: web.Request) -> ReceivedDelivery:
        return self._kept(msgspec.convert(dict(request.query), Place, strict=False))

    def _kept(self, place: Place) -> ReceivedDelivery:
        found = self.kept.find(place.token, place.sequence)
        if found is None:
            raise web.HTTPNotFound(text="this delivery is no longer kept; the inbox is bounded")
        return found


def raw_request(delivery: ReceivedDelivery) -> bytes:
    """A delivery as it stood on the wire, but for the chunks of a chunked body, which are joined."""
    line = f"{delivery.method} {delivery.path} HTTP/1.1\r\n".encode("utf-8", "surrogateescape")
    headers = "".join(f"{name}: {value}\r\n" for name, value in delivery.headers).encode("latin-1")
    return line + headers + b"\r\n" + delivery.body


def _download(content: bytes, name: str) -> web.Response:
    headers = {**SECURITY_HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}
    return web.Response(body=content, content_type="application/octet-stream", headers=headers)


def _json(value: object) -> web.Response:
    body = orjson.dumps(value)
    return web.Response(
        status=HTTPStatus.OK, body=body, content_type="application/json", headers=SECURITY_HEADERS
    )
