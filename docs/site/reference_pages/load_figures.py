"""The figures of a load run, from the table that its reports read."""

from collections.abc import Iterator

from docs.site.reference_pages.page import ReferencePage, render
from hookproof.load.figures import FIGURES, Unit, label


def load_figure_pages() -> Iterator[ReferencePage]:
    yield render(
        "reference/load-figures.md",
        "Figures of a load run",
        "load_figures.md",
        figures=FIGURES,
        label=label,
        units={
            Unit.SECONDS: "seconds",
            Unit.COUNT: "a number",
            Unit.PER_SECOND: "per second",
            Unit.SHARE: "a share",
        },
        better={True: "more", False: "less", None: ""},
    )
