"""Faults that the command line or the control listener names, at the start and at run time."""

import json
import subprocess

import pytest

from hookproof.mockserver.faults.catalogue import catalogue
from hookproof.mockserver.faults.live import BadOrder
from hookproof.mockserver.faults.selection import parse_fault_options
from hookproof.spec.dialect.reader import load_dialect
from tests.mockserver.running_server import Server, run_against_server
from tests.quick_start.interpreter import quick_hookproof

REFERENCE = load_dialect("reference")


def run_serve(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*quick_hookproof(), "serve", *options],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_names_become_faults_and_orders() -> None:
    chosen = parse_fault_options(
        ["null_message", "late:delay_s=2,rate=0.5,seed=7"], ["further_members"], REFERENCE
    )
    assert [item.name for item in chosen.catalogued] == ["null_message", "further_members"]
    (order,) = chosen.orders
    assert (order.fault, order.delay_s, order.rate, order.seed) == ("late", 2.0, 0.5, 7)


@pytest.mark.parametrize(
    ("faults", "variants", "message"),
    [
        (["nul_message"], [], "did you mean null_message"),
        (["further_members"], [], "is a variant, not a fault; give it by --variant"),
        ([], ["null_message"], "is a fault, not a variant; give it by --fault"),
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
def test_an_unusable_choice_is_refused_with_the_reason(
    faults: list[str], variants: list[str], message: str
) -> None:
    with pytest.raises(BadOrder, match=message):
        parse_fault_options(faults, variants, REFERENCE)


def test_the_command_line_lists_them_and_reports_a_wrong_name_in_one_line() -> None:
    as_json = run_serve("--list-faults", "--json")
    assert {item["name"] for item in json.loads(as_json.stdout)} == set(catalogue())
    as_text = run_serve("--list-faults")
    assert all(name in as_text.stdout for name in [*catalogue(), "slow_body"])
    titles = [line for line in as_text.stdout.splitlines() if line.endswith(":")]
    assert len(titles) == len(set(titles))
    wrong = run_serve("--fault", "nul_message")
    assert (wrong.returncode, wrong.stdout) == (64, "")
    assert wrong.stderr.count("\n") == 1
    former = run_serve("--fault", "roll_takes_the_url")
    assert (former.returncode, former.stdout) == (64, "")
    assert "roll_takes_the_url is now called roll_sets_the_timeout" in former.stderr


def test_a_server_that_is_started_with_a_fault_has_it_and_keeps_it_through_a_reset() -> None:
    async def scenario(server: Server) -> None:
        for _ in range(2):
            response = await server.call("createEndpoint", body=server.endpoint_body())
            assert response.data["events"] == -1
            await server.reset()

    run_against_server("reference", scenario, faults=[catalogue()["count_from_minus_one"]])


def test_arming_a_fault_of_the_catalogue_at_run_time_loses_no_stored_data() -> None:
    async def scenario(server: Server) -> None:
        created = await server.create_endpoint()
        uid = created["uid"]
        assert await server.arm_fault(fault="count_from_minus_one") == 201
        assert await server.arm_fault(fault="status_reversed") == 201
        faulty = (await server.call("getEndpoint", target=uid)).data
        assert (faulty["events"], faulty["status"]) == (-1, "inactive")
        async with server.session.delete(f"{server.control}/faults") as response:
            assert response.status == 204
        assert (await server.call("getEndpoint", target=uid)).data == created

    run_against_server("reference", scenario)


def test_a_fault_of_the_catalogue_has_no_count_and_must_apply_under_the_dialect() -> None:
    async def scenario(server: Server) -> None:
        assert await server.arm_fault(fault="null_message", next=3) == 422
        assert await server.arm_fault(fault="event_type_in_capitals") == 422
        async with server.session.get(f"{server.control}/faults") as response:
            assert (await response.json())["armed"] == []

    run_against_server("reference", scenario)
