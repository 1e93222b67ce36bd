"""A conversation with a server, the same each time: operations, with texts that tell.

What two servers with the same seed and clock answer and store differs only by their faults.
"""

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hookproof.mockserver.faults.registry import Fault
from hookproof.spec.dialect.model import Dialect
from tests.mockserver.running_server import Server, run_server

NOON: Final = 1_772_582_400.5
TELLING: Final = (
    " Capitals, caf\u00e9, cafe\u0301, \U0001f600, \u4e2d; <b>&amp; \"'</b> 100%2525 &amp;lt;"
    "\t\u0007 "
)
LONG: Final = TELLING + "\u4e2d and more " * 110 + "."
ASCII: Final = 'A Header; with="quotes" & <signs> 100%2525' + " and more" * 130 + "."
URL: Final = "https://receiver.invalid/Path/%2541?a=1&b=%26amp%3B" + "/long" * 230
# Attempts go on in the background, so that only what the requests have stored is compared.
STORED: Final = (
    ("endpoints", "SELECT * FROM endpoints"),
    ("portal_links", "SELECT * FROM portal_links"),
    ("events", "SELECT * FROM events"),
    ("deliveries", "SELECT id, event, endpoint FROM deliveries"),
    ("tallies", "SELECT endpoint, events FROM tallies"),
)
MANY: Final = 101

# What was called, the status, and the body of the answer as JSON, or the rows of a table.
Entry = tuple[str, int, str]


async def transcript(
    faults: Sequence[Fault],
    folder: Path,
    parts: Collection[str],
    *,
    change: Callable[[Dialect], Dialect] = lambda dialect: dialect,
) -> list[Entry]:
    """What a server with these faults answers and stores in some parts of the conversation."""
    path = folder / "server.db"
    path.unlink(missing_ok=True)
    entries: list[Entry] = []
    async with run_server(
        change=change, faults=faults, path=str(path), seed=1, clock=lambda: NOON
    ) as server:
        await _Conversation(server, entries).run(parts)
    return [*entries, *_stored(path)]


def differences(clean: Sequence[Entry], faulty: Sequence[Entry]) -> list[str]:
    """The operation or table of each entry that differs."""
    found = [one[0] for one, other in zip(clean, faulty, strict=False) if one != other]
    return found if len(clean) == len(faulty) else [*found, "number of answers"]


def server_errors(entries: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry[1] >= 500]


def _stored(path: Path) -> list[Entry]:
    database = sqlite3.connect(path)
    entries = [(table, 0, str(database.execute(rows).fetchall())) for table, rows in STORED]
    database.close()
    return entries


class _Conversation:
    def __init__(self, server: Server, entries: list[Entry]) -> None:
        self._server = server
        self._entries = entries
        self._links: list[str] = []
        self._rich = "unknown"

    async def run(self, parts: Collection[str]) -> None:
        await self._seed()
        for part, run in (
            ("endpoints", self._create_endpoints),
            ("roll", self._roll),
            ("links", self._update_portal_links),
            ("lists", self._list),
            ("events", self._broadcast),
            ("keys", self._try_keys),
            ("many", self._create_many),
        ):
            if part in parts:
                await run()

    async def _call(self, operation: str, **options: Any) -> Any:
        """Call an operation; return the data of the answer, or an empty object."""
        response = await self._server.call(operation, **options)
        self._entries.append((operation, response.status, json.dumps(response.body)))
        body = response.body
        return body.get("data", {}) if isinstance(body, dict) else {}

    async def _create(self, fields: Mapping[str, Any], **options: Any) -> str:
        """Create an endpoint; return what is shown as its uid."""
        body = self._server.endpoint_body(**{"owner_id": "another", **fields})
        data = await self._call("createEndpoint", body=body, **options)
        uid = data.get("uid")
        return uid if isinstance(uid, str) and uid else "unknown"

    async def _seed(self) -> None:
        server = self._server
        words = server.dialect.words
        owners = ("owner", "Owner", "own", "owner", "two", "owner", "last")
        names = (LONG, "One", "one", "two 100%", "t_o", "t*o", "a portal link, one")
        for name, owner in zip(names, owners, strict=True):
            link = await server.create_portal_link(
                name=name, owner_id=owner, auth_type=words.portal_auth_types[-1]
            )
            self._links.append(link["uid"])
        for number in range(5):
            await server.create_source(
                name=LONG,
                type=words.source_types[number % len(words.source_types)],
                provider=words.source_providers[number % len(words.source_providers)],
                forward_headers=["X-One", "X-Two"],
                pub_sub={"type": words.pub_sub_types[0], "workers": 1234},
            )

    async def _create_endpoints(self) -> None:
        words = self._server.dialect.words
        rich: dict[str, Any] = {
            **dict.fromkeys(("name", "description", "support_email"), LONG),
            **dict.fromkeys(("url", "slack_webhook_url"), URL),
            "owner_id": "owner",
            "content_type": ASCII,
            "advanced_signatures": True,
            "http_timeout": 1234,
            "rate_limit": 45678,
            "rate_limit_duration": 3333,
            "authentication": {
                "type": words.auth_api_key,
                "api_key": {"header_name": "X-Receiver-Key", "header_value": ASCII},
                "basic_auth": {"username": LONG, "password": TELLING},
            },
        }
        await self._create({"name": "in project two"}, project="two", key="key-two")
        await self._create({"is_disabled": True, "owner_id": "owner"})
        await self._create({"description": "", "support_email": ""})
        await self._create({"owner_id": "owner", "name": "before"})
        self._rich = await self._create(rich)
        await self._create({"name": "refused", "http_timeout": "seven"})

    async def _roll(self) -> None:
        uid = self._rich
        await self._call("getEndpoint", target=uid)
        await self._call("expireEndpointSecret", target=uid, body={"expiration": 3661})
        await self._call("getEndpoint", target=uid)

    async def _update_portal_links(self) -> None:
        words = self._server.dialect.words
        uid = self._links[0]
        for body in (
            {"name": LONG, "owner_id": "third", "can_manage_endpoint": True},
            {"name": "a name", "auth_type": words.portal_auth_types[0]},
            {"name": "One", "owner_id": "owner", "can_manage_endpoint": False},
            {"name": "Two", "can_manage_endpoint": True},
        ):
            await self._call("updatePortalLink", target=uid, body=body)
            await self._call("getPortalLink", target=uid)
        for _ in range(2):
            await self._create({"owner_id": "owner", "name": "late"})
            await self._call("getPortalLink", target=uid)
        await self._call("getPortalLink", target=self._links[1])

    async def _list(self) -> None:
        rules, words = self._server.dialect.paging, self._server.dialect.words
        for value in ("owner", "Owner", "own", "%", "o_n%", "o_ner", "o*", " owner "):
            await self._walk("listPortalLinks", {rules.owner_filter: value})
        for value in ("one", "One", "ne", "T"):
            await self._walk("listPortalLinks", {rules.name_filter: value})
        both = {rules.owner_filter: "owner", rules.name_filter: "one"}
        for query in ({}, {"sort": "ASC"}, both):
            await self._walk("listPortalLinks", query)
        for query in ({}, {"sort": "ASC"}, {"type": words.source_types[0]}):
            await self._walk("listSources", query)

    async def _walk(self, operation: str, query: dict[str, str]) -> None:
        """Three pages forward, one page back."""
        size = {"perPage": "2"}
        page = await self._call(operation, query={**query, **size})
        for direction in ("next", "next", "prev"):
            cursor = (page.get("pagination") or {}).get(f"{direction}_page_cursor")
            if not isinstance(cursor, str) or not cursor:
                return
            onward = {f"{direction}_page_cursor": cursor, "direction": direction}
            page = await self._call(operation, query={**query, **size, **onward})

    async def _broadcast(self) -> None:
        event: dict[str, Any] = {
            "event_type": LONG,
            "idempotency_key": LONG,
            "data": {
                "texts": [LONG, ""],
                "numbers": [-7.25, 12345, 1234567],
                "flags": {"yes": True, "no": None},
                "deep": {"deeper": {"deepest": [{"end": 1}]}},
            },
            "custom_headers": {"X-One": ASCII, "X-Two": "b"},
        }
        for key in (LONG, LONG, LONG.swapcase(), ""):
            await self._call("createBroadcastEvent", body={**event, "idempotency_key": key})
        await self._call("createBroadcastEvent", body={"event_type": "plain", "data": {}})
        await self._call("createBroadcastEvent", body={**event, "acknowledged_at": 7})

    async def _try_keys(self) -> None:
        form = self._server.dialect.authentication.key_format
        headers = [
            {"Cookie": "key=key-one"},
            {"X-Api-Key": "key-one"},
            {"Authorization": form.format(key="key-one-and-more")},
            {"Authorization": form.format(key="key-one") + " "},
            {"Authorization": form.format(key="key-on")},
            {"Authorization": form.format(key="KEY-ONE")},
            {"Authorization": "key-one"},
            {"Authorization": form.format(key="key-two")},
            {"Authorization": form.format(key="never issued")},
            {},
        ]
        for target in (self._rich, "unknown"):
            for given in headers:
                await self._call("getEndpoint", target=target, key=None, headers=given)
        await self._call("getEndpoint", target=self._rich, key=None, query={"key": "key-one"})
        await self._create({"api_key": "key-one"}, key=None)

    async def _create_many(self) -> None:
        for number in range(MANY):
            await self._create({"owner_id": "two", "name": f"endpoint {number}"})
        await self._call("getPortalLink", target=self._links[4])
        await self._call("createBroadcastEvent", body={"event_type": "x", "data": {}})
