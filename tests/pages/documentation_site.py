"""The documentation as a site, built once for all tests, and what its pages refer to."""

import subprocess
import sys
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from docs.site.pages import SETTINGS, write_site

BUILT_WITHIN_S = 300
# The attributes by which a browser fetches something as it shows a page; a link is not among them.
FETCHED = frozenset({"src", "srcset", "poster", "data", "xlink:href"})


def build(folder: Path) -> "subprocess.CompletedProcess[str]":
    """Build the site into `site` in a folder, as `make docs` does."""
    write_site(folder)
    return build_from(folder)


def build_from(folder: Path) -> "subprocess.CompletedProcess[str]":
    """Build a site from its settings and pages in a folder."""
    command = Path(sys.executable).with_name("zensical")
    options = ("--strict", "--clean", "--config-file", str(folder / SETTINGS))
    return subprocess.run(
        [command, "build", *options],
        capture_output=True,
        text=True,
        timeout=BUILT_WITHIN_S,
        check=False,
    )


@dataclass(slots=True)
class References(HTMLParser):
    """What a page has: anchors, links, and what a browser fetches for it."""

    anchors: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    fetched: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name == "href":
                (self.links if tag == "a" else self.fetched).add(value or "")
            elif name in FETCHED:
                self.fetched.add(value or "")


class BuiltSite:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def pages(self) -> dict[Path, References]:
        found = {}
        for path in sorted(self.folder.rglob("*.html")):
            references = References()
            references.feed(path.read_text("utf-8"))
            found[path] = references
        return found

    def anchors_of(self, page: str) -> set[str]:
        return self.pages[self.folder / page].anchors

    def text_of(self, page: str) -> str:
        return (self.folder / page).read_text("utf-8")

    def dead_links(self) -> list[str]:
        """The links within the site that lead to no file, or to no anchor of a page."""
        return [
            f"{path.relative_to(self.folder)}: {link}"
            for path, references in self.pages.items()
            if path.name != "404.html"  # its links are those of the top folder
            for link in references.links | references.fetched
            if not urlsplit(link).scheme and not self._leads_somewhere(path, link)
        ]

    def _leads_somewhere(self, page: Path, link: str) -> bool:
        parts = urlsplit(link)
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if target.is_dir():
            return link in {".", "./"} or (target / "index.html").exists()
        if not target.is_file():
            return False
        anchor = unquote(parts.fragment)
        return not anchor or target not in self.pages or anchor in self.pages[target].anchors
