"""The HTML report in a real browser: it fits wide and narrow windows, filters, and runs nothing of
a hostile target.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, Request, sync_playwright

from hookproof.conformance.model.judgement import Marks
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.html import html_text
from tests.conformance.canned_evidence import delivery
from tests.conformance.canned_run import failed, finished_run, passed
from tests.conformance.golden_run import golden_run

CHROMIUM = Path("/usr/bin/chromium")
QUIET = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update"
    " --disable-sync --no-first-run"
)

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"there is no browser at {CHROMIUM}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET.split())
        yield browser
        browser.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "report.html").write_text(html_text(golden_run(tmp_path)), encoding="utf-8")
    return tmp_path / "report.html"


def open_page(
    browser: Browser, path: Path, width: int = 1280, scheme: str = "light"
) -> tuple[Page, list[str]]:
    """The page, and the dialogs, errors, console messages and network requests while it is open."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    unwanted: list[str] = []

    def dismiss_dialog(dialog: Dialog) -> None:
        unwanted.append(dialog.message)
        dialog.dismiss()

    def note_request(request: Request) -> None:
        if not request.url.startswith("file:"):
            unwanted.append(request.url)

    page.on("dialog", dismiss_dialog)
    page.on("pageerror", lambda error: unwanted.append(str(error)))
    page.on("console", lambda message: unwanted.append(message.text))
    page.on("request", note_request)
    page.goto(path.as_uri())
    return page, unwanted


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_its_window_and_runs_nothing_of_the_target(
    browser: Browser, path: Path, width: int, scheme: str
) -> None:
    page, unwanted = open_page(browser, path, width, scheme)
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert unwanted == []
    assert page.inner_text("h1") == "ERROR"


def test_the_two_schemes_differ(browser: Browser, path: Path) -> None:
    backgrounds = {
        open_page(browser, path, scheme=scheme)[0].evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        for scheme in ("light", "dark")
    }
    assert len(backgrounds) == 2


def test_the_filter_shows_only_the_selected_requirements(browser: Browser, path: Path) -> None:
    page, _ = open_page(browser, path)
    assert page.inner_text("#shown") == "10 of 10"
    page.fill("#words", "4.1-4")
    assert page.locator(".requirement:visible").count() == 1
    page.fill("#words", "")
    page.uncheck("[name=verdict][value=pass]")
    assert page.inner_text("#shown") == "8 of 10"
    page.uncheck("[name=level][value=stated]")
    assert page.inner_text("#shown") == "2 of 10"


def test_a_link_in_the_matrix_opens_its_requirement(browser: Browser, path: Path) -> None:
    page, _ = open_page(browser, path)
    page.click(".cell[data-id='4.4-1']")
    assert page.locator("#r-4\\.4-1").is_visible()


def test_the_contents_and_the_steps_lead_from_finding_to_finding(
    browser: Browser, path: Path
) -> None:
    page, _ = open_page(browser, path)
    assert page.locator("#contents li a").all_inner_texts() == [
        "A delivery of 4.1-4 carries no valid signature",
        "The name that came back is another one",
    ]
    page.click("#contents li:nth-child(2) a")
    assert page.url.endswith("#f2")
    assert page.locator("#f2 .steps").inner_text().split() == ["previous", "contents"]
    page.click("#f2 .steps a:first-child")
    assert page.url.endswith("#f1")
    assert page.locator("#f1 .steps").inner_text().split() == ["next", "contents"]
    page.click("#f1 .steps a:first-child")
    assert page.url.endswith("#f2")


def test_what_differs_is_marked(browser: Browser, tmp_path: Path) -> None:
    entry = failed()
    shown = replace(
        entry.findings[0], expected="X-Id: a1, 2 attempts", actual="X-Id: a1, 3 <b>attempts"
    )
    (tmp_path / "marked.html").write_text(
        html_text(finished_run(tmp_path, replace(entry, findings=(shown,)))), encoding="utf-8"
    )
    page, _ = open_page(browser, tmp_path / "marked.html")
    assert page.locator(".facing mark").all_inner_texts() == ["2", "3", "<b>"]
    assert page.locator("#contents").count() == 0


def test_what_is_wrong_in_a_delivery_is_marked_as_it_is_shown(
    browser: Browser, tmp_path: Path
) -> None:
    entry, body = failed(), '{"a": "x y", "ü":[1, 22]}'.encode()
    at = body.index(b"22")
    shown = replace(
        entry.findings[0],
        deliveries=(delivery(headers=[("X-Signature", "v1=aa,v1=bb")], body=body),),
        marks=Marks(texts=("v1=bb",), body=(at, at + 2)),
    )
    (tmp_path / "marked.html").write_text(
        html_text(finished_run(tmp_path, replace(entry, findings=(shown,)))), encoding="utf-8"
    )
    page, _ = open_page(browser, tmp_path / "marked.html")
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    assert page.locator(".wire mark").all_inner_texts() == ["v1=bb", "22"]


def test_sections_with_findings_and_errors_are_open_and_passed_ones_closed(
    browser: Browser, tmp_path: Path
) -> None:
    error = replace(passed("4.3-1"), verdict=Verdict.ERROR)
    (tmp_path / "page.html").write_text(
        html_text(finished_run(tmp_path, failed("4.1-1"), passed("4.2-1"), error)),
        encoding="utf-8",
    )
    page, _ = open_page(browser, tmp_path / "page.html")
    assert page.locator("details.section[open] .no").all_inner_texts() == ["4.1", "4.3"]
    assert page.locator("details.section:not([open]) .no").all_inner_texts() == ["4.2"]


def test_the_page_prints(browser: Browser, path: Path) -> None:
    page, _ = open_page(browser, path)
    page.emulate_media(media="print")
    assert not page.locator(".filter").is_visible()
    assert page.pdf().startswith(b"%PDF")
