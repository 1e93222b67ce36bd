"""What follows from mutant runs: kills, survivors and false positives."""

import re
from dataclasses import replace

import pytest

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.mutants.campaign import relevant_experiments
from hookproof.conformance.mutants.catalogue import ListedFault
from hookproof.conformance.mutants.kill_matrix import first_killers, kills_of
from hookproof.conformance.mutants.mutant_run import Detection, MutantRunResult, detections_of
from hookproof.conformance.mutants.reports.html import render_page
from hookproof.conformance.mutants.reports.json import report_data
from hookproof.conformance.mutants.reports.text import render_outcome, render_summary
from hookproof.conformance.mutants.results import Campaign, FaultOutcome, VariantOutcome
from hookproof.spec.catalogue import load_catalogue
from tests.conformance.canned_run import finding, requirement

FAULT = ListedFault(
    name="old_secret_signs",
    former_names=(),
    broken="An old secret <signs>.",
    violates=("4.3-4", "4.3-16"),
    seen="",
    area="rolling",
    replaces="signer",
    is_variant=False,
    applies=True,
    shows_in=(),
)
ONLY_NEW = "only_the_new_secret_signs_when_the_old_one_has_expired"
STOPS = "an_old_secret_stops_signing_when_it_said"
UID = "a_created_endpoint_has_a_uid_and_a_secret"


def detection(check: str, requirement: str) -> Detection:
    return Detection(
        check=check,
        requirement=requirement,
        message="m",
        expected="e",
        actual="a",
        experiment="roll",
    )


def result(*detections: Detection, problems: tuple[str, ...] = ()) -> MutantRunResult:
    return MutantRunResult(
        detections=detections, exercised=frozenset(), problems=problems, duration_s=1.0
    )


def outcome(
    *detections: Detection, claims: tuple[str, ...] = FAULT.violates, **changed: object
) -> FaultOutcome:
    ended = FaultOutcome(
        fault=FAULT, dialect="reference", claims=frozenset(claims), result=result(*detections)
    )
    return replace(ended, **changed)  # type: ignore[arg-type]


def campaign(
    *outcomes: FaultOutcome, variants: tuple[VariantOutcome, ...] = (), complete: bool = True
) -> Campaign:
    return Campaign(
        outcomes=outcomes,
        variants=variants,
        checks=(ONLY_NEW, STOPS, UID),
        complete=complete,
        whole=False,
        duration_s=2.0,
    )


BOTH = (detection(ONLY_NEW, "4.3-4"), detection(STOPS, "4.3-16"))


def test_a_fault_is_killed_when_every_requirement_that_it_violates_is_detected() -> None:
    killed = campaign(outcome(*BOTH))
    assert killed.flawless
    assert killed.kills == {ONLY_NEW: {FAULT.name}, STOPS: {FAULT.name}, UID: frozenset()}
    assert killed.idle_checks == ()
    assert render_outcome(killed.outcomes[0]).startswith("killed   old_secret_signs (reference")
    assert "FLAWLESS" in list(render_summary(killed))[-1]


def test_a_check_that_kills_nothing_in_a_whole_campaign_is_a_flaw() -> None:
    whole = replace(campaign(outcome(*BOTH)), whole=True)
    assert whole.idle_checks == (UID,)
    assert not whole.flawless
    assert f"  {UID}" in render_summary(whole)


def test_a_fault_that_is_not_detected_survives() -> None:
    survived = campaign(outcome(), complete=False)
    assert list(survived.survivors()) == [(FAULT.name, "not detected under reference")]
    assert not survived.flawless
    assert "SURVIVED" in render_outcome(survived.outcomes[0])


def test_a_requirement_that_is_detected_under_no_dialect_is_a_survivor_too() -> None:
    partial = campaign(outcome(BOTH[0]))
    assert list(partial.survivors()) == [(FAULT.name, "not detected by 4.3-16")]
    assert not partial.flawless


def test_a_requirement_that_is_missed_under_one_dialect_may_be_detected_under_another() -> None:
    assert campaign(outcome(BOTH[0]), outcome(BOTH[1], dialect="contrary")).flawless


def test_a_claim_that_the_clean_server_never_exercised_need_not_be_detected_there() -> None:
    assert not outcome(claims=()).survived


def test_a_detection_of_anything_else_is_a_false_positive() -> None:
    flawed = campaign(outcome(*BOTH, detection(UID, "2.3-1")))
    assert [(name, detection.requirement) for name, _, detection in flawed.false_positives()] == [
        (FAULT.name, "2.3-1")
    ]
    assert not flawed.flawless
    line = render_outcome(flawed.outcomes[0])
    assert line == f"FALSE    {FAULT.name} (reference, 1.0 s) false positive on 2.3-1 by {UID}"


def test_a_kill_names_the_checks_that_killed() -> None:
    assert (
        render_outcome(outcome(*BOTH))
        == f"killed   {FAULT.name} (reference, 1.0 s) by {ONLY_NEW} and 1 more"
    )


def test_what_only_follows_from_another_failure_is_no_false_positive() -> None:
    follows = replace(detection(UID, "2.3-1"), follows_from=("4.3-4",))
    assert campaign(outcome(*BOTH, follows)).flawless
    alone = outcome(*BOTH, follows, detection(ONLY_NEW, "2.3-1"))
    assert [each.check for each in alone.false_positives] == [ONLY_NEW]


def test_what_a_fault_violates_is_detected_also_where_it_is_folded() -> None:
    folded = (BOTH[0], replace(BOTH[1], follows_from=("4.3-4",)))
    killed = campaign(outcome(*folded))
    assert killed.flawless
    assert killed.kills[STOPS] == {FAULT.name}
    assert kills_of(killed) == kills_of(campaign(outcome(*BOTH)))


def test_a_check_that_saw_something_for_itself_follows_from_nothing() -> None:
    alone, follows = (
        replace(finding("1-1"), check="c", message=message, follows_from=roots)
        for message, roots in (("alone", ()), ("follows", ("1-2",)))
    )
    entry = Entry(requirement=requirement("1-1"), verdict=Verdict.FAIL, findings=(follows, alone))
    (detected,) = detections_of([entry])
    assert (detected.message, detected.follows_from) == ("alone", ())
    (folded,) = detections_of([replace(entry, findings=(follows,))])
    assert (folded.message, folded.follows_from) == ("follows", ("1-2",))


def test_a_detection_in_a_variant_is_a_false_positive() -> None:
    variant = VariantOutcome(
        name="slower", dialect="reference", difference="d", result=result(detection(UID, "2.3-1"))
    )
    flawed = campaign(outcome(*BOTH), variants=(variant,))
    assert [name for name, _, _ in flawed.false_positives()] == ["slower"]
    assert not flawed.flawless
    assert render_outcome(variant).startswith("FALSE")
    assert f" false positive on 2.3-1 by {UID}" in render_outcome(variant)


def test_a_run_that_broke_is_not_a_success() -> None:
    broken = campaign(outcome(result=result(*BOTH, problems=("The check x broke",))))
    assert list(broken.problems()) == [(FAULT.name, "reference", "The check x broke")]
    assert not broken.flawless


def test_the_first_killers_are_few_and_cover_every_check() -> None:
    kills = {
        "one": {"reference": {"a": ["1-1"], "b": ["1-2"]}},
        "two": {"reference": {"b": ["1-2"]}, "contrary": {"c": ["1-3"]}},
    }
    chosen = first_killers(kills)
    assert {(expected.fault, expected.dialect) for expected in chosen} == {
        ("one", "reference"),
        ("two", "contrary"),
    }
    assert {check for expected in chosen for check in expected.checks} == {"a", "b", "c"}
    assert first_killers({}) == ()


def test_the_record_holds_check_and_requirement_of_each_kill() -> None:
    assert kills_of(campaign(outcome(*BOTH))) == {
        FAULT.name: {"reference": {ONLY_NEW: ["4.3-4"], STOPS: ["4.3-16"]}}
    }


def test_only_relevant_experiments_are_run() -> None:
    def names(fault: ListedFault) -> set[str]:
        relevant = relevant_experiments(
            fault, load_catalogue(), all_checks(), all_experiments(), Profile.STANDARD
        )
        return {experiment.name for experiment in relevant}

    assert names(FAULT) == {"roll"}
    assert names(replace(FAULT, violates=("4.4-3",))) == {"portal_links"}
    assert names(replace(FAULT, violates=("6-6",), shows_in=("signing",))) == {"signing"}


@pytest.mark.parametrize("baseline", [None, {FAULT.name: ["Undocumented status: GET /x"]}])
def test_the_reports_agree_and_the_page_loads_nothing(
    baseline: dict[str, list[str]] | None,
) -> None:
    ended = replace(
        campaign(outcome(*BOTH, detection(UID, "2.3-1"))), schemathesis_baseline=baseline
    )
    html, data = render_page(ended, all_checks()), report_data(ended, all_checks())
    assert "An old secret &lt;signs&gt;." in html
    assert html.count("<td class=k ") == 2
    assert html.count("<td class=x ") == 1
    assert not re.search("https?:", html)
    assert ("schemathesis" in html) is (baseline is not None)
    assert data["false_accusations"][0]["requirement"] == "2.3-1"
    assert [check["kills"] for check in data["checks"] if check["name"] == STOPS] == [[FAULT.name]]


def test_the_page_shows_what_plain_schemathesis_reports_of_conforming_variants() -> None:
    names = ("clean", "chunked_answers", "further_headers")
    variants = tuple(
        VariantOutcome(name=name, dialect="reference", difference="", result=result())
        for name in names
    )
    baseline = {
        "clean": ["what it finds in all"],
        "chunked_answers": ["Rejected <valid>: GET /x"],
        "further_headers": [],
    }
    html = render_page(
        replace(campaign(outcome(*BOTH), variants=variants), schemathesis_baseline=baseline),
        all_checks(),
    )
    assert html.count("plain schemathesis reports") == 1
    assert "passed; plain schemathesis reports Rejected &lt;valid&gt;: GET /x</i>" in html


def test_a_cell_names_what_was_detected_under_each_dialect() -> None:
    wrong = detection(UID, "2.3-1")
    outcomes = (outcome(*BOTH, wrong), outcome(BOTH[0], dialect="contrary"))
    page = render_page(campaign(*outcomes), all_checks())
    kill = f"{ONLY_NEW} on {FAULT.name}: reference: 4.3-4; contrary: 4.3-4"
    assert f'<td class=k title="{kill}">' in page
    assert f'<td class=x title="{UID} on {FAULT.name}: reference: 2.3-1">!' in page
    title = "An old secret &lt;signs&gt;. [4.3-4 4.3-16]"
    assert f'<tr><th title="{title}">{FAULT.name}<td class=n>2' in page
    assert "<tr class=area><th>rolling</th></tr>" in page
    survived = render_page(campaign(outcome()), all_checks())
    assert f'<tr class=survivor><th title="{title}">{FAULT.name}<td class=n>0' in survived


def test_the_page_shows_the_verdict_and_what_is_wrong_above_the_matrix() -> None:
    variant = VariantOutcome(
        name="slower", dialect="reference", difference="<d>", result=result(detection(UID, "2.3-1"))
    )
    broken = outcome(result=result(*BOTH, problems=("<x> broke",)))
    page = render_page(campaign(broken, variants=(variant,)), all_checks())
    assert '<p class="verdict bad">FLAWED' in page
    assert f"{FAULT.name} (reference): &lt;x&gt; broke" in page[: page.index("</pre>")]
    listed = "<b>slower (reference)</b> &lt;d&gt; <i>false positive</i>"
    assert f"<li class=false>{listed}</li>" in page
    assert '<p class="verdict good">FLAWLESS' in render_page(campaign(outcome(*BOTH)), all_checks())


@pytest.mark.parametrize(
    ("baseline", "cell"),
    [
        ({FAULT.name: ["<a>", "b"]}, '<td class=n title="&lt;a&gt;; b">✓'),
        ({FAULT.name: []}, '<td class=n title="">·'),
        ({}, '<td class=n title="not tried"><'),
    ],
)
def test_a_cell_of_the_baseline_shows_whether_plain_schemathesis_reports_the_fault(
    baseline: dict[str, list[str]], cell: str
) -> None:
    ended = replace(campaign(outcome(*BOTH)), schemathesis_baseline=baseline)
    assert cell in render_page(ended, all_checks())


def test_the_page_leaves_out_checks_that_no_tried_fault_concerns() -> None:
    page = render_page(campaign(outcome(*BOTH)), all_checks())
    assert f'title="{ONLY_NEW}: ' in page
    assert f'title="{UID}: ' not in page
    assert "no fault that was tried concerns: 1." in page
    whole = render_page(replace(campaign(outcome(*BOTH)), whole=True), all_checks())
    assert f'<th class="check idle" title="{UID}: ' in whole
    assert "Left out" not in whole


def test_a_check_that_killed_nothing_is_grey_unless_every_fault_was_tried() -> None:
    one = render_page(campaign(outcome(BOTH[0])), all_checks())
    assert f'<th class="check untried" title="{STOPS}: ' in one


def test_the_page_lists_each_fault_with_what_kills_it() -> None:
    page = render_page(campaign(outcome(*BOTH, detection(UID, "4.1-1"))), all_checks())
    listed = page[page.index("<ul class=list>") :]
    assert ONLY_NEW.replace("_", " ") in listed
    assert f"false positive: {UID.replace('_', ' ')}" in listed
    assert "not killed" in render_page(campaign(outcome()), all_checks())
