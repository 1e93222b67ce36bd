"""Whole runs against a target behind a gateway that limits how fast its API is called."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.conformance.command import CommandResult, check, reported_requirements, run_command
from tests.conformance.reference_server import reference_server, write_target_file
from tests.conformance.spoiling_proxy import ProxyAnswer, spoiling_proxy
from tests.source_tree import ROOT

ONLY = ("--profile", "quick", "--only", "4.4-10", "--only", "4.4-17")
GOOD_FOR: Final = 20


def limit(wait: str) -> ProxyAnswer:
    """The answer of a gateway that allows no more requests for now."""
    return ProxyAnswer(
        status=429, headers=(("Retry-After", wait), ("Content-Type", "text/plain")), body=b"slower"
    )


def every_third(number: int, fetch: Callable[[], ProxyAnswer]) -> ProxyAnswer:
    return limit("0") if number % 3 == 2 else fetch()


def from_some_time_on(number: int, fetch: Callable[[], ProxyAnswer]) -> ProxyAnswer:
    return fetch() if number < GOOD_FOR else limit("3600")


def always(number: int, fetch: Callable[[], ProxyAnswer]) -> ProxyAnswer:
    return limit("3600")


Gateway = Callable[[int, Callable[[], ProxyAnswer]], ProxyAnswer]


@contextmanager
def limited_server(
    folder: Path, gateway: Gateway, *options: str, **settings: object
) -> Iterator[None]:
    """A reference server behind a gateway, and its target.yaml in the folder."""
    with (
        reference_server(folder, ROOT, "p1", options=options) as server,
        spoiling_proxy(server["api"], gateway) as url,
    ):
        write_target_file(folder, url, "p1", **settings)
        yield


def judged(folder: Path, gateway: Gateway, *options: str) -> CommandResult:
    with limited_server(folder, gateway, *options):
        return check(folder, "--target", "target.yaml", "--dialect", "reference", *ONLY)


def test_a_limited_target_conforms_and_the_run_says_what_its_limit_did(tmp_path: Path) -> None:
    done = judged(tmp_path, every_third)
    assert done.code == 0, done.out
    verdicts = {each["verdict"] for each in reported_requirements(tmp_path).values()}
    assert verdicts <= {"pass", "not_applicable"}, verdicts
    put_off = json.loads((tmp_path / "hookproof-report" / "report.json").read_text())["put_off"]
    assert put_off["requests"] > GOOD_FOR
    assert put_off["waited_s"] > 0
    assert f"the target answered 429 {put_off['requests']} times; waited" in done.out


def test_a_fault_of_a_limited_target_is_found(tmp_path: Path) -> None:
    done = judged(tmp_path, every_third, "--fault", "nothing_before_the_first")
    assert done.code == 1, done.out


def test_a_target_that_limits_for_good_leaves_the_run_incomplete_with_advice(
    tmp_path: Path,
) -> None:
    done = judged(tmp_path, from_some_time_on)
    assert done.code == 3, done.out
    assert "put one request off for 3600 s; budgets.requests_per_s in target.yaml" in " ".join(
        done.out.split()
    )


@pytest.mark.parametrize("command", ["check", "doctor", "learn"])
def test_a_target_that_limits_from_the_start_is_told_so_in_a_line(
    tmp_path: Path, command: str
) -> None:
    with limited_server(tmp_path, always):
        done = run_command(tmp_path, command, "--target", "target.yaml")
    assert (done.code, done.out) == (4, "")
    assert "budgets.requests_per_s in target.yaml" in done.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("command", "rate"),
    [(("check", *ONLY), 15), (("doctor",), 2), (("learn", "--profile", "quick"), 8)],
    ids=["check", "doctor", "learn"],
)
def test_no_more_requests_are_sent_than_the_target_file_says(
    tmp_path: Path, command: Sequence[str], rate: float
) -> None:
    arrived_at: list[float] = []

    def noting(_number: int, fetch: Callable[[], ProxyAnswer]) -> ProxyAnswer:
        arrived_at.append(time.monotonic())
        return fetch()

    with limited_server(tmp_path, noting, budgets={"requests_per_s": rate}):
        done = run_command(tmp_path, *command, "--target", "target.yaml")
    assert done.code == 0, done.out
    # What is sent in time may arrive with some delay.
    assert arrived_at[-1] - arrived_at[0] >= 0.7 * (len(arrived_at) - 1) / rate


def test_the_doctor_and_learning_honour_a_limit_and_report_it(tmp_path: Path) -> None:
    with limited_server(tmp_path, every_third):
        examined = run_command(tmp_path, "doctor", "--target", "target.yaml")
        learned = run_command(tmp_path, "learn", "--target", "target.yaml", "--profile", "quick")
    assert examined.code == 0, examined.out
    assert "note  the target limits how fast it is called: the target answered 429" in examined.out
    assert learned.code == 0, learned.err
    assert "\nThe target answered 429" in learned.out
