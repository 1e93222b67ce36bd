"""A page for each section of the document, with all that is known of its requirements.

It is what `hookproof explain` shows, and which faults the recorded kill matrix says are caught.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from docs.site.reference_pages.page import ReferencePage, render
from hookproof.conformance.cli.explain import Explanation, explain_requirement, list_faults
from hookproof.conformance.mutants.kill_matrix import read_kills
from hookproof.mockserver.faults.catalogue import catalogue as fault_catalogue
from hookproof.spec.catalogue import LEVELS, Catalogue, Level, load_catalogue

# By requirement and fault: the checks that caught it.
Caught = Mapping[str, Mapping[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionCounts:
    """How many requirements of each level a section has."""

    number: str
    title: str
    by_level: Mapping[Level, int]


def requirement_pages() -> Iterator[ReferencePage]:
    catalogue = load_catalogue()
    sections = [_counts(number, catalogue) for number in catalogue.sections]
    totals = {level: sum(each.by_level[level] for each in sections) for level in LEVELS}
    yield render(
        "reference/requirements/index.md",
        "Requirements",
        "requirements.md",
        levels=LEVELS,
        sections=sections,
        totals=totals,
    )
    for number, title in catalogue.sections.items():
        yield render(
            f"reference/requirements/{number}.md",
            f"{number} {title}",
            "section.md",
            explanations=_explanations(number, catalogue),
            caught=caught_faults(),
            section_of=lambda identifier: catalogue.requirements[identifier].section,
            area_of=fault_areas(),
        )


@cache
def caught_faults() -> Caught:
    caught: dict[str, dict[str, tuple[str, ...]]] = {}
    for fault, dialects in read_kills().items():
        for checks in dialects.values():
            for check, requirements in checks.items():
                for requirement in requirements:
                    by_fault = caught.setdefault(requirement, {})
                    by_fault[fault] = tuple(sorted({*by_fault.get(fault, ()), check}))
    return caught


@cache
def fault_areas() -> Mapping[str, str]:
    """The page of each fault of the catalogue: that of its area."""
    return {name: fault.area for name, fault in fault_catalogue().items()}


def _counts(number: str, catalogue: Catalogue) -> SectionCounts:
    found = [each.level for each in catalogue.requirements.values() if each.section == number]
    return SectionCounts(
        number=number,
        title=catalogue.sections[number],
        by_level={level: found.count(level) for level in LEVELS},
    )


def _explanations(number: str, catalogue: Catalogue) -> list[Explanation]:
    assert list_faults(), "hookproof serve --list-faults failed"
    return [
        explain_requirement(requirement, catalogue, list_faults)
        for requirement in catalogue.requirements.values()
        if requirement.section == number
    ]
