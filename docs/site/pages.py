"""Writes the pages of the site and its settings into a folder, from which zensical builds it.

python -m docs.site.pages FOLDER
"""

import shutil
import sys
from pathlib import Path
from typing import Any, Final

import yaml

from docs.site.reference_pages.generation import reference_pages
from docs.site.reference_pages.page import ReferencePage
from docs.site.reference_pages.repository import ROOT, repository_files, with_site_links

SETTINGS: Final = "mkdocs.yml"
PAGES: Final = "pages"

# The folders of generated pages, by the headings of the navigation under which they stand.
GENERATED_FOLDERS: Final = {
    "Commands": "reference/commands/",
    "Requirements": "reference/requirements/",
    "Dialect fields": "reference/dialect/",
    "Faults": "reference/faults/",
}


def write_site(folder: Path) -> None:
    """Write into the folder the settings, and `pages` with all that the site shows."""
    pages = folder / PAGES
    shutil.rmtree(pages, ignore_errors=True)
    docs = ROOT / "docs"
    shutil.copytree(docs / "site" / "assets", pages / "site" / "assets")
    for page in docs.glob("*.md"):
        (pages / page.name).write_text(with_site_links(page.read_text("utf-8"), "docs"), "utf-8")
    for page in docs.glob("examples/*"):
        (pages / "examples").mkdir(exist_ok=True)
        shutil.copy(page, pages / "examples")
    for made in (*reference_pages(), *repository_files()):
        path = pages / made.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made.text, "utf-8")
    written = (docs / "site" / SETTINGS).read_text("utf-8")
    head, navigation = written.split("\nnav:\n")
    entries: list[dict[str, Any]] = yaml.safe_load(f"nav:\n{navigation}")["nav"]
    for tab in entries:
        for entry in (each for listed in tab.values() for each in listed):
            if isinstance(entry, dict):
                _fill(entry, reference_pages())
    settings = f"{head}\n{yaml.safe_dump({'nav': entries}, sort_keys=False)}"
    (folder / SETTINGS).write_text(settings, "utf-8")


def _fill(entry: dict[str, Any], pages: tuple[ReferencePage, ...]) -> None:
    """Put each generated page under the heading of its folder."""
    [(heading, paths)] = entry.items()
    listed = set(paths)
    paths.extend(
        {page.title: page.path}
        for page in pages
        if page.path.startswith(GENERATED_FOLDERS[heading])
        and page.path not in listed
        and page.path.endswith(".md")
    )


if __name__ == "__main__":
    write_site(Path(sys.argv[1]))
