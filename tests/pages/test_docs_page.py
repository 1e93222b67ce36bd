"""The page /docs of the reference server in a browser."""

from pathlib import Path

from tests.conformance.reference_server import reference_server
from tests.receiver.dashboard.browser import chromium
from tests.source_tree import ROOT


def test_the_page_names_the_address_that_serves_it_and_has_an_icon(tmp_path: Path) -> None:
    with reference_server(tmp_path, ROOT, "p1") as ready, chromium() as browser:
        page = browser.new_page()
        unwanted: list[str] = []
        page.on("console", lambda message: unwanted.append(message.text))
        page.on("pageerror", lambda error: unwanted.append(str(error)))
        page.goto(f"{ready['api']}/docs")
        page.wait_for_selector(".servers")
        assert page.inner_text(".servers").strip() == ready["api"]
        assert page.title().endswith(ready["api"].removeprefix("http://"))
        icon = page.get_attribute("link[rel=icon]", "href")
        answer = page.request.get(f"{ready['api']}{icon}")
        assert answer.headers["content-type"].startswith("image/svg+xml")
        assert unwanted == []


def test_the_page_is_dark_where_the_browser_is(tmp_path: Path) -> None:
    light_and_dark = []
    with reference_server(tmp_path, ROOT, "p1") as ready, chromium() as browser:
        for scheme in ("light", "dark"):
            page = browser.new_page(color_scheme=scheme)  # type: ignore[arg-type]
            page.goto(f"{ready['api']}/docs")
            light_and_dark.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert light_and_dark == ["rgba(0, 0, 0, 0)", "rgb(20, 24, 29)"]
