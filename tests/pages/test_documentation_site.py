"""The site of the documentation: complete, without dead links, and readable without a network."""

import html
import os
import re
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest
from playwright.sync_api import Browser, Page, expect

from docs.site.pages import PAGES, SETTINGS, write_site
from hookproof.cli import SUBCOMMANDS, cli
from hookproof.help_examples import examples_in
from hookproof.load.figures import FIGURES
from hookproof.mockserver.faults.catalogue import catalogue
from hookproof.process.exit_codes import ExitCode
from hookproof.spec.catalogue import load_catalogue
from hookproof.spec.described_fields import described_fields
from tests.pages.documentation_site import BuiltSite, build, build_from
from tests.pages.readability import excess_width, pale_texts
from tests.receiver.dashboard.browser import DEADLINE_MS, chromium
from tests.source_tree import ROOT

pytestmark = [
    pytest.mark.xdist_group("documentation_site"),
    pytest.mark.skipif(find_spec("zensical") is None, reason="zensical is not installed"),
]

WIDE, NARROW = 1280, 390
LONGEST_SHOWN = 5


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> BuiltSite:
    folder = tmp_path_factory.mktemp("site")
    outcome = build(folder)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return BuiltSite(folder / "site")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


def longest(site: BuiltSite) -> list[Path]:
    return sorted(site.pages, key=os.path.getsize, reverse=True)[:LONGEST_SHOWN]


def shown_text(markup: str) -> str:
    """The text of a page, its words apart by single spaces."""
    tags = re.sub(r"</?(?:wbr|code|span)[^>]*>", "", markup)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", tags)).split())


def test_no_link_is_dead(site: BuiltSite) -> None:
    assert site.pages
    assert site.dead_links() == []


def test_a_dead_link_would_be_noticed(tmp_path: Path) -> None:
    (tmp_path / "other.html").write_text('<p id="here">')
    (tmp_path / "page.html").write_text(
        '<a href="other.html#here"></a><a href="other.html#gone"></a><a href="gone.html"></a>'
        '<link href="gone.css"><img src="gone.png"><a href="https://example.org"></a>'
    )
    dead = {each.partition(": ")[2] for each in BuiltSite(tmp_path).dead_links()}
    assert dead == {"other.html#gone", "gone.html", "gone.css", "gone.png"}


@pytest.mark.parametrize("link", ["gone.md", "index.md#gone", "#gone", "/index.md"])
def test_a_link_that_leads_nowhere_fails_the_build(link: str, tmp_path: Path) -> None:
    """The settings of the site, for a page that links to itself and to that."""
    write_site(tmp_path)
    settings = (tmp_path / SETTINGS).read_text().partition("\nnav:")[0]
    (tmp_path / SETTINGS).write_text(f"{settings}\nnav: [index.md]\n")
    shutil.rmtree(tmp_path / PAGES)
    (tmp_path / PAGES).mkdir()
    for text, code in (("[here](index.md#heading)", 0), (f"[there]({link})", 1)):
        (tmp_path / PAGES / "index.md").write_text(f"# Heading\n\n{text}\n")
        outcome = build_from(tmp_path)
        assert outcome.returncode == code, outcome.stdout + outcome.stderr


def test_make_builds_with_warnings_as_errors() -> None:
    recipe = re.search(r"zensical build.*", (ROOT / "Makefile").read_text())
    assert recipe is not None
    assert "--strict" in recipe[0]


def test_a_page_fetches_nothing_from_elsewhere(site: BuiltSite) -> None:
    fetched = {address for page in site.pages.values() for address in page.fetched}
    assert fetched
    assert {address for address in fetched if urlsplit(address).netloc} == set()


def test_a_style_sheet_fetches_nothing_from_elsewhere(site: BuiltSite) -> None:
    sheets = list(site.folder.rglob("*.css"))
    assert sheets
    for sheet in sheets:
        named = re.findall(
            r"(?:url\(|@import)\s*['\"]?((?:https?:)?//[^'\")\s]+)", sheet.read_text()
        )
        assert named == [], sheet


def test_a_browser_asks_no_host_and_finds_words(site: BuiltSite, browser: Browser) -> None:
    asked: list[str] = []
    with browser.new_context() as context:
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site.folder / "index.html").as_uri())
        page.locator(".md-search__button").click()
        page.get_by_role("combobox", name="Search").press_sequentially("idempotency_key")
        found = page.get_by_role("option", name="idempotency.duplicate_status")
        expect(found.first).to_be_visible(timeout=DEADLINE_MS)
    assert asked
    assert {url for url in asked if urlsplit(url).scheme not in {"file", "data", "blob"}} == set()


def test_every_command_has_a_page_with_its_options_and_examples(site: BuiltSite) -> None:
    for name in SUBCOMMANDS:
        text = site.text_of(f"reference/commands/{name}.html")
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        shown = shown_text(text)
        for line, meaning in examples_in(command.epilog):
            assert line in shown
            assert meaning.replace("`", "") in shown
        for parameter in command.params:
            hidden = isinstance(parameter, click.Argument) or getattr(parameter, "hidden", False)
            assert hidden or parameter.opts[-1] in shown


def test_the_index_for_agents_names_every_page_and_command_by_a_sentence(site: BuiltSite) -> None:
    lines = site.text_of("llms.txt").splitlines()
    entries = [re.fullmatch(r"- \[(.+)\]\((.+\.html)\): (.+\.)", line) for line in lines]
    links = {entry[2]: entry[1] for entry in entries if entry}
    assert all((site.folder / link).is_file() for link in links)
    assert {f"hookproof {name}" for name in SUBCOMMANDS} <= set(links.values())
    assert {path.with_suffix(".html").name for path in (ROOT / "docs").glob("*.md")} <= set(links)
    assert len(links) == sum(line.startswith("- ") for line in lines)


def test_every_requirement_is_on_the_page_of_its_section(site: BuiltSite) -> None:
    for requirement in load_catalogue().requirements.values():
        page = f"reference/requirements/{requirement.section}.html"
        assert requirement.id in site.anchors_of(page)


def test_every_field_of_a_dialect_is_on_the_page_of_its_group(site: BuiltSite) -> None:
    for field in described_fields():
        group = field.name.partition(".")[0] if "." in field.name else "labels"
        assert field.name in site.anchors_of(f"reference/dialect/{group}.html")


def test_every_fault_is_on_the_page_of_its_area(site: BuiltSite) -> None:
    for fault in catalogue().values():
        assert fault.name in site.anchors_of(f"reference/faults/{fault.area}.html")


def test_gaps_figures_and_exit_codes_are_complete(site: BuiltSite) -> None:
    assert set(load_catalogue().gaps) <= site.anchors_of("reference/gaps.html")
    figures = shown_text(site.text_of("reference/load-figures.html"))
    assert [name for name in FIGURES if f" {name} " not in figures] == []
    codes = site.text_of("reference/exit-codes.html")
    assert [code.value for code in ExitCode if f"<td>{code.value}</td>" not in codes] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_longest_pages_are_readable(
    width: int, scheme: str, site: BuiltSite, browser: Browser
) -> None:
    found: dict[str, object] = {}
    for path in longest(site):
        page = opened(browser, path, width, scheme)
        if (excess := excess_width(page)) > 0:
            found[f"{path.name} is wider than its window"] = excess
        if pale := pale_texts(page):
            found[f"{path.name} is pale"] = pale[:5]
        page.context.close()
    assert found == {}


def opened(browser: Browser, path: Path, width: int, scheme: str) -> Page:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    page.goto(path.as_uri())
    return page
