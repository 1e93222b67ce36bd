"""Broadcast events (sections 2.8 and 4.8), under every shipped dialect."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from hookproof.spec.dialect.vocabulary import (
    Acceptance,
    Duplicate,
    EventApplication,
    EventEcho,
    EventQuery,
    EventRaw,
    EventSource,
    OnInput,
    Reach,
)
from tests.mockserver.running_server import Server, ServerResponse, every_dialect, run_server


async def wait_until_endpoints_are_reachable(server: Server) -> None:
    """Let the time pass that the dialect takes until events reach a new endpoint."""
    await asyncio.sleep(server.dialect.delivery.visible_within_s)


async def broadcast(
    server: Server,
    *,
    key: str = "a key",
    raw: bytes | None = None,
    query: Mapping[str, str] | None = None,
    **fields: Any,
) -> ServerResponse:
    body = {"event_type": "order.paid", "data": {"order": 1}, "idempotency_key": key, **fields}
    return await server.call("createBroadcastEvent", body=body, raw=raw, query=query)


@every_dialect
async def test_an_event_shows_what_was_sent_and_whom_it_reaches(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        rules = server.dialect.delivery
        active = await server.create_endpoint()
        disabled = await server.create_endpoint(is_disabled=True)
        await wait_until_endpoints_are_reachable(server)
        response = await broadcast(
            server, custom_headers={"X-Shop": "example"}, acknowledged_at="then"
        )
        assert server.is_success("createBroadcastEvent", response), response
        event = response.data
        assert event["event_type"] == "order.paid"
        shown = server.dialect.representation
        shows_headers = shown.event_headers.prefers(EventEcho.SENT)
        assert event.get("headers") == ({"X-Shop": "example"} if shows_headers else None)
        shows_time = shown.event_acknowledged_at.prefers(EventEcho.SENT)
        assert event.get("acknowledged_at") == ("then" if shows_time else None)
        assert event["idempotency_key"] == "a key"
        assert event["is_duplicate_event"] is False
        assert event["status"] == server.dialect.words.event_created.value
        assert json.loads(bytes(event["data"])) == {"order": 1}
        reached = [active["uid"], *([disabled["uid"]] if rules.disabled_receives.value else [])]
        assert event["endpoints"] == reached
        assert [endpoint["uid"] for endpoint in event["endpoint_metadata"]] == reached


@every_dialect
async def test_an_event_shows_its_source_and_its_origin_as_the_dialect_says(
    dialect_name: str,
) -> None:
    async with run_server(dialect_name) as server:
        shown = server.dialect.representation
        await wait_until_endpoints_are_reachable(server)
        without_source = (await broadcast(server, key="before")).data
        assert not without_source.get("source_id")
        source = await server.create_source(name="A source", type="http")
        await server.create_source(name="A newer source", type="http")
        response = await broadcast(server, query={"shop": "one two"})
        assert server.is_success("createBroadcastEvent", response), response
        event = response.data
        if shown.event_source.prefers(EventSource.LISTED):
            assert event["source_id"] == source["uid"]
            assert event["source_metadata"] == source
        else:
            assert not event.get("source_id")
            assert not event.get("source_metadata")
        names_project = shown.event_application.prefers(EventApplication.PROJECT)
        assert event.get("app_id") == ("one" if names_project else None)
        shows_query = shown.event_query.prefers(EventQuery.REQUEST)
        assert event.get("url_query_params") == ("shop=one+two" if shows_query else None)
        shows_raw = not shown.event_raw.prefers(EventRaw.NONE)
        assert event.get("raw") == (bytes(event["data"]).decode() if shows_raw else None)


@every_dialect
async def test_endpoints_without_an_owner_are_reached_as_the_dialect_says(
    dialect_name: str,
) -> None:
    async with run_server(dialect_name) as server:
        rules = server.dialect.delivery
        created = await server.create_endpoint(owner_id="")
        await wait_until_endpoints_are_reachable(server)
        event = (await broadcast(server)).data
        reached = rules.reach.value is Reach.ACTIVE_ENDPOINTS
        assert event["endpoints"] == ([created["uid"]] if reached else [])


async def test_an_endpoint_is_reached_once_it_is_old_enough() -> None:
    async with run_server("contrary") as server:
        created = await server.create_endpoint()
        young = (await broadcast(server, key="young")).data
        assert young["endpoints"] == []
        await wait_until_endpoints_are_reachable(server)
        assert (await broadcast(server, key="old")).data["endpoints"] == [created["uid"]]


async def test_data_is_kept_byte_for_byte() -> None:
    async with run_server("reference") as server:
        for data in (
            b'{"z": 1, "a": 123456789012345678901234567890, "e": 1e5, "f": 1.0}',
            b'{"g": -0.0, "h": 1E+2}',
            b'{ "b" :\t[ 1 , 2 ] ,\n "a":{} }',
            b'{"a":1,"a":2}',
            b'{"huge": 1e999, "escaped": "\\u00e4\\u0000\\/"}',
            '{"ä": "配送 📦"}'.encode(),
            b"{}",
            b'{"digits": ' + b"9" * 6000 + b"}",
        ):
            raw = b'{"idempotency_key": "", "data": ' + data + b', "event_type": "t"}'
            response = await broadcast(server, raw=raw)
            assert server.is_success("createBroadcastEvent", response), response
            assert bytes(response.data["data"]) == data
            assert response.data["raw"] == data.decode()


@every_dialect
async def test_data_that_is_not_an_object_is_refused_unless_the_dialect_takes_it(
    dialect_name: str,
) -> None:
    async with run_server(dialect_name) as server:
        takes = server.dialect.requests.other_data.value is Acceptance.TAKEN
        for data in ([1], "text", 1, True, None):
            response = await broadcast(server, data=data)
            if takes:
                assert server.is_success("createBroadcastEvent", response), data
            else:
                assert server.is_refusal(response, server.dialect.errors.invalid_value.value), data


@every_dialect
async def test_of_fifty_events_at_once_with_one_key_one_is_the_original(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        await server.create_endpoint()
        await wait_until_endpoints_are_reachable(server)
        answers = await asyncio.gather(*(broadcast(server) for _ in range(50)))
        rule = server.dialect.idempotency
        created = server.contract.operations["createBroadcastEvent"].success.value
        statuses = Counter(answer.status for answer in answers)
        expected = Counter({created: 1})
        expected[rule.duplicate_status.value] += 49
        assert statuses == expected
        flagged = [answer for answer in answers if answer.data["is_duplicate_event"]]
        uids = {answer.data["uid"] for answer in answers}
        if rule.duplicate.value is Duplicate.FIRST_EVENT:
            assert (len(uids), len(flagged)) == (1, 0)
        else:
            assert (len(uids), len(flagged)) == (50, 49)
            assert all(answer.data["endpoints"] == [] for answer in flagged)
        deliveries = await server.journal(kind="deliveries")
        assert len(deliveries["deliveries"]) == 1


@every_dialect
async def test_a_key_counts_within_its_project_only(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        body = {"event_type": "t", "data": {}, "idempotency_key": "k"}
        first = await server.call("createBroadcastEvent", body=body)
        other = await server.call("createBroadcastEvent", body=body, project="two", key="key-two")
        assert first.data["uid"] != other.data["uid"]
        assert other.data["is_duplicate_event"] is False


@every_dialect
async def test_custom_headers_that_cannot_be_sent_are_refused(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        invalid = server.dialect.errors.invalid_value.value
        for headers in (
            {"X": "a\r\nY: b"},
            {"X Y": "a"},
            {"": "a"},
            {"X": "\x7f"},
            {"X": 1},
            {"Ä": "a"},
            {"X": "配"},
        ):
            assert server.is_refusal(await broadcast(server, custom_headers=headers), invalid), (
                headers
            )
        own = server.dialect.delivery.event_id_header
        response = await broadcast(server, custom_headers={own: "mine"})
        if server.dialect.delivery.reserved_headers.value is OnInput.REFUSED:
            assert server.is_refusal(response, invalid)
        else:
            assert server.is_success("createBroadcastEvent", response)
