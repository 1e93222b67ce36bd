"""What mkdocs calls as it builds the site: adds the generated pages, and those outside docs/."""

from typing import Any, Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from docs.site.reference_pages.generation import reference_pages
from docs.site.reference_pages.page import ReferencePage
from docs.site.reference_pages.repository import REPOSITORY_PAGES, repository_files, with_site_links

# The folders of generated pages, by the headings of the navigation under which they stand.
GENERATED_FOLDERS: Final = {
    "Commands": "reference/commands/",
    "Requirements": "reference/requirements/",
    "Dialect fields": "reference/dialect/",
    "Faults": "reference/faults/",
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put each generated page under the heading of its folder."""
    assert config.nav is not None
    for tab in config.nav:
        for entry in [entry for entries in tab.values() for entry in entries]:
            if isinstance(entry, dict):
                _fill(entry, reference_pages())
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for page in (*reference_pages(), *repository_files()):
        files.append(File.generated(config, page.path, content=page.text))
    return files


def on_page_markdown(markdown: str, page: Page, **_further: Any) -> str:
    """Lead links out of docs/, which are right on GitHub, to what the site has of it."""
    is_written = "/" not in page.file.src_uri and page.file.src_uri not in REPOSITORY_PAGES
    return with_site_links(markdown, "docs") if is_written else markdown


def _fill(entry: dict[str, Any], pages: tuple[ReferencePage, ...]) -> None:
    [(heading, paths)] = entry.items()
    listed = set(paths)
    paths.extend(
        {page.title: page.path}
        for page in pages
        if page.path.startswith(GENERATED_FOLDERS[heading])
        and page.path not in listed
        and page.path.endswith(".md")
    )
