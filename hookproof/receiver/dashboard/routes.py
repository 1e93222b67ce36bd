"""The live page's routes on the control listener: the page at `/`, the rest under `/live/`."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final, Protocol

import msgspec
import orjson
from aiohttp import web

from hookproof.receiver.clock import Clock
from hookproof.receiver.dashboard.change_feed import ChangeFeed
from hookproof.receiver.dashboard.curl_command import ReceiverAddresses
from hookproof.receiver.dashboard.delivery_rows import (
    SignatureStatuses,
    SignatureVerdict,
    delivery_detail,
    lost_row,
    row,
)
from hookproof.receiver.dashboard.event_stream import EventStream
from hookproof.receiver.dashboard.replay import Replayer
from hookproof.receiver.dashboard.replay_target import ReplayRefused
from hookproof.receiver.http.forwarded import forwarded_members
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.signatures.schemes.forwarded_url import ForwardedUrl

MEDIA_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
FIRST_PAGE: Final = "index.html"

# Everything is loaded from here, nothing is inline, and no text can become markup.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
SECURITY_HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def page_files() -> Mapping[str, bytes]:
    """The files of the page, by name."""
    folder = files(__package__).joinpath("page")
    return {
        file.name: file.read_bytes()
        for file in folder.iterdir()
        if file.name.rpartition(".")[2] in MEDIA_TYPES
    }


def file_response(content: Mapping[str, bytes], name: str) -> web.Response:
    """Serve one file of the page; raises HTTPNotFound."""
    if name not in content:
        raise web.HTTPNotFound
    media_type = MEDIA_TYPES[name.rpartition(".")[2]]
    return web.Response(
        body=content[name], headers={**SECURITY_HEADERS, "Content-Type": media_type}
    )


# Required for a replay: another page can send it only after a CORS preflight, which fails.
REPLAY_HEADER: Final = "X-Hookproof-Page"
# The most rows in one answer.
MOST_ROWS: Final = 1000


class DeliveryFinder(Protocol):
    """Where deliveries are looked up."""

    def find(self, token: str, sequence: int) -> ReceivedDelivery | None:
        """A delivery that is still kept, or None."""
        ...


class DeliveryPlace(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Identifies a delivery."""

    token: str
    sequence: Annotated[int, msgspec.Meta(ge=1)]


class ReplayRequest(DeliveryPlace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which delivery to send again, and where."""

    url: Annotated[str, msgspec.Meta(max_length=2000)]


class SequenceRange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Deliveries of a token, from sequence `first` to `last`, both included."""

    token: str
    first: Annotated[int, msgspec.Meta(ge=1)]
    last: Annotated[int, msgspec.Meta(ge=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """The live page over the deliveries of a `store`.

    With `forwarded` they come through a proxy that says who sent them.
    """

    store: DeliveryFinder
    feed: ChangeFeed
    statuses: SignatureStatuses
    replayer: Replayer
    clock: Clock
    public_url: str
    ca: Path | None
    forwarded: bool

    def join(self, application: web.Application) -> None:
        """Add the page to the control listener's application, whose middleware renders errors."""
        application.add_routes(self._routes())
        application.on_shutdown.append(self._end_streams)

    async def _end_streams(self, application: web.Application) -> None:
        self.feed.close()

    def _routes(self) -> Sequence[web.AbstractRouteDef]:
        content = page_files()
        stream = EventStream(feed=self.feed, rows=self._rows, settings=self._settings)

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
        """Rows of a token, with their current verdicts."""
        wanted = msgspec.convert(dict(request.query), SequenceRange, strict=False)
        rows = []
        for sequence in range(wanted.first, min(wanted.last, wanted.first + MOST_ROWS - 1) + 1):
            rows.append(self._row(wanted.token, sequence, new=False))
            # Let deliveries be received in between: a row may have to be read from disk.
            await asyncio.sleep(0)
        return _json({"rows": rows})

    async def delivery(self, request: web.Request) -> web.Response:
        """Everything that the page shows of one delivery."""
        delivery = self._requested_delivery(request)
        status, diagnosis = self.statuses.status(delivery), None
        if status.verdict is SignatureVerdict.UNVERIFIED:
            diagnosis = await asyncio.to_thread(self.statuses.explain, delivery)
        public, members = self.public_url, {}
        if self.forwarded:
            public = ForwardedUrl.of(delivery.headers).base(public) or public
            members = forwarded_members(delivery, self.public_url)
        addresses = ReceiverAddresses(public=public, control=f"http://{request.host}", ca=self.ca)
        return _json(delivery_detail(delivery, status, diagnosis, addresses) | members)

    async def body(self, request: web.Request) -> web.Response:
        """The raw body, as a download."""
        delivery = self._requested_delivery(request)
        return _download(delivery.body, f"delivery-{delivery.sequence}.body")

    async def request(self, request: web.Request) -> web.Response:
        """The whole request, head and body, as a download."""
        delivery = self._requested_delivery(request)
        return _download(raw_request(delivery), f"delivery-{delivery.sequence}.http")

    async def replay(self, request: web.Request) -> web.Response:
        """Send a delivery again to another URL, and return its answer."""
        if REPLAY_HEADER not in request.headers or request.content_type != "application/json":
            raise web.HTTPForbidden(
                text=f"a replay needs application/json and the header {REPLAY_HEADER}"
            )
        wanted = msgspec.json.decode(await request.read(), type=ReplayRequest)
        try:
            answer = await self.replayer.replay(self._find(wanted), wanted.url)
        except ReplayRefused as refused:
            raise web.HTTPUnprocessableEntity(text=str(refused)) from None
        return _json(answer.to_json())

    def _rows(self, wanted: Mapping[tuple[str, int], bool]) -> list[dict[str, object]]:
        return [self._row(token, sequence, new=new) for (token, sequence), new in wanted.items()]

    def _row(self, token: str, sequence: int, *, new: bool) -> dict[str, object]:
        delivery = self.store.find(token, sequence)
        return (
            row(delivery, self.statuses.status(delivery), new=new)
            if delivery
            else lost_row(token, sequence, new=new)
        )

    def _requested_delivery(self, request: web.Request) -> ReceivedDelivery:
        return self._find(msgspec.convert(dict(request.query), DeliveryPlace, strict=False))

    def _find(self, wanted: DeliveryPlace) -> ReceivedDelivery:
        delivery = self.store.find(wanted.token, wanted.sequence)
        if delivery is None:
            raise web.HTTPNotFound(text="this delivery is no longer kept; the inbox is bounded")
        return delivery


def raw_request(delivery: ReceivedDelivery) -> bytes:
    """A delivery as it was on the wire, except that the chunks of a chunked body are joined."""
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
