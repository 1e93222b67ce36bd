"""What the site shows of files outside docs/: some as pages, the rest as they are."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from docs.site.reference_pages.page import ReferencePage

ROOT: Final = Path(__file__).resolve().parents[3]

# Pages of the repository by their paths in the site.
REPOSITORY_PAGES: Final = {
    "index.md": "README.md",
    "architecture.md": "ARCHITECTURE.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
}
ICON: Final = ("site/assets/icon.svg", "receiver/dashboard/page/icon.svg")
# Where other files of the repository stand in the site.
SOURCES: Final = "sources"

_LINK: Final = re.compile(r"\]\((?P<path>[^):#\s]+)(?P<anchor>#[^)]*)?\)")
_PAGES_IN_SITE: Final = {source: path for path, source in REPOSITORY_PAGES.items()}


def repository_files() -> Iterator[ReferencePage]:
    """The pages of the repository, and the files outside docs/ to which pages lead."""
    for path, source in REPOSITORY_PAGES.items():
        text = (ROOT / source).read_text("utf-8")
        yield ReferencePage(path=path, title=source, text=with_site_links(text, "."))
    path, source = ICON
    yield ReferencePage(path=path, title=source, text=(ROOT / source).read_text("utf-8"))
    for source in sorted(_linked_sources()):
        yield _folder_page(source) if (ROOT / source).is_dir() else _source_file(source)


def with_site_links(markdown: str, folder: str) -> str:
    """The Markdown of a page in a folder of the repository, with links to files of the site."""
    return _LINK.sub(
        lambda link: f"]({_in_site(_target(link['path'], folder))}{link['anchor'] or ''})",
        markdown,
    )


def _linked_sources() -> Iterator[str]:
    pages = {ROOT / source for source in REPOSITORY_PAGES.values()} | {
        *(ROOT / "docs").glob("*.md")
    }
    targets = {
        _target(link["path"], page.parent.relative_to(ROOT).as_posix())
        for page in pages
        for link in _LINK.finditer(page.read_text("utf-8"))
    }
    return (
        target
        for target in targets
        if not target.startswith("docs/") and target not in _PAGES_IN_SITE
    )


def _target(path: str, folder: str) -> str:
    """What a link leads to, relative to the repository."""
    return (ROOT / folder / path).resolve().relative_to(ROOT).as_posix()


def _in_site(target: str) -> str:
    if target in _PAGES_IN_SITE:
        return _PAGES_IN_SITE[target]
    if target.startswith("docs/"):
        return target.removeprefix("docs/")
    return f"{SOURCES}/{target}.md" if (ROOT / target).is_dir() else f"{SOURCES}/{target}"


def _source_file(source: str) -> ReferencePage:
    text = (ROOT / source).read_text("utf-8")
    return ReferencePage(path=f"{SOURCES}/{source}", title=source, text=text)


def _folder_page(source: str) -> ReferencePage:
    """A page with the text of every file in a folder."""
    lines = [f"# {source}/", ""]
    for path in sorted((ROOT / source).iterdir()):
        if path.is_file() and path.suffix != ".pyc":
            language = {"yaml": "yaml", "py": "python"}.get(path.suffix.lstrip("."), "text")
            text = path.read_text("utf-8")
            lines += [f"## {path.name}", ""]
            lines += (
                [text] if path.suffix == ".md" else [f"```{language}", text.rstrip(), "```", ""]
            )
    name = PurePosixPath(source).name
    return ReferencePage(path=f"{SOURCES}/{source}.md", title=name, text="\n".join(lines))
