"""llms.txt, the index of the site for agents: made from the pages and the commands."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from docs.site.reference_pages.page import ReferencePage
from docs.site.reference_pages.repository import REPOSITORY_PAGES, ROOT
from hookproof.cli import SUBCOMMANDS

PATH: Final = "llms.txt"
_TITLE: Final = re.compile(r"^# (?P<title>.+)$", re.MULTILINE)
# How a paragraph of running text does not begin: a heading, a comment, a table, a list, code.
_NO_TEXT: Final = re.compile(r"#|<|\||```|>|!|[*-] |$")
_SENTENCE: Final = re.compile(r".+?\.(?= |$)")
_LINK: Final = re.compile(r"\[([^\]]+)\]\([^)]*\)")


def agents_pages() -> Iterator[ReferencePage]:
    yield ReferencePage(path=PATH, title=PATH, text="\n".join(_lines()) + "\n")


def _lines() -> Iterator[str]:
    title, summary = _described(ROOT / "README.md")
    yield from (f"# {title}", "", f"> {summary}", "", "## Documentation", "")
    written = {path.with_suffix(".html").name: path for path in (ROOT / "docs").glob("*.md")}
    pages = {
        **{name: written[name] for name in sorted(written)},
        **{
            path.replace(".md", ".html"): ROOT / source
            for path, source in REPOSITORY_PAGES.items()
            if path != "index.md"
        },
    }
    for name, path in pages.items():
        title, summary = _described(path)
        yield f"- [{title}]({name}): {summary}"
    yield from ("", "## Commands", "")
    for name, (_, line) in sorted(SUBCOMMANDS.items()):
        yield f"- [hookproof {name}](reference/commands/{name}.html): {line}"


def _described(page: Path) -> tuple[str, str]:
    """The title of a page and its first sentence, without links."""
    text = page.read_text("utf-8")
    title = _TITLE.search(text)
    assert title is not None, page
    paragraphs = text[title.end() :].strip().split("\n\n")
    first = next(each for each in paragraphs if not _NO_TEXT.match(each))
    words = " ".join(_LINK.sub(r"\1", first).split()).rstrip(":.") + "."
    sentence = _SENTENCE.match(words)
    assert sentence is not None, page
    return title["title"], sentence[0]
