"""The charts of the live page in a browser: tokens, verdicts and times."""

import hmac
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.receiver.dashboard.browser import DEADLINE_MS, ObservedPage, chromium, open_page
from tests.receiver.receiver_process import ReceiverProcess, receiver

pytestmark = pytest.mark.xdist_group("browser")
expect.set_options(timeout=DEADLINE_MS)

DRAWN = re.compile("^M")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def running() -> Iterator[ReceiverProcess]:
    with receiver("--http") as process:
        yield process


@pytest.fixture
def live(browser: Browser, running: ReceiverProcess) -> Iterator[ObservedPage]:
    with open_page(browser, running.control) as page:
        expect(page.page.locator("#connection")).to_have_text("live")
        yield page
        assert page.forbidden_actions(running.control) == []


def test_tokens_that_have_no_track_are_counted(
    live: ObservedPage, running: ReceiverProcess
) -> None:
    for number in range(4):
        running.post(f"/token-{number}", b"{}")
    expect(live.page.locator(".track")).to_have_count(4)
    expect(live.page.locator(".left-out")).to_have_count(0)
    for number in range(4, 7):
        running.post(f"/token-{number}", b"{}")
    expect(live.page.locator(".left-out")).to_have_text("and 3 more tokens")
    expect(live.page.locator(".track")).to_have_count(4)


def test_bars_have_the_colours_of_what_is_known_of_their_deliveries(
    live: ObservedPage, running: ReceiverProcess
) -> None:
    chart = live.page.locator(".chart svg")
    running.post("/orders", b"{}")
    expect(chart.locator(".arrivals")).to_have_attribute("d", DRAWN)
    expect(chart.locator(".verified")).to_have_attribute("d", "")
    secrets = b'{"secrets": ["a-secret-of-orders"]}'
    assert running.call_over_http("PUT", "/tokens/orders/secrets", secrets)[0] == 204
    right = hmac.new(b"a-secret-of-orders", b"{}", "sha256").hexdigest()
    running.post("/orders", b"{}", headers=f"X-Webhook-Signature: {right}\r\n".encode())
    expect(live.page.locator('.row[data-verdict="verified"]')).to_have_count(1)
    expect(chart.locator(".verified")).to_have_attribute("d", DRAWN)
    wrong = hmac.new(b"a-secret-of-orders", b"[]", "sha256").hexdigest()
    running.post("/orders", b"{}", headers=f"X-Webhook-Signature: {wrong}\r\n".encode())
    expect(chart.locator(".unverified")).to_have_attribute("d", DRAWN)


def test_the_axis_has_times(live: ObservedPage, running: ReceiverProcess) -> None:
    running.post("/orders", b"{}")
    first, middle, last = (live.page.locator(".axis span").nth(place) for place in range(3))
    expect(first).to_have_text(re.compile(r"^\d\d:\d\d:\d\d, 1 min ago$"))
    expect(middle).to_have_text(re.compile(r"^\d\d:\d\d:\d\d$"))
    expect(last).to_have_text(re.compile(r"^\d\d:\d\d:\d\d, now$"))
    live.page.get_by_role("button", name="5 min", exact=True).click()
    expect(first).to_have_text(re.compile(", 5 min ago$"))
