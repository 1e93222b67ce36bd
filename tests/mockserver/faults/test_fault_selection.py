"""Faults that the command line or the control listener names, at the start and at run time."""

import json
import subprocess
import sys
from typing import Any

import pytest

from hookproof.mockserver.faults.live import BadOrder
from hookproof.mockserver.faults.registry import catalogue
from hookproof.mockserver.faults.selection import chosen_faults
from hookproof.spec.dialect.reader import load_dialect
from tests.mockserver.running_server import Server, run_against_server

REFERENCE = load_dialect("reference")
SERVE = (sys.executable, "-c", "from mockserver.cli import serve; serve()")
CREATED = {"name": "orders", "url": "https://receiver.invalid/orders"}


async def arm(server: Server, **order: Any) -> int:
    async with server.session.post(f"{server.control}/faults", json=order) as response:
        return response.status


def test_names_become_faults_and_orders() -> None:
    chosen = chosen_faults(
        ["null_message", "late:delay_s=2,rate=0.5,seed=7"], ["further_members"], REFERENCE
    )
    assert [item.name for item in chosen.catalogued] == ["null_message", "further_members"]
    (order,) = chosen.orders
    assert (order.fault, order.delay_s, order.rate, order.seed) == ("late", 2.0, 0.5, 7)


@pytest.mark.parametrize(
    ("faults", "variants", "message"),
    [
        (["nul_message"], [], "did you mean null_message"),
        (["further_members"], [], "no fault 'further_members'"),
        ([], ["null_message"], "no variant 'null_message'"),
        (
            ["roll_takes_the_url"],
            [],
            "fault roll_takes_the_url is now called roll_sets_the_timeout",
        ),
        ([], ["escaped_and_indented"], "variant escaped_and_indented is now called indented_json"),
        (["null_message:rate=0.5"], [], "does not accept 'rate=0.5'"),
        (["late:often=yes"], [], "often"),
        (["late:rate=2"], [], "rate is a share"),
        (["late:status=500"], [], "does not accept status"),
        (["event_type_in_capitals"], [], "not a fault under the dialect reference"),
    ],
    ids=str,
)
def test_a_choice_that_makes_no_sense_is_refused(
    faults: list[str], variants: list[str], message: str
) -> None:
    with pytest.raises(BadOrder, match=message):
        chosen_faults(faults, variants, REFERENCE)


def test_the_command_line_lists_them_and_reports_a_wrong_name_in_one_line() -> None:
    listed = subprocess.run(
        [*SERVE, "--list-faults", "--json"], capture_output=True, timeout=30, check=True
    )
    assert {item["name"] for item in json.loads(listed.stdout)} == set(catalogue())
    for_people = subprocess.run(
        [*SERVE, "--list-faults"], capture_output=True, timeout=30, check=True
    ).stdout.decode()
    assert all(name in for_people for name in [*catalogue(), "slow_body"])
    wrong = subprocess.run(
        [*SERVE, "--fault", "nul_message"], capture_output=True, timeout=30, check=False
    )
    assert (wrong.returncode, wrong.stdout) == (64, b"")
    assert wrong.stderr.decode().count("\n") == 1
    former = subprocess.run(
        [*SERVE, "--fault", "roll_takes_the_url"], capture_output=True, timeout=30, check=False
    )
    assert (former.returncode, former.stdout) == (64, b"")
    assert b"roll_takes_the_url is now called roll_sets_the_timeout" in former.stderr


def test_a_server_that_is_started_with_a_fault_has_it_and_keeps_it_through_a_reset() -> None:
    async def scenario(server: Server) -> None:
        for _ in range(2):
            answered = await server.call("createEndpoint", body=CREATED)
            assert answered.data["events"] == -1
            async with server.session.post(f"{server.control}/reset") as response:
                assert response.status == 204

    run_against_server("reference", scenario, faults=[catalogue()["count_from_minus_one"]])


def test_arming_a_fault_of_the_catalogue_at_run_time_loses_no_stored_data() -> None:
    async def scenario(server: Server) -> None:
        created = await server.endpoint()
        uid = created["uid"]
        assert await arm(server, fault="count_from_minus_one") == 201
        assert await arm(server, fault="status_reversed") == 201
        faulty = (await server.call("getEndpoint", target=uid)).data
        assert (faulty["events"], faulty["status"]) == (-1, "inactive")
        async with server.session.delete(f"{server.control}/faults") as response:
            assert response.status == 204
        assert (await server.call("getEndpoint", target=uid)).data == created

    run_against_server("reference", scenario)


def test_a_fault_of_the_catalogue_has_no_count_and_must_apply_under_the_dialect() -> None:
    async def scenario(server: Server) -> None:
        assert await arm(server, fault="null_message", next=3) == 422
        assert await arm(server, fault="event_type_in_capitals") == 422
        async with server.session.get(f"{server.control}/faults") as response:
            assert (await response.json())["armed"] == []

    run_against_server("reference", scenario)
