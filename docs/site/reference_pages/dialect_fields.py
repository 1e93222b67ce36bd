"""A page for each group of dialect fields, and one with all that the document leaves open."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby
from typing import Any, Final

from docs.site.reference_pages.page import ReferencePage, render
from hookproof.spec.catalogue import Requirement, load_catalogue
from hookproof.spec.described_fields import EXTENDED, DescribedField, answer_at, field_groups
from hookproof.spec.dialect.reader import load_dialect, shipped_dialects
from hookproof.spec.dialect.writer import answer_text, written_dialect

# The page of the fields at the top of a file.
_TOP: Final = "labels"


def dialect_pages() -> Iterator[ReferencePage]:
    pages = {name: list(groups) for name, groups in groupby(field_groups(), _page_of)}
    yield render(
        "reference/dialect/index.md",
        "Dialect fields",
        "dialect_fields.md",
        pages=pages,
        dialects={name: load_dialect(name).summary for name in shipped_dialects()},
        undecided=EXTENDED,
    )
    for name, groups in pages.items():
        yield render(
            f"reference/dialect/{name}.md",
            name.capitalize(),
            "dialect_group.md",
            groups=groups,
            answers=_answers,
            bound=_requirements_by_gap(),
        )
    catalogue = load_catalogue()
    yield render(
        "reference/gaps.md",
        "What the document leaves open",
        "gaps.md",
        gaps=catalogue.gaps,
        sections=catalogue.sections,
        bound=_requirements_by_gap(),
        page_of=field_page,
    )


def field_page(field: str) -> str:
    """The name of the page on which a field is described."""
    return field.partition(".")[0] if "." in field else _TOP


def _page_of(group: Any) -> str:
    return group.name.partition(".")[0] or _TOP


def _answers(field: DescribedField) -> dict[str, str]:
    """What each shipped dialect answers, as a file has it."""
    return {name: answer_text(answer_at(written, field.name)) for name, written in _written()}


@cache
def _written() -> tuple[tuple[str, Mapping[str, Any]], ...]:
    return tuple((name, written_dialect(load_dialect(name))) for name in shipped_dialects())


@cache
def _requirements_by_gap() -> Mapping[str, list[Requirement]]:
    """The requirements that are judged by the answer to each gap."""
    catalogue = load_catalogue()
    return {
        gap: [each for each in catalogue.requirements.values() if gap in each.gaps]
        for gap in catalogue.gaps
    }
