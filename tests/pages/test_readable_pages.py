"""Every page in a wide and a narrow window, light and dark: nothing scrolls sideways, and text
stands out from its ground.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conformance.reference_server import reference_server
from tests.pages.readability import excess_width, pale_texts
from tests.pages.test_content_policy import PAGES
from tests.receiver.dashboard.browser import DEADLINE_MS, chromium
from tests.receiver.receiver_process import receiver
from tests.source_tree import ROOT

pytestmark = pytest.mark.xdist_group("browser")

WIDE, NARROW = 1280, 390
OPEN_ALL: Final = "for (const each of document.querySelectorAll('details')) each.open = true"

# The address of a page, and what waits until all of it is shown.
Served = tuple[str, Callable[[Page], None]]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@contextmanager
def live_page() -> Iterator[Served]:
    """The page of a receiver with deliveries, one of which is open."""
    with receiver("--http") as running:
        headers = b"X-Webhook-Signature: 00\r\nContent-Type: application/json\r\n"
        for number in range(6):
            running.post(f"/token-{number}", b'{"a": [1, "x", null, true]}', headers=headers)
        secrets = b'{"secrets": ["a-secret-of-orders"]}'
        running.call_over_http("PUT", "/tokens/token-1/secrets", secrets)
        running.post("/token-1", b'{"long": "%s"}' % (b"x" * 500), headers=headers)

        def complete(page: Page) -> None:
            expect(page.locator(".row")).to_have_count(7, timeout=DEADLINE_MS)
            expect(page.locator(".track")).to_have_count(4, timeout=DEADLINE_MS)

        yield running.control, complete


@contextmanager
def docs_page(folder: Path) -> Iterator[Served]:
    """The page of the reference server with an operation that is open."""
    with reference_server(folder, ROOT, "p1") as ready:

        def complete(page: Page) -> None:
            page.wait_for_selector(".opblock-summary")
            page.locator(".opblock-summary-control").first.click()
            page.wait_for_selector(".opblock-body")

        yield f"{ready['api']}/docs", complete


@contextmanager
def written_page(folder: Path, name: str) -> Iterator[Served]:
    path = folder / name
    path.write_text(PAGES[name](folder), encoding="utf-8")
    yield path.as_uri(), lambda page: page.evaluate(OPEN_ALL)


@contextmanager
def served(name: str, folder: Path) -> Iterator[Served]:
    """A page by its name, while it is served."""
    if name == "live":
        with live_page() as page:
            yield page
    elif name == "docs":
        with docs_page(folder) as page:
            yield page
    else:
        with written_page(folder, name) as page:
            yield page


@pytest.mark.parametrize("name", [*PAGES, "live", "docs"])
def test_a_page_is_readable_in_every_window(browser: Browser, tmp_path: Path, name: str) -> None:
    """HOOKPROOF_SCREENSHOTS can name a folder for pictures of what is judged."""
    problems = {}
    with served(name, tmp_path) as (url, complete):
        for width in (WIDE, NARROW):
            for scheme in ("light", "dark"):
                page = browser.new_page(
                    viewport={"width": width, "height": 900},
                    color_scheme=scheme,  # type: ignore[arg-type]
                )
                page.goto(url)
                complete(page)
                problems[width, scheme] = [excess_width(page), *pale_texts(page)]
                if folder := os.environ.get("HOOKPROOF_SCREENSHOTS"):
                    page.screenshot(path=f"{folder}/{name}-{width}-{scheme}.png", full_page=True)
                page.close()
    assert problems == {window: [0] for window in problems}


def test_the_matrix_of_mutants_is_a_list_where_it_is_narrow(
    browser: Browser, tmp_path: Path
) -> None:
    with written_page(tmp_path, "mutants.html") as (url, _):
        page = browser.new_page(viewport={"width": WIDE, "height": 900})
        page.goto(url)
        shown = [page.locator(one).is_visible() for one in (".frame table", ".list")]
        assert shown == [True, False]
        page.set_viewport_size({"width": NARROW, "height": 900})
        shown = [page.locator(one).is_visible() for one in (".frame table", ".list")]
        assert shown == [False, True]
        page.close()


def test_the_reasons_of_what_was_learned_have_a_column_that_can_be_read(
    browser: Browser, tmp_path: Path
) -> None:
    with written_page(tmp_path, "learned.html") as (url, _):
        page = browser.new_page(viewport={"width": WIDE, "height": 900})
        page.goto(url)
        box = page.locator("td.proof").first.bounding_box()
        assert box is not None
        assert box["width"] > 300
        page.close()
