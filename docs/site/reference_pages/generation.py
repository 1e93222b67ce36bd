"""All pages of the reference, each made from what the commands themselves read."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from docs.site.reference_pages.agents_index import agents_pages
from docs.site.reference_pages.commands import command_pages
from docs.site.reference_pages.dialect_fields import dialect_pages
from docs.site.reference_pages.exit_codes import exit_code_pages
from docs.site.reference_pages.faults import fault_pages
from docs.site.reference_pages.file_formats import file_format_pages
from docs.site.reference_pages.load_figures import load_figure_pages
from docs.site.reference_pages.page import ReferencePage
from docs.site.reference_pages.requirements import requirement_pages

_PARTS: Final[tuple[Callable[[], Iterator[ReferencePage]], ...]] = (
    command_pages,
    requirement_pages,
    dialect_pages,
    fault_pages,
    load_figure_pages,
    file_format_pages,
    exit_code_pages,
    agents_pages,
)


@cache
def reference_pages() -> tuple[ReferencePage, ...]:
    return tuple(page for pages in _PARTS for page in pages())
