"""badge.json: the verdict in the format of the endpoint badge of shields.io."""

import json
from typing import Any, Final

from hookproof.conformance.model.ledger import RunVerdict
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.run_file import Run
from hookproof.spec.catalogue import Level

SHOWN: Final = {
    RunVerdict.CONFORMS: ("conforms", "brightgreen"),
    RunVerdict.DOES_NOT_CONFORM: ("does not conform", "red"),
    RunVerdict.INCOMPLETE: ("incomplete", "yellow"),
    RunVerdict.ERROR: ("error", "lightgrey"),
}
# For a run that conforms but judged only a selection: a badge never claims more than the run shows.
PARTIAL: Final = ("partial", "yellow")


def badge_text(run: Run) -> str:
    return json.dumps(badge(run), indent=1) + "\n"


def badge(run: Run) -> dict[str, Any]:
    totals = run.ledger.totals[Level.STATED]
    applicable = sum(totals.values()) - totals[Verdict.NOT_APPLICABLE]
    verdict = run.footer.verdict
    partial = verdict is RunVerdict.CONFORMS and not run.header.everything
    words, colour = PARTIAL if partial else SHOWN[verdict]
    return {
        "schemaVersion": 1,
        "label": "hookproof",
        "message": f"{words}, {totals[Verdict.PASS]}/{applicable} stated",
        "color": colour,
        "isError": verdict in (RunVerdict.DOES_NOT_CONFORM, RunVerdict.ERROR),
    }
