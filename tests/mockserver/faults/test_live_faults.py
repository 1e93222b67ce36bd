"""Live faults: the server misbehaves as ordered, for as long as ordered, and no longer."""

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from hookproof.mockserver.faults.answering import FAULTS
from hookproof.mockserver.faults.catalogue import catalogue
from hookproof.mockserver.faults.live import ArmedFault, FaultOrder
from tests.mockserver.running_server import Server, run_against_server


async def armed_faults(server: Server) -> list[dict[str, Any]]:
    async with server.session.get(f"{server.control}/faults") as response:
        faults: list[dict[str, Any]] = (await response.json())["armed"]
        return faults


async def endpoints_created(server: Server) -> int:
    return len((await server.journal(operation="createEndpoint"))["requests"])


def test_a_server_error_affects_as_many_requests_as_ordered_and_creates_nothing() -> None:
    async def scenario(server: Server) -> None:
        assert await server.arm_fault(fault="server_error", next=2, status=503) == 201
        statuses = [
            (await server.call("createEndpoint", body=server.endpoint_body())).status
            for _ in range(3)
        ]
        assert statuses == [503, 503, 201]
        assert await endpoints_created(server) == 1

    run_against_server("reference", scenario)


@pytest.mark.parametrize(("fault", "created"), [("dropped_connection", 0), ("lost_answer", 1)])
def test_a_connection_that_is_dropped_does_nothing_and_one_whose_answer_is_lost_has_done_it(
    fault: str, created: int
) -> None:
    async def scenario(server: Server) -> None:
        await server.arm_fault(fault=fault, next=1)
        with pytest.raises(aiohttp.ClientError):
            await server.call("createEndpoint", body=server.endpoint_body())
        assert await endpoints_created(server) == created
        assert (await server.call("createEndpoint", body=server.endpoint_body())).status == 201

    run_against_server("reference", scenario)


def test_malformed_json_is_not_json_although_the_request_was_carried_out() -> None:
    async def scenario(server: Server) -> None:
        await server.arm_fault(fault="malformed_json", next=1)
        # The client decodes a body that is declared as JSON.
        with pytest.raises(json.JSONDecodeError):
            await server.call("createEndpoint", body=server.endpoint_body())
        assert await endpoints_created(server) == 1

    run_against_server("reference", scenario)


def test_a_late_answer_is_right_and_late() -> None:
    async def scenario(server: Server) -> None:
        await server.arm_fault(fault="late", next=1, delay_s=0.2)
        loop = asyncio.get_running_loop()
        started = loop.time()
        response = await server.call("createEndpoint", body=server.endpoint_body())
        assert response.status == 201
        assert loop.time() - started >= 0.2

    run_against_server("reference", scenario)


def test_a_slow_body_is_whole_and_comes_in_pieces() -> None:
    async def scenario(server: Server) -> None:
        await server.arm_fault(fault="slow_body", next=1, delay_s=0.1)
        loop = asyncio.get_running_loop()
        started = loop.time()
        response = await server.call("createEndpoint", body=server.endpoint_body())
        assert server.is_success("createEndpoint", response)
        assert loop.time() - started >= 0.3

    run_against_server("reference", scenario)


def test_a_fault_affects_only_the_ordered_paths() -> None:
    async def scenario(server: Server) -> None:
        await server.arm_fault(fault="server_error", path="/sources")
        assert (await server.call("listPortalLinks")).status == 200
        assert (await server.call("listSources")).status == 503

    run_against_server("reference", scenario)


def test_a_fault_affects_only_the_ordered_operation() -> None:
    async def scenario(server: Server) -> None:
        await server.arm_fault(fault="server_error", operation="listPortalLinks")
        assert (await server.call("getPortalLink", target="unknown")).status == 404
        assert (await server.call("listPortalLinks")).status == 503

    run_against_server("reference", scenario)


@pytest.mark.parametrize(
    ("change", "uid"),
    [({"value": None}, None), ({"value": [1]}, [1]), ({"value": "x"}, "x"), ({}, "left out")],
    ids=str,
)
def test_a_member_is_changed_or_left_out_in_the_response_alone(
    change: dict[str, Any], uid: Any
) -> None:
    async def scenario(server: Server) -> None:
        clean = (await server.call("listSources")).body
        await server.arm_fault(fault="changed_member", member="data.content.*.uid", **change)
        changed = (await server.call("listSources")).body
        sources = changed["data"]["content"]
        assert [item.pop("uid", "left out") for item in sources] == [uid] * len(sources)
        assert changed["data"]["pagination"] == clean["data"]["pagination"]
        async with server.session.delete(f"{server.control}/faults"):
            assert (await server.call("listSources")).body == clean

    run_against_server("reference", scenario)


@pytest.mark.parametrize("member", ["data.no.such", "data.*.uid", "*"])
def test_a_body_without_the_member_stays_as_it_is(member: str) -> None:
    async def scenario(server: Server) -> None:
        clean = (await server.call("listSources")).body
        await server.arm_fault(fault="changed_member", member=member)
        assert (await server.call("listSources")).body == clean

    run_against_server("reference", scenario)


def test_faults_of_one_request_are_combined_and_what_is_not_carried_out_counts_none() -> None:
    async def scenario(server: Server) -> None:
        await server.arm_fault(fault="server_error", next=1)
        await server.arm_fault(fault="changed_member", next=1, member="message", value="a")
        await server.arm_fault(fault="changed_member", member="status", value="b")
        assert (await server.call("listSources")).status == 503
        both = (await server.call("listSources")).body
        assert (both["message"], both["status"]) == ("a", "b")
        assert (await server.call("listSources")).body["message"] != "a"

    run_against_server("reference", scenario)


@pytest.mark.parametrize("ending", ["disarm", "reset"])
def test_disarming_and_reset_remove_the_faults(ending: str) -> None:
    async def scenario(server: Server) -> None:
        await server.arm_fault(fault="server_error")
        assert [item["fault"] for item in await armed_faults(server)] == ["server_error"]
        method, path = ("DELETE", "/faults") if ending == "disarm" else ("POST", "/reset")
        async with server.session.request(method, server.control + path) as response:
            assert response.status == 204
        assert await armed_faults(server) == []
        assert (await server.call("listSources")).status == 200

    run_against_server("reference", scenario)


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ({"fault": "no_such"}, "server_error"),
        ({"fault": "roll_takes_the_url"}, "now called roll_sets_the_timeout"),
        ({"fault": "late", "next": 0}, "next"),
        ({"fault": "late", "rate": 1.5}, "rate"),
        ({"fault": "late", "status": 500}, "does not accept status"),
        ({"fault": "late", "operation": "getList"}, "no operation 'getList'"),
        ({"fault": "changed_member"}, "needs member"),
        ({"fault": "late", "often": True}, "often"),
        ({}, "fault"),
    ],
    ids=str,
)
def test_an_unusable_order_is_refused_with_the_reason_and_arms_nothing(
    order: dict[str, Any], reason: str
) -> None:
    async def scenario(server: Server) -> None:
        async with server.session.post(f"{server.control}/faults", json=order) as response:
            assert response.status == 422
            assert reason in (await response.json())["problem"]
        assert await armed_faults(server) == []

    run_against_server("reference", scenario)


def test_a_seeded_rate_repeats_exactly_and_is_about_the_share_that_was_ordered() -> None:
    def affected(seed: int) -> list[bool]:
        fault = ArmedFault.of(FaultOrder(fault="server_error", rate=0.25, seed=seed))
        return [fault.affects("/", "listSources") for _ in range(1000)]

    assert affected(7) == affected(7)
    assert affected(7) != affected(8)
    assert 200 < sum(affected(7)) < 300


def test_the_control_listener_names_every_fault() -> None:
    async def scenario(server: Server) -> None:
        async with server.session.get(f"{server.control}/faults") as response:
            assert (await response.json())["faults"] == [*FAULTS, *catalogue()]

    run_against_server("reference", scenario)
