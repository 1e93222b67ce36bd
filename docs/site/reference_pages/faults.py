"""A page for each area of the reference server's faults, and one with those of other kinds."""

from collections.abc import Iterator
from itertools import groupby

from docs.site.reference_pages.page import ReferencePage, render
from hookproof.conformance.mutants.kill_matrix import read_kills
from hookproof.mockserver.faults.answering import FAULTS
from hookproof.mockserver.faults.catalogue import catalogue
from hookproof.mockserver.faults.operators.generation import OPERATORS
from hookproof.spec.catalogue import load_catalogue
from hookproof.spec.dialect.reader import load_dialect, shipped_dialects


def fault_pages() -> Iterator[ReferencePage]:
    faults = sorted(catalogue().values(), key=lambda fault: (fault.area, fault.name))
    areas = {area: list(members) for area, members in groupby(faults, lambda fault: fault.area)}
    yield render(
        "reference/faults/index.md",
        "Faults",
        "faults.md",
        areas=areas,
        responder={name: (kind.__doc__ or "").partition("\n")[0] for name, kind in FAULTS.items()},
        operators=OPERATORS,
    )
    requirements = load_catalogue().requirements
    dialects = [load_dialect(name) for name in shipped_dialects()]
    for area, members in areas.items():
        yield render(
            f"reference/faults/{area}.md",
            area.replace("_", " ").capitalize(),
            "fault_area.md",
            faults=members,
            kills=read_kills(),
            requirements=requirements,
            dialects={
                fault.name: [each.name for each in dialects if fault.applies(each)]
                for fault in members
            },
        )
