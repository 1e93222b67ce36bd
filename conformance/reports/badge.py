"""badge.json: the verdict for a badge, in the form that the endpoint badge of shields.io reads."""

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
# What a run shows that passed, but judged a selection only: a badge never says more than the run
# did.
PARTIAL: Final = ("partial", "yellow")


def badge_text(run: Run) -> str:
    """The badge of a run as JSON."""
    return json.dumps(badge(run), indent=1) + "\n"


def badge(run: Run) -> dict[str, Any]:
    """The badge of a run."""
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
