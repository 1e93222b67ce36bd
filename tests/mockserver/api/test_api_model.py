"""The server against a model of it: random sequences of all operations, compared after every step.

The model is a few lists and dictionaries; with the dialect it predicts every answer.
"""

import asyncio
import math
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
    EventCount,
    ExpiredSecrets,
    PortalEndpointsMeaning,
    Reach,
    SecretDisplay,
    SortKey,
    TimeUnit,
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
class SecretModel:
    """A secret, and when it has expired by the clock of the server."""

    value: str
    ends_at: float = math.inf


@dataclass
class EndpointModel:
    shown: dict[str, Any]
    secrets: list[SecretModel]
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
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.now = 1_700_000_000.0
        # Deliveries to receiver.invalid fail; that must not disable endpoints.
        context = run_server(
            self.dialect_name, change=never_deactivating, seed=1, clock=lambda: self.now
        )
        self.server: Server = self.wait(self.stack.enter_async_context(context))
        self.dialect = self.server.dialect

    def teardown(self) -> None:
        self.wait(self.stack.aclose())
        self.runner.close()

    def wait(self, awaitable: Awaitable[T]) -> T:
        async def await_it() -> T:
            return await awaitable

        return self.runner.run(await_it())

    def call(self, operation_id: str, **given: Any) -> ServerResponse:
        response = self.wait(self.server.call(operation_id, **given))
        assert self.server.is_success(operation_id, response), response
        return response

    def choose_uid(self, choice: int, uids: dict[str, Any]) -> str:
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
        alias = self.dialect.requests.app_id.value is AppIdMeaning.OWNER_ALIAS
        owner = owner or (app if alias else "")
        words = self.dialect.words
        status = words.endpoint_disabled.value if disabled else words.endpoint_active.value
        assert len(created["secrets"]) == 1
        self.model.endpoints[created["uid"]] = EndpointModel(
            shown={**given, "owner_id": owner or None, "status": status},
            secrets=[SecretModel(created["secrets"][0]["value"])],
        )
        self.now += 1

    @precondition(lambda self: self.model.endpoints)
    @rule(choice=strategies.integers(0, 1000))
    def get_endpoint(self, choice: int) -> None:
        uid = self.choose_uid(choice, self.model.endpoints)
        shown = self.call("getEndpoint", target=uid).data
        self.compare_endpoint(shown)

    def compare_endpoint(self, shown: dict[str, Any]) -> None:
        expected = self.model.endpoints[shown["uid"]]
        assert {name: shown.get(name) for name in expected.shown} == expected.shown
        counts = self.dialect.representation.event_count.value
        delivered = 0  # nothing is delivered here
        assert shown["events"] == (expected.events if counts is EventCount.REACHED else delivered)
        clear = self.dialect.representation.secrets_shown.value is SecretDisplay.ALWAYS
        secrets = self.secrets_shown(expected)
        masked = [self.dialect.representation.mask] * len(secrets)
        assert [item["value"] for item in shown["secrets"]] == (secrets if clear else masked)

    def secrets_shown(self, endpoint: EndpointModel) -> list[str]:
        listed = self.dialect.representation.expired_secrets.value is ExpiredSecrets.LISTED
        return [each.value for each in endpoint.secrets if listed or self.now < each.ends_at]

    @precondition(lambda self: self.model.endpoints)
    @rule(
        choice=strategies.integers(0, 1000),
        seed=strategies.integers(1, 10**6),
        expiration=strategies.integers(0, 999),
    )
    def roll(self, choice: int, seed: int, expiration: int) -> None:
        uid = self.choose_uid(choice, self.model.endpoints)
        secret = f"{self.dialect.signatures.secret.prefix}{seed:032d}"
        window = max(expiration, self.dialect.requests.expiration_minimum or 0)
        body = {"secret": secret, "expiration": window}
        rolled = self.call("expireEndpointSecret", target=uid, body=body).data
        endpoint = self.model.endpoints[uid]
        unit_s = TimeUnit(self.dialect.rolling.expiration_unit.value).in_seconds
        endpoint.secrets[-1].ends_at = self.now + window * unit_s
        endpoint.secrets.append(SecretModel(secret))
        expected = self.secrets_shown(endpoint)
        assert [item["value"] for item in rolled["secrets"]] == expected
        assert [bool(item.get("expires_at")) for item in rolled["secrets"]] == [True] * (
            len(expected) - 1
        ) + [False]

    @rule(name=texts, owner=owners)
    def create_portal_link(self, name: str, owner: str) -> None:
        link = self.wait(self.server.create_portal_link(name=name, owner_id=owner))
        self.model.links[link["uid"]] = {"name": name, "owner_id": owner or None, "listed": []}
        self.compare_whole_list("listPortalLinks")

    @precondition(lambda self: self.model.links)
    @rule(
        choice=strategies.integers(0, 1000),
        name=texts,
        owner=owners,
        listed=strategies.lists(strategies.integers(0, 1000), max_size=3),
    )
    def update_portal_link(self, choice: int, name: str, owner: str, listed: list[int]) -> None:
        uid = self.choose_uid(choice, self.model.links)
        uids = (
            [self.choose_uid(item, self.model.endpoints) for item in listed]
            if self.model.endpoints
            else []
        )
        body = {"name": name, "owner_id": owner, "endpoints": uids}
        added = self.dialect.requests.portal_endpoints.value is PortalEndpointsMeaning.ADDED
        self.model.links[uid] = {
            "name": name,
            "owner_id": owner or None,
            "listed": list(dict.fromkeys(uids)) if added else [],
        }
        self.compare_link(self.call("updatePortalLink", target=uid, body=body).data)
        self.compare_link(self.call("getPortalLink", target=uid).data)
        self.compare_whole_list("listPortalLinks")

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
        words = self.dialect.words
        given = {
            "name": name,
            "type": words.source_types[kind],
            "provider": words.source_providers[provider],
        }
        source = self.wait(self.server.create_source(**given))
        self.model.sources[source["uid"]] = given
        self.compare_whole_list("listSources")

    @rule(key=strategies.sampled_from(["", "k1", "k2", "k3"]))
    def broadcast(self, key: str) -> None:
        body = {"event_type": "t", "data": {"a": 1}, "idempotency_key": key}
        response = self.wait(self.server.call("createBroadcastEvent", body=body))
        assert not self.server.contract.response_problems("createBroadcastEvent", response.body)
        event = response.data
        if key and key in self.model.events:
            first = self.dialect.idempotency.duplicate.value is Duplicate.FIRST_EVENT
            assert response.status == self.dialect.idempotency.duplicate_status.value
            assert (event["uid"] == self.model.events[key]) is first
            assert event["is_duplicate_event"] is not first
            return
        delivery = self.dialect.delivery
        inactive = self.dialect.words.endpoint_disabled.value
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
        rules = self.dialect.paging
        matches = [
            uid
            for uid in self.expected_order("listPortalLinks")
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
        wanted = self.dialect.words.source_types[kind]
        matches = [
            uid
            for uid in self.expected_order("listSources")
            if self.model.sources[uid]["type"] == wanted
        ]
        self.compare_pages(
            "listSources", matches, per_page, ascending=ascending, query={"type": wanted}
        )

    def compare_whole_list(self, operation_id: str) -> None:
        """Check the paging laws over a whole list, in both directions."""
        self.compare_pages(
            operation_id, self.expected_order(operation_id), 5, ascending=True, query={}
        )

    def needs_owner(self) -> bool:
        return self.dialect.delivery.reach.value is Reach.OWNED_ENDPOINTS

    def expected_order(self, operation_id: str) -> list[str]:
        items = self.model.links if operation_id == "listPortalLinks" else self.model.sources
        if self.dialect.paging.sort_key.value is SortKey.CREATED_AT:
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
