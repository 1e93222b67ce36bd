"""One conversation with a server, the same each time: every operation, with texts that tell.

What two servers with the same seed and clock answer and store differs only by their faults.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hookproof.mockserver.faults.registry import Fault
from tests.mockserver.running_server import Server, run_server

NOON = 1_772_582_400.5
TELLING = " Capitals, caf\u00e9, cafe\u0301, \U0001f600, \u4e2d; <b>&amp; \"'</b> 100%2525 &amp;lt;\t\u0007 "
LONG = TELLING + "\u4e2d and more " * 110 + "."
ASCII = 'A Header; with="quotes" & <signs> 100%2525' + " and more" * 130 + "."
URL = "https://receiver.invalid/Path/%2541?a=1&b=%26amp%3B" + "/long" * 230
# Attempts go on in the background, so that only what the requests have stored is compared.
STORED = {
    "endpoints": "*",
    "portal_links": "*",
    "events": "*",
    "deliveries": "id, event, endpoint",
    "tallies": "endpoint, events",
}

# What was called, the status, and the body of the answer, or the rows of a table.
Entry = tuple[str, int, Any]


async def transcript(
    faults: Sequence[Fault], folder: Path, dialect: str = "reference"
) -> list[Entry]:
    """What a server with these faults answers, and stores."""
    path = folder / "server.db"
    path.unlink(missing_ok=True)
    entries: list[Entry] = []
    async with run_server(
        dialect, faults=faults, path=str(path), seed=1, clock=lambda: NOON
    ) as server:
        await _Conversation(server, entries).run()
    return [*entries, *_stored(path)]


def _stored(path: Path) -> list[Entry]:
    database = sqlite3.connect(path)
    entries: list[Entry] = []
    for table, columns in STORED.items():
        rows = database.execute(f"SELECT {columns} FROM {table}").fetchall()
        entries.append((table, 0, [str(row) for row in rows]))
    database.close()
    return entries


class _Conversation:
    def __init__(self, server: Server, entries: list[Entry]) -> None:
        self._server = server
        self._entries = entries

    async def run(self) -> None:
        await self._seed()
        endpoints = await self._create_endpoints()
        await self._roll(endpoints)
        await self._update_portal_links()
        await self._list()
        await self._broadcast()
        await self._try_keys(endpoints[0])
        await self._ask_twice(endpoints[0])

    async def _call(self, operation: str, **options: Any) -> Any:
        """Call an operation; return the data of the answer, or an empty object."""
        response = await self._server.call(operation, **options)
        self._entries.append((operation, response.status, response.body))
        body = response.body
        return body.get("data", {}) if isinstance(body, dict) else {}

    async def _seed(self) -> None:
        server = self._server
        words = server.dialect.words
        self._links = [
            await server.create_portal_link(
                name=name, owner_id="owner", auth_type=words.portal_auth_types[1], endpoints=[]
            )
            for name in (LONG, "One", "one", "two 100%", "t_o", "t*o", "a portal link")
        ]
        self._sources = [await server.create_source(**self._source(number)) for number in range(5)]

    def _source(self, number: int) -> dict[str, Any]:
        words = self._server.dialect.words
        return {
            **{name: LONG for name in ("name", "header_function", "body_function")},
            "type": words.source_types[number % len(words.source_types)],
            "provider": words.source_providers[number % len(words.source_providers)],
            "is_disabled": number % 2 == 0,
            "forward_headers": [LONG, "X-One"],
            "custom_response": {"body": LONG, "content_type": ASCII},
            "verifier": {
                "type": words.verifier_types[0],
                "basic_auth": {"username": LONG, "password": TELLING},
            },
            "pub_sub": {
                "type": words.pub_sub_types[0],
                "workers": 1234,
                "google": {"service_account": [1, 25, 137], "project_id": LONG},
                "kafka": {"brokers": [LONG, "two"], "auth": {"tls": True, "username": LONG}},
                "amqp": {"host": LONG, "queue": TELLING, "port": "5672"},
                "sqs": {"queue_name": LONG, "access_key_id": TELLING},
            },
        }

    async def _create_endpoints(self) -> list[Any]:
        words = self._server.dialect.words
        rich = {
            **{name: LONG for name in ("name", "description", "support_email")},
            **{"owner_id": "owner", "secret": TELLING.strip(), "url": URL},
            **{"slack_webhook_url": URL, "content_type": ASCII, "advanced_signatures": True},
            **{"http_timeout": 1234, "rate_limit": 45678, "rate_limit_duration": 3333},
            "authentication": {
                "type": words.auth_oauth2,
                "oauth2": {
                    **{name: LONG for name in ("scope", "client_id", "audience", "issuer")},
                    **{"subject": TELLING, "client_secret": LONG, "url": URL},
                    "authentication_type": words.oauth2_shared_secret,
                    "field_mapping": {"access_token": LONG, "expires_in": "b", "token_type": "c"},
                    "signing_key": {"kid": LONG, "d": TELLING, "n": "n"},
                },
                "api_key": {"header_name": "X-Receiver-Key", "header_value": ASCII},
                "basic_auth": {"username": LONG, "password": TELLING},
            },
        }
        bodies: list[Mapping[str, Any]] = [
            {"is_disabled": True, "owner_id": "owner", "name": "One"},
            {"description": "", "support_email": "", "advanced_signatures": False},
            {"appID": LONG, "owner_id": ""},
            rich,
            *({"owner_id": "owner", "name": f"endpoint {number}"} for number in range(101)),
        ]
        created = [await self._create(body) for body in bodies]
        await self._create({"name": "in project two"}, project="two", key="key-two")
        await self._create({"name": "refused", "http_timeout": "seven"})
        return [created[3], created[0], created[1]]

    async def _create(self, fields: Mapping[str, Any], **options: Any) -> Any:
        body = self._server.endpoint_body(**{"owner_id": "another", **fields})
        return await self._call("createEndpoint", body=body, **options)

    async def _roll(self, endpoints: Sequence[Any]) -> None:
        rolled, other, _ = (endpoint.get("uid", "unknown") for endpoint in endpoints)
        await self._call("getEndpoint", target=rolled)
        body = {"secret": f"{TELLING}new", "expiration": 3661}
        await self._call("expireEndpointSecret", target=rolled, body=body)
        await self._call("expireEndpointSecret", target=rolled, body={})
        for uid in (rolled, other):
            await self._call("getEndpoint", target=uid)

    async def _update_portal_links(self) -> None:
        words = self._server.dialect.words
        uid, other = self._links[0]["uid"], self._links[1]["uid"]
        await self._call("getPortalLink", target=uid)
        bodies: list[dict[str, Any]] = [
            {"name": LONG, "owner_id": LONG, "can_manage_endpoint": True, "endpoints": []},
            {"name": "a name", "auth_type": words.portal_auth_types[0]},
            {"name": "One", "owner_id": "owner", "can_manage_endpoint": False},
            {"name": "", "auth_type": words.portal_auth_types[1], "can_manage_endpoint": True},
        ]
        for body in bodies:
            await self._call("updatePortalLink", target=uid, body=body)
            await self._call("getPortalLink", target=uid)
        listed = [
            (await self._create({"name": "listed", "owner_id": "third"})).get("uid", "unknown")
            for _ in range(2)
        ]
        await self._call("updatePortalLink", target=uid, body={"name": "x", "endpoints": listed})
        for target in (uid, other):
            await self._call("getPortalLink", target=target)

    async def _list(self) -> None:
        rules = self._server.dialect.paging
        owners = [
            {rules.owner_filter: value} for value in ("owner", "Owner", "own", "%", " owner ")
        ]
        names = [
            {rules.name_filter: value} for value in ("one", "One", "n", "_w%", "t_o", "t*", "two ")
        ]
        both = {rules.owner_filter: "owner", rules.name_filter: "one"}
        for query in ({}, {"sort": "ASC"}, *owners, *names, both):
            await self._walk("listPortalLinks", query)
        words = self._server.dialect.words
        types = [{"type": value} for value in (words.source_types[0], "%", "__%", "*", "h")]
        types += [{"type": words.source_types[0].upper()}, {"type": f" {words.source_types[0]} "}]
        providers = [
            {"provider": value.swapcase() if capitals else value}
            for capitals in (False, True)
            for value in (words.source_providers[0], words.source_providers[0][:3], "%", "_%", "*")
        ]
        providers.append({"provider": f" {words.source_providers[0]} "})
        both = {"type": words.source_types[0], "provider": words.source_providers[1]}
        for query in ({}, {"sort": "ASC"}, *types, *providers, both):
            await self._walk("listSources", query)

    async def _walk(self, operation: str, query: dict[str, str]) -> None:
        """Two pages forward, one page back."""
        size = {"perPage": "2"}
        page = await self._call(operation, query={**query, **size})
        await self._call(operation, query={**query, "perPage": "100"})
        for direction in ("next", "next", "prev"):
            cursor = (page.get("pagination") or {}).get(f"{direction}_page_cursor")
            if not isinstance(cursor, str) or not cursor:
                return
            onward = {f"{direction}_page_cursor": cursor, "direction": direction}
            page = await self._call(operation, query={**query, **size, **onward})

    async def _broadcast(self) -> None:
        data = {
            "texts": [LONG, ""],
            "numbers": [-7.25, 12345, 1234567],
            "flags": {"yes": True, "no": None},
            "deep": {"deeper": {"deepest": [{"end": 1}]}},
        }
        event = {
            **{"event_type": LONG, "idempotency_key": LONG, "data": data},
            "custom_headers": {"X-One": ASCII, "X-Two": "caf\u00e9"},
            "acknowledged_at": "2026-03-04T05:06:07.000008Z",
        }
        query = {"trace": "A <value> & more %2541"}
        for body in (event, event, {**event, "idempotency_key": LONG.swapcase()}):
            await self._call("createBroadcastEvent", body=body, query=query)
        for key in ({"idempotency_key": ""}, {}, {}):
            plain = {"event_type": "plain", "data": {}, **key}
            await self._call("createBroadcastEvent", body=plain)
        await self._call(
            "createBroadcastEvent", body=event, project="two", key="key-two", query=query
        )
        wrong = {**event, "event_type": 7, "idempotency_key": "refused"}
        await self._call("createBroadcastEvent", body={**wrong, "acknowledged_at": 8})
        await self._call(
            "createBroadcastEvent", body={"event_type": "x", "data": {}, "acknowledged_at": 8}
        )

    async def _try_keys(self, endpoint: Any) -> None:
        form = self._server.dialect.authentication.key_format
        right, longer = form.format(key="key-one"), form.format(key="key-one-and-more")
        attempts: list[dict[str, Any]] = [
            {"query": {"api_key": "key-one"}},
            {"headers": {"Cookie": "key=key-one"}},
            {"headers": {"X-Api-Key": "key-one"}},
            {"headers": {"Authorization": longer}},
            {"headers": {"Authorization": right[:-1]}},
            {"headers": {"Authorization": form.format(key="KEY-ONE")}},
            {"headers": {"Authorization": "key-one"}},
            {"headers": {"Authorization": form.format(key="key-two")}},
            {"headers": {"Authorization": form.format(key="never issued")}},
            {"in_body": {"api_key": "key-one"}},
            {},
        ]
        for operation, target, body in self._requests(endpoint):
            for attempt in attempts:
                options = dict(attempt)
                further = options.pop("in_body", {})
                sent = None if body is None else {**body, **further}
                await self._call(operation, target=target, body=sent, key=None, **options)

    def _requests(self, endpoint: Any) -> list[tuple[str, str, dict[str, Any] | None]]:
        uid, link = endpoint.get("uid", "unknown"), self._links[2]["uid"]
        return [
            ("createEndpoint", "", self._server.endpoint_body()),
            ("getEndpoint", uid, None),
            ("getEndpoint", "unknown", None),
            ("expireEndpointSecret", uid, {}),
            ("expireEndpointSecret", "unknown", {}),
            ("listPortalLinks", "", None),
            ("getPortalLink", link, None),
            ("getPortalLink", "unknown", None),
            ("updatePortalLink", link, {"name": "changed"}),
            ("updatePortalLink", "unknown", {"name": "changed"}),
            ("listSources", "", None),
            ("createBroadcastEvent", "", {"event_type": "x", "data": {}}),
        ]

    async def _ask_twice(self, endpoint: Any) -> None:
        """What other requests have changed in between."""
        uid, link = endpoint.get("uid", "unknown"), self._links[0]["uid"]
        await self._call("getEndpoint", target=uid)
        await self._call("getPortalLink", target=link)
        await self._call("listPortalLinks")
        await self._call("createBroadcastEvent", body={"event_type": "x", "data": {}})
        await self._call("updatePortalLink", target=link, body={"name": "y", "owner_id": "third"})
        await self._create({"name": "late", "owner_id": "third"})
        await self._call("getEndpoint", target=uid)
        await self._call("getPortalLink", target=link)
        await self._call("listPortalLinks")


def differences(clean: Sequence[Entry], faulty: Sequence[Entry]) -> list[str]:
    """Where two transcripts differ: the operation or table of each entry that does."""
    pairs = zip(clean, faulty, strict=False)
    found = [one[0] for one, other in pairs if one != other]
    return found if len(clean) == len(faulty) else [*found, "length"]


def server_errors(entries: Sequence[Entry]) -> list[str]:
    return [json.dumps(entry)[:300] for entry in entries if entry[1] >= 500]
