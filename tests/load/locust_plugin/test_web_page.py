"""Locust's own web page starts tests with deliveries, changes their users and stops them."""

import json
from pathlib import Path
from typing import Any

import requests

from tests.free_ports import free_port
from tests.load.embedded import line_with
from tests.load.locust_plugin.locust_run import ended, locust, service
from tests.polling import poll_until
from tests.receiver.dashboard.browser import chromium, open_page

LOCUSTFILE = """
import json
import pathlib

from locust import constant, events, task
from hookproof.locust import WebhookUser, listener_of

class Broadcasts(WebhookUser):
    wait_time = constant(0)  # a request of each is nearly always under way

    @task
    def send(self):
        self.broadcast()

@events.test_stop.add_listener
def write(environment, **_):
    pathlib.Path("ledger.json").write_text(json.dumps(listener_of(environment).figures))
"""


class WebPage:
    """The page at this port, as a browser calls it."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}"

    def is_there(self) -> bool:
        try:
            return requests.get(self._url, timeout=60).ok
        except requests.ConnectionError:
            return False

    def start(self, users: int) -> None:
        """Start a test, or change the users of the one that runs."""
        wanted = {"user_count": users, "spawn_rate": users}
        assert requests.post(f"{self._url}/swarm", data=wanted, timeout=60).json()["success"]

    def stop(self) -> None:
        assert requests.post(f"{self._url}/stop", timeout=60).json()["success"]

    def figures(self) -> dict[str, Any]:
        figures: dict[str, Any] = requests.get(f"{self._url}/stats/requests", timeout=60).json()
        return figures

    def requests_of(self, kind: str) -> int:
        return page_total(self.figures()["stats"], kind)


def test_a_test_is_started_changed_and_stopped_twice(tmp_path: Path) -> None:
    file = tmp_path / "locustfile.py"
    file.write_text(LOCUSTFILE)
    with service(tmp_path) as variables:
        port = free_port()
        address = ("--web-host", "127.0.0.1", "--web-port", f"{port}")
        process, page = locust(tmp_path, file, variables, *address), WebPage(port)
        with ended(process):
            poll_until(page.is_there, "the web page")
            for _ in range(2):
                page.start(4)
                poll_until(lambda: page.requests_of("DELIVERY") > 0, "deliveries")
                page.start(2)
                poll_until(lambda: page.figures()["user_count"] == 2, "fewer users")
                page.stop()
                # It shows figures that are up to two seconds old.
                poll_until(lambda: page.figures()["state"] == "stopped", "the end")
                assert page.requests_of("DELIVERY") == page.requests_of("POST")
            process.terminate()
        assert process.returncode == 0


def test_the_ledger_balances_across_changes_of_users_and_of_what_the_receiver_answers(
    tmp_path: Path,
) -> None:
    file = tmp_path / "locustfile.py"
    file.write_text(LOCUSTFILE.replace("constant(0)", "constant(0.1)"))
    with service(tmp_path) as variables:
        port = free_port()
        address = ("--web-host", "127.0.0.1", "--web-port", f"{port}")
        process, page = locust(tmp_path, file, variables, *address), WebPage(port)
        with ended(process):
            poll_until(page.is_there, "the web page")
            page.start(4)
            answers = line_with(process, r"answers can be changed at (http://\S+)")[1]
            for users, reply in ((2, {"status": 503}), (5, {"delay_s": 0.2})):
                poll_until(lambda: page.requests_of("DELIVERY") > 0, "deliveries")
                put = requests.put(answers, json={"reply": reply}, timeout=60)
                assert put.status_code == 204, put.text
                page.start(users)
                poll_until(lambda wanted=users: page.figures()["user_count"] == wanted, "users")
                sent = page.requests_of("POST")
                poll_until(lambda sent=sent: page.requests_of("POST") > sent + 5, "broadcasts")
                assert requests.delete(answers, timeout=60).status_code == 204
            page.stop()
            poll_until(lambda: page.figures()["state"] == "stopped", "the end")
            rows = page.figures()["stats"]
            process.terminate()
    ledger = json.loads((tmp_path / "ledger.json").read_text())
    assert ledger["delivered"] == ledger["expected"] == page_total(rows, "POST") > 0
    assert page_total(rows, "DELIVERY") == ledger["delivered"]
    wrong = ("lost", "pending", "explained", "duplicated", "unverifiable")
    assert [ledger[name] for name in wrong] == [0] * len(wrong)
    assert max(row["max_response_time"] for row in rows if row["method"] == "DELIVERY") > 700


def page_total(rows: list[dict[str, Any]], kind: str) -> int:
    return sum(row["num_requests"] for row in rows if row["method"] == kind)


def test_in_a_browser_a_test_is_started_shows_deliveries_and_is_stopped(tmp_path: Path) -> None:
    file = tmp_path / "locustfile.py"
    file.write_text(LOCUSTFILE.replace("constant(0)", "constant(0.1)"))
    with chromium() as browser, service(tmp_path) as variables:
        port = free_port()
        address = ("--web-host", "127.0.0.1", "--web-port", f"{port}")
        process, page = locust(tmp_path, file, variables, *address), WebPage(port)
        with ended(process):
            poll_until(page.is_there, "the web page")
            with open_page(browser, f"http://127.0.0.1:{port}") as observed:
                shown = observed.page
                shown.locator("input[name=userCount]").fill("3")
                shown.locator("button[type=submit]").click()
                shown.get_by_role("cell", name="DELIVERY").wait_for()
                shown.get_by_role("button", name="Stop").click()
                poll_until(lambda: page.figures()["state"] == "stopped", "the end")
                assert observed.forbidden_actions(f"http://127.0.0.1:{port}") == []
            process.terminate()
    ledger = json.loads((tmp_path / "ledger.json").read_text())
    assert ledger["delivered"] == ledger["expected"] > 0
