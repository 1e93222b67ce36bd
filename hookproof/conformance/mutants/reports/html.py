"""The kill matrix as one HTML file without external resources, in a light or dark colour scheme.

Rows are faults by area, columns are checks in the order of the document. A filled cell is a kill, a
cell with a mark a false positive.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.mutants.campaign import CLEAN
from hookproof.conformance.mutants.mutant_run import Detection
from hookproof.conformance.mutants.reports.text import render_summary
from hookproof.conformance.mutants.results import Campaign, FaultOutcome
from hookproof.pages import page_source, page_templates, policy_element
from hookproof.spec.catalogue import load_catalogue

# By fault, check and dialect: the requirements that were detected.
Cells = Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]


def render_page(campaign: Campaign, checks: Sequence[Check]) -> str:
    templates = page_templates("hookproof.conformance.mutants.reports")
    style = page_source(templates, "kill_matrix.css")
    columns = _columns(campaign, checks)
    *troubles, verdict = render_summary(campaign)
    return templates.get_template("kill_matrix.html").render(
        campaign=campaign,
        policy=policy_element(styles=[style]),
        style=style,
        verdict=verdict,
        troubles=troubles,
        clean=CLEAN,
        has_baseline=campaign.schemathesis_baseline is not None,
        baseline=campaign.schemathesis_baseline or {},
        columns=columns,
        left_out=len(campaign.checks) - len(columns),
        killed_by=campaign.kills,
        faults=sorted(campaign.faults, key=lambda fault: (fault.area, fault.name)),
        kills=_cells(campaign, attrgetter("expected_detections")),
        false_positives=_cells(campaign, attrgetter("false_positives")),
    )


def _columns(campaign: Campaign, checks: Sequence[Check]) -> list[Check]:
    """The checks that could have killed a fault that was tried, and those that reported one, in the
    order of the first requirement that each is bound to.
    """
    positions = {name: position for position, name in enumerate(load_catalogue().requirements)}
    violated = {name for fault in campaign.faults for name in fault.violates}
    reported = {
        detection.check
        for outcome in campaign.outcomes
        for detection in (*outcome.expected_detections, *outcome.false_positives)
    }
    present = [
        check
        for check in checks
        if check.name in campaign.checks
        and (campaign.whole or check.name in reported or violated.intersection(check.requirements))
    ]
    return sorted(present, key=lambda check: min(positions[name] for name in check.requirements))


def _cells(
    campaign: Campaign, detections_of: Callable[[FaultOutcome], Sequence[Detection]]
) -> Cells:
    cells: dict[str, dict[str, dict[str, list[str]]]] = {
        fault.name: {} for fault in campaign.faults
    }
    for outcome in campaign.outcomes:
        for detection in detections_of(outcome):
            row = cells[outcome.fault.name].setdefault(detection.check, {})
            row.setdefault(outcome.dialect, []).append(detection.requirement)
    return cells
