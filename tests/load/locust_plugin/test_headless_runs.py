"""Deliveries are in the figures of Locust's own command, and failures of them in its exit code."""

from pathlib import Path

import pytest

from hookproof.process.exit_codes import ExitCode
from tests.load.locust_plugin.locust_run import locustfile, run_locust, service
from tests.source_tree import ROOT

LIMITED = "Endpoints(count=2, limited=1, rate_limit=50, rate_limit_duration_s=1)"
ALL, AT_LIMIT = ("DELIVERY", "endpoints"), ("DELIVERY", "limited endpoints")


def test_a_clean_server_passes_within_its_limits(tmp_path: Path) -> None:
    with service(tmp_path) as variables:
        run = run_locust(tmp_path, locustfile(tmp_path, LIMITED), variables)
    assert run.exit_code == 0, run.output
    assert run.accepted > 50, "more than the limit allows at once"
    assert run.requests[ALL] == run.requests[AT_LIMIT] == run.accepted
    assert not run.errors
    wrong = ("lost", "pending", "duplicated", "altered", "unverifiable", "over_limit")
    assert run.ledger["delivered"] == run.ledger["expected"] == 2 * run.accepted
    assert [run.ledger[name] for name in wrong] == [0] * len(wrong)


@pytest.mark.parametrize(
    ("fault", "workers", "figure"),
    [("every_seventh_lost", 0, "lost"), ("every_seventh_doubled", 2, "duplicated")],
)
def test_every_seventh_delivery_that_goes_wrong_is_a_failure(
    tmp_path: Path, fault: str, workers: int, figure: str
) -> None:
    with service(tmp_path, "--fault", fault) as variables:
        run = run_locust(tmp_path, locustfile(tmp_path), variables, workers=workers)
    wrong = run.accepted // 7
    assert run.exit_code == 1, run.output
    assert wrong > 0
    assert run.errors == {(*ALL, f"CatchResponseError('{figure}')"): wrong}
    assert run.failures[ALL] == run.ledger[figure] == wrong
    assert run.requests[ALL] == run.ledger["expected"] + run.ledger["duplicated"]
    assert run.ledger["expected"] == run.accepted


def test_deliveries_over_the_limit_are_failures(tmp_path: Path) -> None:
    with service(tmp_path, "--fault", "limit_off_by_one") as variables:
        run = run_locust(
            tmp_path, locustfile(tmp_path, LIMITED), variables, "--exit-code-on-error", "7"
        )
    over = run.ledger["over_limit"]
    assert run.exit_code == 7, run.output
    assert run.errors == {(*AT_LIMIT, "CatchResponseError('over the limit')"): over}
    assert over > 0


def test_the_time_of_a_delivery_counts_from_when_its_broadcast_was_due(tmp_path: Path) -> None:
    file = locustfile(tmp_path, slow_s=0.5)  # a user has time for two of ten in a second
    with service(tmp_path) as variables:
        run = run_locust(tmp_path, file, variables)
    assert run.exit_code == 0, run.output
    assert run.slowest_ms[ALL] > 800


PROFILE = """
name: up
summary: A rate that rises, and stays.
rate: 20
duration_s: 2
users: 10
drain_s: 1
points: [[0, 10], [1, 50], [2, 50]]
fail_if: []
"""
RISING = """
from hookproof.locust import ProfileShape, load_profile

class Steady(ProfileShape):
    profile = load_profile("./up.yaml")
    users = profile.users
"""


def test_a_profile_is_a_shape(tmp_path: Path) -> None:
    (tmp_path / "up.yaml").write_text(PROFILE)
    file = locustfile(tmp_path)
    file.write_text(file.read_text() + RISING)
    with service(tmp_path) as variables:
        run = run_locust(tmp_path, file, variables)
    assert run.exit_code == 0, run.output
    assert run.accepted > 30, "80 are due in the two seconds; 20 would be at the first rate"
    assert run.requests[ALL] == run.ledger["delivered"] == run.accepted


def test_a_pause_that_the_service_asks_for_is_no_failure(tmp_path: Path) -> None:
    put_off = "server_error:status=429,operation=createBroadcastEvent,next=3"
    with service(tmp_path, "--fault", put_off) as variables:
        run = run_locust(tmp_path, locustfile(tmp_path), variables)
    assert run.exit_code == 0, run.output
    assert run.requests["POST", "createBroadcastEvent, put off"] == 3
    # The test may have ended in the pause: then nobody sends after it.
    accepted = run.requests.get(("POST", "createBroadcastEvent"), 0)
    assert run.requests.get(ALL, 0) == run.ledger["expected"] == accepted


def test_what_keeps_a_test_from_beginning_is_one_line_and_an_exit_code(tmp_path: Path) -> None:
    variables = {"HOOKPROOF_PROJECT": "p", "LOCUST_HOST": "http://127.0.0.1:1"}
    file = locustfile(tmp_path)
    run = run_locust(tmp_path, file, variables | {"HOOKPROOF_API_KEY": "k"})
    assert run.exit_code == ExitCode.UNREACHABLE
    said = "hookproof: the server does not answer: http://127.0.0.1:1: connection refused"
    assert run.output.splitlines()[-1] == said
    assert "Traceback" not in run.output


KNEE = """
import knee
from knee import Broadcasts

class KneeSearch(knee.KneeSearch):
    first_users, most_users, trial_s, within_ms = 1, 2, 1, 60_000
"""


@pytest.mark.parametrize(
    ("examples", "options"),
    [
        (("operations.py",), ("-u", "10", "-r", "10", "-t", "2s", "--tags", "events", "changes")),
        (("orders.py", "../locustfile.py"), ("-u", "10", "-r", "10", "-t", "2s")),
        (("knee.py",), ()),
    ],
    ids=["operations", "orders and the default", "knee"],
)
def test_the_examples_pass_against_a_clean_server(
    tmp_path: Path, examples: tuple[str, ...], options: tuple[str, ...]
) -> None:
    folder = ROOT / "hookproof" / "load" / "examples"
    files = [f"{folder / name}" for name in examples]
    is_knee = examples == ("knee.py",)
    if is_knee:  # it takes some minutes as it is
        files = [f"{tmp_path / 'short.py'}"]
        Path(files[0]).write_text(KNEE)
    # Without a host it is the embedded server.
    run = run_locust(tmp_path, ",".join(files), {"PYTHONPATH": f"{folder}"}, *options)
    assert run.exit_code == 0, run.output
    assert run.requests[ALL] >= run.accepted > 0
    assert not is_knee or "The knee is at 2 users, 20 requests a second" in run.output
    assert ("GET", "listPortalLinks") not in run.requests, "left out by its tag"
