"""The eight operations."""

import base64
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Protocol, TypeVar

from aiohttp import web
from pydantic import BaseModel, ValidationError

from tests.strangers.ledgerline.bugs import bug
from tests.strangers.ledgerline.deliveries import Engine, spend
from tests.strangers.ledgerline.records import (
    Endpoint,
    Event,
    Json,
    Link,
    Secret,
    Source,
    compact,
    now,
)
from tests.strangers.ledgerline.schemas import (
    Broadcast,
    LinkPage,
    LinkUpdate,
    NewEndpoint,
    Page,
    Roll,
    SourcePage,
)

LARGEST_BODY = 2 * 1024 * 1024

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Model = TypeVar("Model", bound=BaseModel)


class Numbered(Protocol):
    number: int


Listed = TypeVar("Listed", bound=Numbered)


class Refused(Exception):
    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(status)
        self.status = status
        self.detail = detail


def unprocessable(kind: str, place: Sequence[str], message: str, value: Any = None) -> Refused:
    return Refused(422, [{"type": kind, "loc": place, "msg": message, "input": value}])


def read(model: type[Model], place: str, values: Any) -> Model:
    try:
        return model.model_validate(values)
    except ValidationError as problems:
        raise Refused(
            422,
            [
                {
                    "type": problem["type"],
                    "loc": [place, *problem["loc"]],
                    "msg": problem["msg"],
                    "input": problem["input"],
                }
                for problem in problems.errors(include_url=False)
            ],
        ) from None


def finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number beyond what can be held")
    return number


def no_constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


async def body(request: web.Request, model: type[Model]) -> Model:
    received = bytearray()
    if (request.content_length or 0) > LARGEST_BODY:
        raise Refused(413, "Request body is too large")
    try:
        async for part in request.content.iter_any():
            received += part
            if len(received) > LARGEST_BODY:
                raise Refused(413, "Request body is too large")
    except ConnectionError:
        raise Refused(400, "There was an error parsing the body") from None
    if not received:
        raise unprocessable("missing", ["body"], "Field required")
    if not re.fullmatch(r"application/(.+\+)?json", request.content_type):
        raise unprocessable("model_attributes_type", ["body"], "Input should be a valid object")
    try:
        value = json.loads(received, parse_float=finite, parse_constant=no_constant)
        compact(value)
    except (ValueError, RecursionError) as problem:
        raise unprocessable("json_invalid", ["body"], f"JSON decode error: {problem}") from None
    if bug("nul_breaks") and b"\\u0000" in received:
        raise RuntimeError("a string literal cannot contain NUL (0x00) characters.")
    return read(model, "body", value)


def answer(data: Any, status: int = 200, message: str = "ok") -> web.Response:
    return web.json_response({"message": message, "status": True, "data": data}, status=status)


class Service:
    def __init__(self, keys: dict[str, str], ca: str | None) -> None:
        self.keys = keys
        self.ca = ca
        self.engine: Engine
        self.endpoints: dict[str, Endpoint] = {}
        self.events: dict[tuple[str, str], tuple[Event, list[Endpoint]]] = {}
        self.links: dict[str, Link] = {}
        self.sources: list[Source] = []
        for place, project in enumerate(keys):
            self.seed(project, 13 if place == 0 else 4)

    def seed(self, project: str, many: int) -> None:
        owners = ("acme-billing", "acme-ledger", "bluebird", "cobalt", "dune")
        verifiers = ("noop", "api_key", "basic_auth", "hmac")
        providers = (None, "github", "stripe")
        for place in range(many):
            at = now() - timedelta(hours=many - place)
            owner = owners[place % len(owners)]
            link = Link(project, f"Portal {place} of {owner}", owner, at)
            link.manage, link.updated, link.first_owner = place % 3 == 0, at, owner
            link.auth_type = "static_token" if place % 4 == 1 else "refresh_token"
            self.links[link.uid] = link
            kind = "pub_sub" if place % 4 == 3 else "http"
            provider = providers[place % 3] if kind == "http" else None
            verifier = verifiers[place % 4] if kind == "http" else "noop"
            self.sources.append(Source(project, f"Source {place}", kind, provider, verifier, at))

    def application(self) -> web.Application:
        app = web.Application(middlewares=[self.answered], client_max_size=0)
        router, base = app.router, "/api/v1/projects/{project}"
        router.add_post(f"{base}/endpoints", self.create_endpoint)
        router.add_get(f"{base}/endpoints/{{uid}}", self.get_endpoint, allow_head=False)
        router.add_put(f"{base}/endpoints/{{uid}}/expire_secret", self.roll)
        router.add_get(f"{base}/portal-links", self.list_links, allow_head=False)
        router.add_get(f"{base}/portal-links/{{uid}}", self.get_link, allow_head=False)
        router.add_put(f"{base}/portal-links/{{uid}}", self.update_link)
        router.add_get(f"{base}/sources", self.list_sources, allow_head=False)
        router.add_post(f"{base}/events/broadcast", self.broadcast)
        app.on_startup.append(self._make_engine)
        return app

    async def _make_engine(self, _: web.Application) -> None:
        self.engine = Engine(self.ca)

    @web.middleware
    async def answered(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Turn whatever goes wrong into an answer in FastAPI's form."""
        spend()
        try:
            if request.match_info.http_exception is None:
                self.authorize(request)
            return await handler(request)
        except Refused as refused:
            response = web.json_response({"detail": refused.detail}, status=refused.status)
            if refused.status == 413:
                response.force_close()
            return response
        except web.HTTPMethodNotAllowed as refused:
            headers = {"Allow": refused.headers["Allow"]}
            detail = {"detail": "Method Not Allowed"}
            return web.json_response(detail, status=405, headers=headers)
        except web.HTTPNotFound:
            return web.json_response({"detail": "Not Found"}, status=404)
        except RuntimeError:
            return web.Response(text="Internal Server Error", status=500)

    def authorize(self, request: web.Request) -> None:
        project = request.match_info["project"]
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not key:
            raise Refused(403, "Not authenticated")
        owned = [name for name, known in self.keys.items() if known == key]
        if bug("beginning_of_a_key") and not owned:
            owned = [name for name, known in self.keys.items() if key.startswith(known)]
        if not owned:
            raise Refused(401, "Invalid API key")
        request["project"] = project
        if owned != [project]:
            if bug("rolled_before_the_project") and request.method == "PUT":
                found = self.endpoints.get(request.match_info["uid"])
                if found is not None:
                    found.roll("sk_of_nobody", 0)
            raise Refused(404, "Project not found")

    def endpoint(self, request: web.Request) -> Endpoint:
        found = self.endpoints.get(request.match_info["uid"])
        foreign = found is not None and found.project != request["project"]
        if found is None or (foreign and not bug("endpoint_of_any_project")):
            raise Refused(404, "Endpoint not found")
        return found

    async def create_endpoint(self, request: web.Request) -> web.Response:
        sent = await body(request, NewEndpoint)
        pair = sent.mtls_client_cert
        if pair is not None:
            try:
                self.engine.with_certificate(pair.client_cert, pair.client_key.get_secret_value())
            except (OSError, ValueError):
                place = ["body", "mtls_client_cert"]
                raise unprocessable("value_error", place, "no certificate with its key") from None
        project = request["project"]
        endpoint = Endpoint(project, sent, [Secret(sent.secret or generated())])
        self.endpoints[endpoint.uid] = endpoint
        return answer(endpoint.shown(), 201, "Endpoint created")

    async def get_endpoint(self, request: web.Request) -> web.Response:
        return answer(self.endpoint(request).shown())

    async def roll(self, request: web.Request) -> web.Response:
        endpoint = self.endpoint(request)
        sent = await body(request, Roll)
        expiration = 3600 if sent.expiration is None else sent.expiration
        kept = [replace(secret) for secret in endpoint.secrets]
        endpoint.roll(sent.secret or generated(), expiration)
        shown = endpoint.shown()
        if bug("roll_not_saved"):
            endpoint.secrets = kept
        return answer(shown, message="Secret rolled")

    def members(self, link: Link) -> list[Endpoint]:
        owner = link.first_owner if bug("endpoints_of_the_first_owner") else link.owner
        return [
            endpoint
            for endpoint in self.endpoints.values()
            if endpoint.project == link.project
            and ((owner and endpoint.owner == owner) or endpoint.uid in link.added)
        ]

    def link(self, request: web.Request) -> Link:
        found = self.links.get(request.match_info["uid"])
        if found is None or found.project != request["project"]:
            raise Refused(404, "Portal link not found")
        return found

    async def get_link(self, request: web.Request) -> web.Response:
        link = self.link(request)
        return answer(link.shown(self.members(link)))

    async def update_link(self, request: web.Request) -> web.Response:
        link = self.link(request)
        sent = await body(request, LinkUpdate)
        if bug("left_out_is_default") or sent.can_manage_endpoint is not None:
            link.manage = bool(sent.can_manage_endpoint)
        link.name = sent.name or link.name
        link.owner = sent.owner_id if sent.owner_id is not None else link.owner
        link.auth_type = sent.auth_type or link.auth_type
        if sent.endpoints is not None:
            known = [self.endpoints.get(uid) for uid in sent.endpoints]
            link.added = [
                endpoint.uid for endpoint in known if endpoint and endpoint.project == link.project
            ]
        link.updated = now()
        if bug("created_with_each_update"):
            link.created = link.updated
        return answer(link.shown(self.members(link)), message="Portal link updated")

    async def list_links(self, request: web.Request) -> web.Response:
        page = self.query(request, LinkPage)

        def kept(link: Link) -> bool:
            return (not page.owner_id or link.owner == page.owner_id) and (
                not page.name or page.name.lower() in link.name.lower()
            )

        own = [
            link
            for link in self.links.values()
            if link.project == request["project"] or bug("links_of_all_projects")
        ]
        if not (bug("cursor_forgets_the_filter") and page.next_page_cursor):
            own = [link for link in own if kept(link)]
        found, pagination = paged(own, page, "pl")
        content = [link.shown(self.members(link)) for link in found]
        return answer({"content": content, "pagination": pagination})

    async def list_sources(self, request: web.Request) -> web.Response:
        page = self.query(request, SourcePage)
        own = [
            source
            for source in self.sources
            if source.project == request["project"]
            and page.type in (None, "", source.type)
            and page.provider in (None, "", source.provider)
        ]
        found, pagination = paged(own, page, "src")
        content: Any = [source.shown() for source in found]
        if bug("nothing_is_null") and not content:
            content = None
        return answer({"content": content, "pagination": pagination})

    def query(self, request: web.Request, model: type[Model]) -> Model:
        return read(model, "query", dict(request.query))

    async def broadcast(self, request: web.Request) -> web.Response:
        sent = await body(request, Broadcast)
        project, key = request["project"], sent.idempotency_key
        scope = "" if bug("idempotency_of_all_projects") else project
        if key and (scope, key) in self.events:
            first, reached = self.events[scope, key]
            return answer(first.shown(reached, duplicate=True), message="Event exists")
        headers, payload = sent.custom_headers, compact(sent.data)
        event = Event(project, sent.event_type, payload, headers, key, sent.acknowledged_at)
        reached = [
            endpoint
            for endpoint in self.endpoints.values()
            if endpoint.project == project and (endpoint.active or bug("disabled_receives"))
        ]
        for endpoint in reached:
            endpoint.events += 1
        if key:
            self.events[scope, key] = (event, reached)
        self.engine.start(event, reached)
        return answer(event.shown(reached, duplicate=False), 201, "Event created")


def generated() -> str:
    return f"lsk_{secrets.token_hex(20)}"


def cursor(kind: str, number: int) -> str:
    return base64.urlsafe_b64encode(compact({"at": {kind: number}}).encode()).decode()


def place_of(page: Page, kind: str, name: str) -> int | None:
    text = getattr(page, name)
    if not text:
        return None
    try:
        members = json.loads(base64.b64decode(text, altchars=b"-_", validate=True))
        return int(members["at"][kind])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise unprocessable("value_error", ["query", name], "Invalid cursor", text) from None


def paged(kept: Sequence[Listed], page: Page, kind: str) -> tuple[list[Listed], Json]:
    """Return a page of what is kept: ids give the order, and a cursor names the id at its edge."""
    ascending = page.sort == "ASC"
    rows = sorted(kept, key=lambda row: row.number, reverse=not ascending)
    backwards = page.direction == "prev"
    edge = place_of(page, kind, "prev_page_cursor" if backwards else "next_page_cursor")
    sign = 1 if ascending and not bug("cursor_knows_one_order") else -1
    first, last = 0, page.per_page
    if edge is not None:
        inclusive = bug("cursor_inclusive")
        passed = sum(
            sign * row.number < sign * edge
            or (not backwards and not inclusive and row.number == edge)
            for row in rows
        )
        first, last = passed, passed + page.per_page
        if backwards:
            first, last = max(0, passed - page.per_page), passed
    found = rows[first:last]
    if bug("previous_page_reversed") and backwards:
        found = found[::-1]
    further = last < len(rows)
    if bug("full_page_promises_more"):
        further = len(found) == page.per_page
    before = first > 0
    return found, {
        "has_next_page": further,
        "has_prev_page": before,
        "next_page_cursor": cursor(kind, found[-1].number) if further and found else None,
        "prev_page_cursor": cursor(kind, found[0].number) if before and found else None,
        "per_page": len(found) if bug("per_page_counts_rows") else page.per_page,
    }
