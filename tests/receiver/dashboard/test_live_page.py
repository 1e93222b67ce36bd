"""The live page in a browser: deliveries arrive, are explained, and never run as code."""

import hmac
import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.receiver.dashboard.browser import DEADLINE_MS, ObservedPage, chromium, open_page
from tests.receiver.receiver_process import ReceiverProcess, receiver

# Text that would run in a page that treats it as markup.
HOSTILE = '<script>alert("body")</script><img src=x onerror="alert(1)"><svg onload=alert(2)>'

pytestmark = pytest.mark.xdist_group("browser")
expect.set_options(timeout=DEADLINE_MS)


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
    """The page of a new receiver; asserts that it did nothing forbidden."""
    with open_page(browser, running.control) as page:
        expect(page.page.locator("#connection")).to_have_text("live")
        yield page
        assert page.forbidden_actions(running.control) == []


def send(running: ReceiverProcess, count: int, token: str = "orders", *, begin: int = 0) -> None:  # noqa: S107
    """Send this many deliveries over several connections."""

    def send_delivery(number: int) -> None:
        body = json.dumps({"number": number, "event_type": f"kind.{number % 7}"}).encode()
        running.post(f"/{token}/{number}", body, headers=b"Content-Type: application/json\r\n")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(send_delivery, range(begin, begin + count)))


def rows(page: Page) -> int:
    return page.locator(".row").count()


def test_a_thousand_deliveries_arrive_while_the_page_stays_small(
    live: ObservedPage, running: ReceiverProcess
) -> None:
    send(running, 1000)
    expect(live.page.locator("#shown")).to_have_text("1,000 deliveries")
    assert 0 < rows(live.page) < 100
    expect(live.page.locator("#tokens button").nth(1)).to_contain_text("1,000")
    live.page.locator("#list").focus()
    live.page.keyboard.press("End")
    last = live.page.locator('.row[aria-selected="true"]')
    expect(last).to_have_attribute("aria-posinset", "1000")
    expect(last).to_have_attribute("aria-setsize", "1000")


def test_deliveries_that_came_before_the_page_are_shown(
    browser: Browser, running: ReceiverProcess
) -> None:
    send(running, 3)
    with open_page(browser, running.control) as page:
        expect(page.page.locator("#shown")).to_have_text("3 deliveries")


def test_text_token_and_verdict_narrow_the_list(
    live: ObservedPage, running: ReceiverProcess
) -> None:
    send(running, 20)
    send(running, 5, token="invoices")
    page = live.page
    expect(page.locator("#shown")).to_have_text("25 deliveries")
    page.locator("#search").fill("KIND.3")
    expect(page.locator("#shown")).to_have_text("4 of 25 deliveries match")
    page.locator("#search").fill("")
    page.get_by_role("button", name="/invoices").click()
    expect(page.locator("#shown")).to_have_text("5 of 25 deliveries match")
    expect(page.locator("figcaption")).to_have_text("/invoices · 5 arrivals")
    page.get_by_role("button", name="All tokens").click()
    page.locator("#verdict").select_option("verified")
    expect(page.locator("#shown")).to_have_text("0 of 25 deliveries match")
    page.locator("#verdict").select_option("unchecked")
    expect(page.locator("#shown")).to_have_text("25 of 25 deliveries match")


def test_an_open_delivery_shows_all_that_arrived(
    live: ObservedPage, running: ReceiverProcess
) -> None:
    body = b'{"id": 12345678901234567890, "z": 1.50, "a": {"deep": [true, null]}, "z": "twice"}'
    running.post("/orders/1?x=y", body, headers=b"X-Odd-Case: a  b\r\nx-odd-case: c\r\n")
    page = live.page
    page.locator(".row").click()
    detail = page.locator("#detail")
    expect(detail.locator("h2")).to_have_text("POST /orders/1?x=y")
    names = detail.locator(".headers th").all_text_contents()
    assert names[-2:] == ["X-Odd-Case", "x-odd-case"]
    pretty = detail.locator(".json").text_content()
    assert pretty is not None
    assert '"id": 12345678901234567890,\n' in pretty
    assert re.sub(r"\s", "", pretty) == re.sub(r"\s", "", body.decode())
    detail.get_by_role("tab", name="Hex").click()
    expect(detail.locator(".hex")).to_contain_text("000000  7b 22 69 64 22 3a 20 31")
    expect(detail.locator(".timeline")).to_contain_text("answered 200")


def test_a_signature_that_fails_is_explained_and_so_are_those_before_its_secret_was_known(
    live: ObservedPage, running: ReceiverProcess
) -> None:
    body = b'{"a": 1, "b": [2, 3]}'
    signed = hmac.new(b"a-secret-of-orders", b'{"a":1,"b":[2,3]}', "sha256").hexdigest()
    running.post("/orders", body, headers=f"X-Webhook-Signature: {signed}\r\n".encode())
    page = live.page
    row = page.locator(".row")
    expect(row).to_contain_text("unchecked")
    row.click()
    expect(page.locator(".signature")).to_contain_text("No secret is known for this token.")
    secrets = b'{"secrets": ["a-secret-of-orders"]}'
    # Without the client, which needs an event loop of its own; the browser's is running.
    assert running.call_over_http("PUT", "/tokens/orders/secrets", secrets)[0] == 204
    expect(row).to_contain_text("no signature matches")
    expect(page.locator(".signature .verdict")).to_have_text("not verified: no signature matches")
    expect(page.locator(".bisection")).to_have_text(
        "signed the compact form of the body, sent it with spaces"
    )
    right = hmac.new(b"a-secret-of-orders", body, "sha256").hexdigest()
    running.post("/orders", body, headers=f"X-Webhook-Signature: {right}\r\n".encode())
    expect(page.locator('.row[data-verdict="verified"]')).to_have_count(1)
    page.locator("#verdict").select_option("unverified")
    expect(page.locator("#shown")).to_have_text("1 of 2 deliveries match")


@pytest.mark.parametrize("moves", [False, True], ids=["stays", "moves"])
@pytest.mark.parametrize("changes", [False, True], ids=["as it was", "changed"])
def test_a_click_opens_the_row_where_it_began(
    live: ObservedPage, running: ReceiverProcess, *, moves: bool, changes: bool
) -> None:
    running.post("/orders", b"{}")
    page = live.page
    row = page.locator(".row", has_text="/orders")
    row.hover()
    expect(page.locator(".row:hover")).to_have_count(1)  # nothing above it has moved it away
    page.mouse.down()
    if moves:
        running.post("/invoices", b"{}")
        expect(row).to_have_attribute("aria-posinset", "2")
    if changes:
        secrets = b'{"secrets": ["s"]}'
        assert running.call_over_http("PUT", "/tokens/orders/secrets", secrets)[0] == 204
        expect(row).to_contain_text("missing header")
    page.mouse.up()
    expect(page.locator("#detail h2")).to_have_text("POST /orders")


def test_a_press_dragged_away_opens_nothing(live: ObservedPage, running: ReceiverProcess) -> None:
    running.post("/orders", b"{}")
    page = live.page
    page.locator(".row").hover()
    page.mouse.down()
    page.locator("#search").hover()
    page.mouse.up()
    expect(page.locator(".row")).to_have_attribute("aria-selected", "false")


def test_a_click_without_pointer_opens_a_row(live: ObservedPage, running: ReceiverProcess) -> None:
    running.post("/orders", b"{}")
    live.page.locator(".row").dispatch_event("click")
    expect(live.page.locator("#detail h2")).to_have_text("POST /orders")


def test_a_body_that_is_not_text_is_shown_byte_by_byte(
    live: ObservedPage, running: ReceiverProcess
) -> None:
    running.post("/orders", bytes(range(256)) * 32)
    live.page.locator(".row").click()
    live.page.get_by_role("tab", name="Hex").click()
    expect(live.page.locator(".hex")).to_contain_text("0000f0  f0 f1 f2")
    expect(live.page.locator("#detail")).to_contain_text("This is not UTF-8 text.")
    live.page.get_by_role("button", name="Show more (4,096 bytes left)").click()
    expect(live.page.locator(".hex")).to_contain_text("001ff0  f0 f1 f2")


def test_untrusted_text_stays_text_wherever_it_stands(
    live: ObservedPage, running: ReceiverProcess
) -> None:
    quoted = HOSTILE.encode()
    running.exchange(
        b"POST /%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        b"X-Hostile: %s\r\nContent-Length: %d\r\n\r\n%s"
        % (quoted.replace(b" ", b"/"), quoted, len(quoted), quoted)
    )
    body = json.dumps({HOSTILE: [HOSTILE], "__proto__": {"polluted": True}}).encode()
    running.post("/javascript:alert(3)", body, headers=b"X-Hidden: \xc2\xad\x85end\r\n")
    page = live.page
    for path in ("/<script>", "/javascript:alert(3)"):
        page.locator(".row", has_text=path).click()
        expect(page.locator("#detail h2")).to_contain_text(path)
        for tab in ("Hex", "Text"):
            page.locator("#detail").get_by_role("tab", name=tab).click()
        expect(page.locator("#body-panel")).to_contain_text("<img src=x onerror=")
    page.locator("#detail").get_by_role("tab", name="Pretty").click()
    expect(page.locator("#body-panel .key").first).to_contain_text("<script>alert(")
    expect(page.locator("#detail .headers")).to_contain_text("\\u{ad}")
    page.keyboard.press("r")
    expect(page.locator("#replay")).to_be_visible()
    page.keyboard.press("Escape")
    assert page.locator("img, iframe, object, #main script, script:not([src])").count() == 0
    assert page.locator("svg [onload], [onerror], [onclick]").count() == 0
    assert page.evaluate("({}).polluted") is None


def test_the_page_itself_could_not_run_foreign_markup(
    browser: Browser, running: ReceiverProcess
) -> None:
    with open_page(browser, running.control) as page:
        outcome = page.page.evaluate("""() => {
            try { document.body.innerHTML = "<b>x</b>"; return "accepted"; }
            catch (error) { return error.name; }
        }""")
        assert outcome == "TypeError"


def test_a_paused_page_stands_still_and_counts_what_is_new(
    live: ObservedPage, running: ReceiverProcess
) -> None:
    send(running, 3)
    page = live.page
    expect(page.locator("#shown")).to_have_text("3 deliveries")
    page.get_by_role("button", name="Pause").click()
    send(running, 4, begin=3)
    expect(page.locator("#shown")).to_have_text("7 deliveries · paused, 4 new")
    assert rows(page) == 3
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("#shown")).to_have_text("7 deliveries")
    assert rows(page) == 7


def test_a_reset_empties_the_page(live: ObservedPage, running: ReceiverProcess) -> None:
    send(running, 3)
    expect(live.page.locator("#shown")).to_have_text("3 deliveries")
    assert running.call_over_http("POST", "/reset")[0] == 204
    expect(live.page.locator("#empty")).to_be_visible()
    send(running, 2)
    expect(live.page.locator("#shown")).to_have_text("2 deliveries")


def test_the_whole_page_works_by_keyboard(live: ObservedPage, running: ReceiverProcess) -> None:
    send(running, 5)
    page = live.page
    expect(page.locator("#shown")).to_have_text("5 deliveries")
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    page.keyboard.press("j")
    chosen = page.locator('.row[aria-selected="true"]')
    expect(chosen).to_have_attribute("aria-posinset", "2")
    active = page.locator("#list").get_attribute("aria-activedescendant")
    assert active == chosen.get_attribute("id")
    page.keyboard.press("Enter")
    expect(page.locator("#detail h2")).to_be_visible()
    first = page.locator("#detail h2").text_content()
    page.keyboard.press("j")
    expect(page.locator("#detail h2")).not_to_have_text(first or "")
    page.keyboard.press("Escape")
    expect(page.locator("#detail")).to_be_hidden()
    expect(page.locator("#list")).to_be_focused()
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("jkp")
    expect(page.locator("#search")).to_have_value("jkp")
    page.keyboard.press("Escape")
    expect(page.locator("#search")).to_have_value("")
    page.keyboard.press("?")
    expect(page.locator("#shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("p")
    expect(page.locator("#pause")).to_have_text("Resume")


def test_a_narrow_window_shows_everything_without_scrolling_sideways(
    browser: Browser, running: ReceiverProcess
) -> None:
    send(running, 30, token="a-token-with-a-rather-long-name-that-does-not-fit")
    with open_page(browser, running.control, width=390, height=844) as narrow:
        page = narrow.page
        expect(page.locator("#shown")).to_have_text("30 deliveries")
        page.locator(".row").first.click()
        expect(page.locator("#detail .headers")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        box = page.locator("#detail").bounding_box()
        assert box is not None
        assert (box["x"], box["width"]) == (0, 390)
        page.get_by_role("button", name="Close").click()
        expect(page.locator("#list")).to_be_visible()
        assert narrow.forbidden_actions(running.control) == []


@contextmanager
def replay_server() -> Iterator[tuple[str, list[tuple[str, str, bytes]]]]:
    """A server that a delivery can be replayed to: its URL, and what it received."""
    received: list[tuple[str, str, bytes]] = []

    class RecordingHandler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((self.path, self.headers["X-Mine"], body))
            self.send_response(202)
            self.end_headers()
            self.wfile.write(HOSTILE.encode())

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), RecordingHandler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_delivery_is_replayed_to_another_url(
    live: ObservedPage, running: ReceiverProcess
) -> None:
    running.post("/orders", b'{"a": 1}', headers=b"X-Mine: yes\r\n")
    page = live.page
    page.locator(".row").click()
    expect(page.locator("#detail h2")).to_be_visible()
    page.get_by_role("button", name="Replay…").click()
    with replay_server() as (url, received):
        page.get_by_role("textbox", name="URL").fill(f"{url}/again")
        page.keyboard.press("Enter")
        expect(page.locator(".outcome")).to_contain_text("Answered 202 after")
        expect(page.locator(".outcome")).to_contain_text("<script>alert(")
    assert received == [("/again", "yes", b'{"a": 1}')]


def test_a_replay_to_elsewhere_is_refused_in_one_line(
    browser: Browser, running: ReceiverProcess
) -> None:
    running.post("/orders", b"{}")
    with open_page(browser, running.control) as live:
        page = live.page
        page.locator(".row").click()
        expect(page.locator("#detail h2")).to_be_visible()
        page.keyboard.press("r")
        page.get_by_role("textbox", name="URL").fill("http://10.0.0.1/")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".refused")).to_have_text(
            "10.0.0.1 is closed to replays, which go to this machine only; "
            "--allow-replay opens a network or a host"
        )


def test_a_delivery_is_copied_as_curl_and_saved(browser: Browser, running: ReceiverProcess) -> None:
    running.post("/orders", b"\x00raw\xff")
    with open_page(browser, running.control) as live:
        page = live.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.locator(".row").click()
        page.get_by_role("button", name="Copy as curl").click()
        expect(page.locator("#status")).to_have_text("Copied as curl.")
        assert "--data-binary @-" in page.evaluate("navigator.clipboard.readText()")
        with page.expect_download() as saved:
            page.get_by_role("link", name="Save body").click()
        assert saved.value.path().read_bytes() == b"\x00raw\xff"
        with page.expect_download() as saved:
            page.get_by_role("link", name="Save request").click()
        assert saved.value.path().read_bytes().startswith(b"POST /orders HTTP/1.1\r\nHost: x\r\n")
        assert saved.value.path().read_bytes().endswith(b"\r\n\r\n\x00raw\xff")


def test_a_page_that_lost_its_receiver_says_so(browser: Browser) -> None:
    with receiver("--http") as process, open_page(browser, process.control) as live:
        expect(live.page.locator("#connection")).to_have_text("live")
        assert process.process.stdin is not None
        process.process.stdin.close()
        expect(live.page.locator("#connection")).to_have_text(
            re.compile("reconnecting|receiver stopped")
        )
