"""Faults that the command line and the control listener name, at the start and while the server
runs.
"""

import json
import subprocess
import sys
from typing import Any

import pytest

from hookproof.mockserver.faults.live import BadOrder
from hookproof.mockserver.faults.registry import catalogue
from hookproof.mockserver.faults.selection import chosen_faults
from hookproof.spec.dialect.reader import load_dialect
from tests.mockserver.running_server import Server, over

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
    assert [one.name for one in chosen.catalogued] == ["null_message", "further_members"]
    (order,) = chosen.orders
    assert (order.fault, order.delay_s, order.rate, order.seed) == ("late", 2.0, 0.5, 7)


@pytest.mark.parametrize(
    ("faults", "variants", "told"),
    [
        (["nul_message"], [], "did you mean null_message"),
        (["further_members"], [], "no fault 'further_members'"),
        ([], ["null_message"], "no variant 'null_message'"),
        (["null_message:rate=0.5"], [], "does not accept 'rate=0.5'"),
        (["late:often=yes"], [], "often"),
        (["late:rate=2"], [], "rate is a share"),
        (["late:status=500"], [], "does not accept status"),
        (["event_type_in_capitals"], [], "not a fault under the dialect reference"),
    ],
    ids=str,
)
def test_a_choice_that_makes_no_sense_is_refused(
    faults: list[str], variants: list[str], told: str
) -> None:
    with pytest.raises(BadOrder, match=told):
        chosen_faults(faults, variants, REFERENCE)


def test_the_command_line_lists_them_and_tells_a_wrong_name_in_one_line() -> None:
    listed = subprocess.run(
        [*SERVE, "--list-faults", "--json"], capture_output=True, timeout=30, check=True
    )
    assert {one["name"] for one in json.loads(listed.stdout)} == set(catalogue())
    for_people = subprocess.run(
        [*SERVE, "--list-faults"], capture_output=True, timeout=30, check=True
    ).stdout.decode()
    assert all(name in for_people for name in [*catalogue(), "slow_body"])
    wrong = subprocess.run(
        [*SERVE, "--fault", "nul_message"], capture_output=True, timeout=30, check=False
    )
    assert (wrong.returncode, wrong.stdout) == (64, b"")
    assert wrong.stderr.decode().count("\n") == 1


def test_a_server_that_is_started_with_a_fault_has_it_and_keeps_it_through_a_reset() -> None:
    async def trial(server: Server) -> None:
        for _ in range(2):
            answered = await server.call("createEndpoint", body=CREATED)
            assert answered.data["events"] == -1
            async with server.session.post(f"{server.control}/reset") as response:
                assert response.status == 204

    over("reference", trial, faults=[catalogue()["count_from_minus_one"]])


def test_a_fault_of_the_catalogue_comes_and_goes_while_the_server_runs_and_nothing_stored_is_lost() -> (
    None
):
    async def trial(server: Server) -> None:
        made = await server.endpoint()
        uid = made["uid"]
        assert await arm(server, fault="count_from_minus_one") == 201
        assert await arm(server, fault="status_reversed") == 201
        faulty = (await server.call("getEndpoint", target=uid)).data
        assert (faulty["events"], faulty["status"]) == (-1, "inactive")
        async with server.session.delete(f"{server.control}/faults") as response:
            assert response.status == 204
        assert (await server.call("getEndpoint", target=uid)).data == made

    over("reference", trial)


def test_a_fault_of_the_catalogue_takes_no_count_and_has_to_be_one_under_the_dialect() -> None:
    async def trial(server: Server) -> None:
        assert await arm(server, fault="null_message", next=3) == 422
        assert await arm(server, fault="event_type_in_capitals") == 422
        async with server.session.get(f"{server.control}/faults") as response:
            assert (await response.json())["armed"] == []

    over("reference", trial)
