"""The policy of each report page permits the page itself and nothing that was put into it."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page

from hookproof.conformance.checks import all_checks
from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.learning.learner import Learned
from hookproof.conformance.learning.report import page as learned_page
from hookproof.conformance.model.ledger import LeftBehind
from hookproof.conformance.mutants.reports.html import render_page
from hookproof.conformance.reports.html import html_text
from hookproof.conformance.reports.matrix.formats import matrix_page
from hookproof.conformance.target.definition import Project, Target
from hookproof.load.reports.html_page import page as load_page
from hookproof.pages import StyleRules, policy_element
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.golden_run import golden_run
from tests.conformance.mutants.test_campaign_results import BOTH, campaign, outcome
from tests.conformance.reports.canned_matrix import canned_matrix
from tests.load.reports.test_load_page import REPORT
from tests.receiver.dashboard.browser import chromium

PAGES: Final[Mapping[str, Callable[[Path], str]]] = {
    "report.html": lambda folder: html_text(golden_run(folder)),
    "learned.html": lambda _: learned_page(*learned()),
    "matrix.html": lambda folder: matrix_page(canned_matrix(folder)),
    "load.html": lambda _: load_page(REPORT),
    "mutants.html": lambda _: render_page(campaign(outcome(*BOTH)), all_checks()),
}


def learned() -> tuple[Learned, Target]:
    """What a service was seen to do, whose words are markup."""
    dialect = load_dialect("undecided")
    answers = LearnedAnswers("undecided", dialect)
    answers.see("words.event_created", "<b>queued</b>", shown_by="POST <i>event</i>: 201")
    projects = (Project(id="p1", api_key="key"),)
    target = Target(base_url="http://127.0.0.1:5005", projects=projects, dialect=dialect)
    return Learned(answers=answers, exchanges=1, left=LeftBehind()), target


# What a target would like to have in a page, and what would show that it has its way.
INJECTED: Final = """
<script>document.title = "executed"</script>
<img src="x" onerror="document.title = 'executed'">
<style>body { opacity: 0.5 }</style>
<p id="styled" style="position: fixed">styled</p>
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


def opened(browser: Browser, folder: Path, content: str) -> tuple[Page, list[str]]:
    """The page in a browser, and what the browser complains about."""
    path = folder / "page.html"
    path.write_text(content, encoding="utf-8")
    complaints: list[str] = []
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    return page, complaints


@pytest.mark.parametrize("name", PAGES)
def test_nothing_inline_is_permitted_but_by_its_hash(tmp_path: Path, name: str) -> None:
    content = PAGES[name](tmp_path)
    (policy,) = re.findall('Content-Security-Policy" content="([^"]*)"', content)
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'; ")
    assert not re.search(r"<[^>]* style=", content)
    assert content.index("Content-Security-Policy") < content.index("<style>")


@pytest.mark.parametrize("name", PAGES)
def test_the_page_itself_is_permitted(browser: Browser, tmp_path: Path, name: str) -> None:
    page, complaints = opened(browser, tmp_path, PAGES[name](tmp_path))
    assert complaints == []
    assert page.evaluate("document.styleSheets[0].cssRules.length") > 5


@pytest.mark.parametrize("name", PAGES)
def test_what_was_put_into_it_is_not(browser: Browser, tmp_path: Path, name: str) -> None:
    content = PAGES[name](tmp_path).replace("</body>", f"{INJECTED}</body>")
    page, complaints = opened(browser, tmp_path, content)
    assert page.title() != "executed"
    assert page.evaluate("getComputedStyle(document.body).opacity") == "1"
    position = "getComputedStyle(document.getElementById('styled')).position"
    assert page.evaluate(position) == "static"
    assert len(complaints) >= 3


def test_the_learned_page_fits_a_telephone_and_has_a_dark_form(
    browser: Browser, tmp_path: Path
) -> None:
    page, _ = opened(browser, tmp_path, PAGES["learned.html"](tmp_path))
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    assert "<b>queued</b>" in page.inner_text("table")


def test_a_page_without_scripts_permits_none() -> None:
    assert "script-src 'none';" in policy_element(styles=["p {}"])


def test_equal_declarations_share_a_class() -> None:
    rules = StyleRules()
    first, second = rules.class_of("width: 1%"), rules.class_of("width: 2%")
    assert rules.class_of("width: 1%") == first != second
    assert rules.text() == f".{first} {{ width: 1% }}\n.{second} {{ width: 2% }}\n"
