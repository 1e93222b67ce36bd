"""The matrix as one page that needs no network and no other file."""

from datetime import UTC, datetime

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.html import HEAD_MARK, SIGNS, TONES, report_templates
from hookproof.conformance.reports.matrix.table import NOT_KNOWN, Matrix, MatrixColumn, tallies_of
from hookproof.conformance.reports.summary import SHOWN_ORDER
from hookproof.pages import page_source, policy_element
from hookproof.process.installed_version import installed_version


def matrix_page(matrix: Matrix) -> str:
    templates = report_templates()
    style = page_source(templates, "report.css", "matrix.css")
    script = page_source(templates, "filter.js", "matrix.js")
    page = templates.get_template("matrix.html").render(
        matrix=matrix,
        head_mark=HEAD_MARK,
        script=script,
        tone_of=_tone,
        signs=SIGNS,
        verdicts=SHOWN_ORDER,
        not_known=NOT_KNOWN,
        tallies=lambda rows: tallies_of(rows, len(matrix.columns)),
        day=lambda seconds: f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC",
        version=installed_version(),
    )
    policy = policy_element(styles=[style], scripts=[script])
    # The first mark is the page's own: it precedes all that comes from a target.
    return page.replace(HEAD_MARK, f"{policy}\n<style>{style}</style>", 1)


def _tone(column: MatrixColumn) -> Verdict:
    """The verdict whose colour the verdict of a run has."""
    return Verdict.NOT_EXERCISED if column.is_partial else TONES[column.run.footer.verdict]
