"""Requests to paths outside the eight operations, where the base URL has a path of its own."""

import pytest

from hookproof.conformance.model.evidence import Evidence, Observation
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.run.intake import Intake
from hookproof.conformance.subjects.questions.evidence import Mistake, MistakenRequest
from hookproof.conformance.subjects.questions.experiment import hostile
from tests.conformance.canned_evidence import all_verdicts, context, verdict
from tests.conformance.run.experiment_runner import runner
from tests.conformance.scripted_target import empty_page, response, stand_in

pytestmark = pytest.mark.usefixtures("nothing_kept")

PREFIX = "/gateway/api/hooks"


def answer(head: bytes) -> bytes:
    """The gateway speaks where no path of the service begins."""
    path = head.split()[1]
    if path.startswith(f"{PREFIX}/api/v1/".encode()):
        return empty_page(head)
    return response(403, b"<html>")


def test_paths_outside_the_api_are_judged_by_nothing_that_is_the_services_alone() -> None:
    observed: list[Evidence] = []
    dialect = context().dialect
    with stand_in(answer) as url, runner(url + PREFIX, hostile) as run:
        run.open()
        run.begin(Intake(Mask((), dialect), dialect, observed.append))
        assert run.gathered("hostile").reason == ""
    outside = [
        (evidence, exchange)
        for evidence in observed
        if isinstance(evidence, Observation)
        for exchange in evidence.exchanges
        if not exchange.url.startswith(f"{url}{PREFIX}/api/v1/")
    ]
    assert outside, "the service itself has to refuse them without a server error"
    for evidence, exchange in outside:
        assert verdict("7-1", exchange) is None
        if isinstance(evidence, MistakenRequest):
            assert all_verdicts(evidence) == {}
    unknown = [
        evidence
        for evidence in observed
        if isinstance(evidence, MistakenRequest) and evidence.mistake is Mistake.PATH
    ]
    assert len(unknown) == 2
