"""The server against a model of it: random sequences of all operations, compared after every step.

The model is a few lists and dictionaries; with the dialect it predicts every answer.
"""

import asyncio
import os
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings, strategies
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import (
    AppIdMeaning,
    Duplicate,
    PortalEndpointsMeaning,
    Reach,
    SecretDisplay,
    SortKey,
)
from tests.mockserver.running_server import Server, ServerResponse, run_server

T = TypeVar("T")

STEPS = 50
# HOOKPROOF_MODEL_RUNS=40 makes 2,000 steps.
RUNS = int(os.environ.get("HOOKPROOF_MODEL_RUNS", "10"))

texts = strategies.text(alphabet="abcXYZäß配 %_/.-", min_size=1, max_size=6)
owners = strategies.sampled_from(["own", "owner", "OWN", "an own", ""])
page_sizes = strategies.integers(1, 7)


def never_deactivating(dialect: Dialect) -> Dialect:
    return replace(dialect, retry=replace(dialect.retry, deactivate_after=Answer((0,))))


@dataclass
class EndpointModel:
    shown: dict[str, Any]
    secrets: list[str]
    events: int = 0


@dataclass
class ServerModel:
    endpoints: dict[str, EndpointModel] = field(default_factory=dict)
    links: dict[str, dict[str, Any]] = field(default_factory=dict)
    sources: dict[str, dict[str, Any]] = field(default_factory=dict)
    events: dict[str, str] = field(default_factory=dict)


class ModelComparison(RuleBasedStateMachine):
    """The rules of the state machine; a subclass chooses the dialect."""

    dialect_name = "reference"

    def __init__(self) -> None:
        super().__init__()
        self.model = ServerModel()
        self.loop = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.now = 1_700_000_000.0
        # Deliveries to receiver.invalid fail; that must not disable endpoints.
        context = run_server(
            self.dialect_name, change=never_deactivating, seed=1, clock=lambda: self.now
        )
        self.server: Server = self.wait(self.stack.enter_async_context(context))
        self.rules = self.server.dialect

    def teardown(self) -> None:
        self.wait(self.stack.aclose())
        self.loop.close()

    def wait(self, awaitable: Awaitable[T]) -> T:
        async def within() -> T:
            return await awaitable

        return self.loop.run(within())

    def call(self, operation_id: str, **given: Any) -> ServerResponse:
        answered = self.wait(self.server.call(operation_id, **given))
        assert self.server.sound(operation_id, answered), answered
        return answered

    def pick(self, choice: int, uids: dict[str, Any]) -> str:
        return list(uids)[choice % len(uids)]

    @rule(
        name=texts,
        owner=owners,
        app=owners,
        disabled=strategies.booleans(),
        limit=strategies.integers(1, 100),
    )
    def create_endpoint(self, name: str, owner: str, app: str, disabled: bool, limit: int) -> None:
        given = {"name": name, "url": f"https://receiver.invalid/{name}", "rate_limit": limit}
        body = {**given, "owner_id": owner, "appID": app, "is_disabled": disabled}
        created = self.call("createEndpoint", body=body).data
        alias = self.rules.requests.app_id.value is AppIdMeaning.OWNER_ALIAS
        owner = owner or (app if alias else "")
        words = self.rules.words
        status = words.endpoint_disabled.value if disabled else words.endpoint_active.value
        assert len(created["secrets"]) == 1
        self.model.endpoints[created["uid"]] = EndpointModel(
            shown={**given, "owner_id": owner or None, "status": status},
            secrets=[created["secrets"][0]["value"]],
        )
        self.now += 1

    @precondition(lambda self: self.model.endpoints)
    @rule(choice=strategies.integers(0, 1000))
    def get_endpoint(self, choice: int) -> None:
        uid = self.pick(choice, self.model.endpoints)
        shown = self.call("getEndpoint", target=uid).data
        self.compare_endpoint(shown)

    def compare_endpoint(self, shown: dict[str, Any]) -> None:
        expected = self.model.endpoints[shown["uid"]]
        assert {name: shown.get(name) for name in expected.shown} == expected.shown
        assert shown["events"] == expected.events
        clear = self.rules.representation.secrets_shown.value is SecretDisplay.ALWAYS
        masked = [self.rules.representation.mask] * len(expected.secrets)
        assert [item["value"] for item in shown["secrets"]] == (
            expected.secrets if clear else masked
        )

    @precondition(lambda self: self.model.endpoints)
    @rule(
        choice=strategies.integers(0, 1000),
        seed=strategies.integers(1, 10**6),
        expiration=strategies.integers(0, 999),
    )
    def roll(self, choice: int, seed: int, expiration: int) -> None:
        uid = self.pick(choice, self.model.endpoints)
        secret = f"{self.rules.signatures.secret.prefix}{seed:032d}"
        body = {"secret": secret, "expiration": expiration}
        rolled = self.call("expireEndpointSecret", target=uid, body=body).data
        expected = self.model.endpoints[uid].secrets
        expected.append(secret)
        assert [item["value"] for item in rolled["secrets"]] == expected
        assert [bool(item.get("expires_at")) for item in rolled["secrets"]] == [True] * (
            len(expected) - 1
        ) + [False]

    @rule(name=texts, owner=owners)
    def create_portal_link(self, name: str, owner: str) -> None:
        link = self.wait(self.server.portal_link(name=name, owner_id=owner))
        self.model.links[link["uid"]] = {"name": name, "owner_id": owner or None, "listed": []}
        self.pages_hold("listPortalLinks")

    @precondition(lambda self: self.model.links)
    @rule(
        choice=strategies.integers(0, 1000),
        name=texts,
        owner=owners,
        listed=strategies.lists(strategies.integers(0, 1000), max_size=3),
    )
    def update_portal_link(self, choice: int, name: str, owner: str, listed: list[int]) -> None:
        uid = self.pick(choice, self.model.links)
        uids = (
            [self.pick(item, self.model.endpoints) for item in listed]
            if self.model.endpoints
            else []
        )
        body = {"name": name, "owner_id": owner, "endpoints": uids}
        added = self.rules.requests.portal_endpoints.value is PortalEndpointsMeaning.ADDED
        self.model.links[uid] = {
            "name": name,
            "owner_id": owner or None,
            "listed": list(dict.fromkeys(uids)) if added else [],
        }
        self.compare_link(self.call("updatePortalLink", target=uid, body=body).data)
        self.compare_link(self.call("getPortalLink", target=uid).data)
        self.pages_hold("listPortalLinks")

    def compare_link(self, shown: dict[str, Any]) -> None:
        expected = self.model.links[shown["uid"]]
        assert shown["name"] == expected["name"]
        assert shown.get("owner_id") == expected["owner_id"]
        owner = expected["owner_id"]
        inherited = [
            uid
            for uid, item in self.model.endpoints.items()
            if owner and item.shown["owner_id"] == owner
        ]
        uids = list(dict.fromkeys([*inherited, *expected["listed"]]))
        assert [item["uid"] for item in shown["endpoints_metadata"]] == uids
        assert shown["endpoint_count"] == len(uids)
        for endpoint in shown["endpoints_metadata"]:
            self.compare_endpoint(endpoint)

    @rule(name=texts, kind=strategies.integers(0, 1), provider=strategies.integers(0, 2))
    def create_source(self, name: str, kind: int, provider: int) -> None:
        words = self.rules.words
        given = {
            "name": name,
            "type": words.source_types[kind],
            "provider": words.source_providers[provider],
        }
        source = self.wait(self.server.source(**given))
        self.model.sources[source["uid"]] = given
        self.pages_hold("listSources")

    @rule(key=strategies.sampled_from(["", "k1", "k2", "k3"]))
    def broadcast(self, key: str) -> None:
        body = {"event_type": "t", "data": {"a": 1}, "idempotency_key": key}
        answered = self.wait(self.server.call("createBroadcastEvent", body=body))
        assert not self.server.contract.response_problems("createBroadcastEvent", answered.body)
        event = answered.data
        if key and key in self.model.events:
            first = self.rules.idempotency.duplicate.value is Duplicate.FIRST_EVENT
            assert answered.status == self.rules.idempotency.duplicate_status.value
            assert (event["uid"] == self.model.events[key]) is first
            assert event["is_duplicate_event"] is not first
            return
        delivery = self.rules.delivery
        inactive = self.rules.words.endpoint_disabled.value
        reached = [
            uid
            for uid, item in self.model.endpoints.items()
            if (item.shown["status"] != inactive or delivery.disabled_receives.value)
            and (item.shown["owner_id"] or not self.needs_owner())
        ]
        assert event["endpoints"] == reached
        for uid in reached:
            self.model.endpoints[uid].events += 1
        if key:
            self.model.events[key] = event["uid"]

    @rule(per_page=page_sizes, ascending=strategies.booleans(), owner=owners, name=texts)
    def list_filtered(self, per_page: int, ascending: bool, owner: str, name: str) -> None:
        rules = self.rules.paging
        matches = [
            uid
            for uid in self.ordered("listPortalLinks")
            if (
                not owner
                or rules.owner_match.value.matches(owner, self.model.links[uid]["owner_id"] or "")
            )
            and rules.name_match.value.matches(name, self.model.links[uid]["name"])
        ]
        query = {rules.owner_filter: owner, rules.name_filter: name}
        self.compare_pages("listPortalLinks", matches, per_page, ascending=ascending, query=query)

    @rule(per_page=page_sizes, ascending=strategies.booleans(), kind=strategies.integers(0, 1))
    def list_sources_of_a_type(self, per_page: int, ascending: bool, kind: int) -> None:
        wanted = self.rules.words.source_types[kind]
        matches = [
            uid for uid in self.ordered("listSources") if self.model.sources[uid]["type"] == wanted
        ]
        self.compare_pages(
            "listSources", matches, per_page, ascending=ascending, query={"type": wanted}
        )

    def pages_hold(self, operation_id: str) -> None:
        """Check the paging laws over a whole list, in both directions."""
        self.compare_pages(operation_id, self.ordered(operation_id), 5, ascending=True, query={})

    def needs_owner(self) -> bool:
        return self.rules.delivery.reach.value is Reach.OWNED_ENDPOINTS

    def ordered(self, operation_id: str) -> list[str]:
        items = self.model.links if operation_id == "listPortalLinks" else self.model.sources
        if self.rules.paging.sort_key.value is SortKey.CREATED_AT:
            return list(items)
        return sorted(items, key=lambda uid: str(items[uid]["name"]))

    def compare_pages(
        self,
        operation_id: str,
        expected: list[str],
        per_page: int,
        *,
        ascending: bool,
        query: dict[str, str],
    ) -> None:
        expected = expected if ascending else expected[::-1]
        base = {name: text for name, text in query.items() if text}
        base |= {"perPage": str(per_page), "sort": "ASC" if ascending else "DESC"}
        cursor: dict[str, str] = {}
        for start in range(0, max(len(expected), 1), per_page):
            data = self.call(operation_id, query={**base, **cursor}).data
            assert [item["uid"] for item in data["content"]] == expected[start : start + per_page]
            pagination = data["pagination"]
            assert pagination["has_prev_page"] is (start > 0)
            assert pagination["has_next_page"] is (start + per_page < len(expected))
            if start > 0:
                back = {"direction": "prev", "prev_page_cursor": pagination["prev_page_cursor"]}
                earlier = self.call(operation_id, query={**base, **back}).data["content"]
                assert [item["uid"] for item in earlier] == expected[start - per_page : start]
            cursor = {
                "direction": "next",
                "next_page_cursor": pagination.get("next_page_cursor") or "",
            }


class ContraryModelComparison(ModelComparison):
    dialect_name = "contrary"


_settings = settings(
    max_examples=RUNS,
    stateful_step_count=STEPS,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
TestReference = ModelComparison.TestCase
TestReference.settings = _settings
TestContrary = ContraryModelComparison.TestCase
TestContrary.settings = _settings
