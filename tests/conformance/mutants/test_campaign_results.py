"""What follows from trials: who was killed, who survived, and who was accused falsely."""

from dataclasses import replace

import pytest

from hookproof.conformance.model.check_registry import all_checks
from hookproof.conformance.model.experiment_registry import all_experiments
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.mutants.catalogue import Fault
from hookproof.conformance.mutants.kill_matrix import first_killers, kills_of
from hookproof.conformance.mutants.mutant_run import Conviction, TrialResult
from hookproof.conformance.mutants.relevant_experiments import mattering
from hookproof.conformance.mutants.reports.html import page
from hookproof.conformance.mutants.reports.json import report
from hookproof.conformance.mutants.reports.text import summary, told
from hookproof.conformance.mutants.results import Acquittal, Campaign, Outcome
from hookproof.spec.catalogue import load_catalogue

FAULT = Fault(
    name="old_secret_signs",
    broken="An old secret <signs>.",
    violates=("4.3-4", "4.3-16"),
    also=(),
    seen="",
    area="rolling",
    replaces="signer",
    innocent=False,
    applies=True,
    shows_in=(),
)
ONLY_NEW, STOPS = (
    "only_the_new_secret_signs_when_the_old_one_has_expired",
    "an_old_secret_stops_signing_when_it_said",
)
UID = "a_created_endpoint_has_a_uid_and_a_secret"


def conviction(check: str, requirement: str) -> Conviction:
    return Conviction(
        check=check,
        requirement=requirement,
        message="m",
        expected="e",
        actual="a",
        experiment="roll",
    )


def result(*convictions: Conviction, problems: tuple[str, ...] = ()) -> TrialResult:
    return TrialResult(
        convictions=convictions, exercised=frozenset(), problems=problems, duration_s=1.0
    )


def outcome(
    *convictions: Conviction, claims: tuple[str, ...] = FAULT.violates, **changed: object
) -> Outcome:
    made = Outcome(
        fault=FAULT, dialect="reference", claims=frozenset(claims), result=result(*convictions)
    )
    return replace(made, **changed)  # type: ignore[arg-type]


def campaign(
    *outcomes: Outcome, acquittals: tuple[Acquittal, ...] = (), complete: bool = True
) -> Campaign:
    return Campaign(
        outcomes=outcomes,
        acquittals=acquittals,
        checks=(ONLY_NEW, STOPS, UID),
        complete=complete,
        whole=False,
        duration_s=2.0,
    )


BOTH = (conviction(ONLY_NEW, "4.3-4"), conviction(STOPS, "4.3-16"))


def test_a_fault_that_is_convicted_of_all_that_it_violates_is_killed() -> None:
    killed = campaign(outcome(*BOTH))
    assert killed.flawless
    assert killed.kills == {ONLY_NEW: {FAULT.name}, STOPS: {FAULT.name}, UID: frozenset()}
    assert killed.idle_checks == ()
    assert told(killed.outcomes[0]).startswith("killed   old_secret_signs (reference")
    assert "FLAWLESS" in list(summary(killed))[-1]


def test_a_check_that_kills_nothing_in_a_whole_campaign_is_a_flaw() -> None:
    whole = replace(campaign(outcome(*BOTH)), whole=True)
    assert whole.idle_checks == (UID,)
    assert not whole.flawless
    assert f"  {UID}" in summary(whole)


def test_a_fault_that_nothing_convicts_survives() -> None:
    survived = campaign(outcome(), complete=False)
    assert list(survived.survivors()) == [(FAULT.name, "nothing convicts it under reference")]
    assert not survived.flawless
    assert "SURVIVED" in told(survived.outcomes[0])


def test_a_requirement_that_no_dialect_convicts_is_a_survivor_too() -> None:
    half = campaign(outcome(BOTH[0]))
    assert list(half.survivors()) == [(FAULT.name, "nothing convicts it of 4.3-16")]
    assert not half.flawless


def test_what_one_dialect_misses_another_may_convict() -> None:
    assert campaign(outcome(BOTH[0]), outcome(BOTH[1], dialect="contrary")).flawless


def test_a_claim_that_the_clean_server_never_exercised_is_nobodys_failure_there() -> None:
    assert not outcome(claims=()).survived


def test_a_conviction_of_anything_else_is_a_false_accusation() -> None:
    accused = campaign(outcome(*BOTH, conviction(UID, "2.3-1")))
    assert [(name, one.requirement) for name, _, one in accused.false_accusations()] == [
        (FAULT.name, "2.3-1")
    ]
    assert not accused.flawless
    line = told(accused.outcomes[0])
    assert line == f"FALSE    {FAULT.name} (reference, 1.0 s) convicted of 2.3-1 by {UID}"


def test_a_kill_names_the_checks_that_killed() -> None:
    assert (
        told(outcome(*BOTH)) == f"killed   {FAULT.name} (reference, 1.0 s) by {ONLY_NEW} and 1 more"
    )


def test_what_breaks_with_a_fault_is_no_false_accusation_and_no_kill_either() -> None:
    also = replace(FAULT, also=("2.3-1",))
    only_that = outcome(conviction(UID, "2.3-1"), fault=also)
    assert not only_that.falsely
    assert only_that.survived
    assert not campaign(only_that).kills[UID]
    assert not outcome(*BOTH, fault=also).survived


def test_an_innocent_that_is_convicted_is_a_false_accusation() -> None:
    innocent = Acquittal(
        name="slower", dialect="reference", difference="d", result=result(conviction(UID, "2.3-1"))
    )
    accused = campaign(outcome(*BOTH), acquittals=(innocent,))
    assert [name for name, _, _ in accused.false_accusations()] == ["slower"]
    assert not accused.flawless
    assert told(innocent).startswith("FALSE")


def test_a_trial_that_broke_is_no_success() -> None:
    broke = campaign(outcome(result=result(*BOTH, problems=("The check x broke",))))
    assert list(broke.problems()) == [(FAULT.name, "reference", "The check x broke")]
    assert not broke.flawless


def test_the_first_killers_are_few_and_leave_no_check_out() -> None:
    kills = {
        "one": {"reference": {"a": ["1-1"], "b": ["1-2"]}},
        "two": {"reference": {"b": ["1-2"]}, "contrary": {"c": ["1-3"]}},
    }
    chosen = first_killers(kills)
    assert {(one.fault, one.dialect) for one in chosen} == {
        ("one", "reference"),
        ("two", "contrary"),
    }
    assert {check for one in chosen for check in one.checks} == {"a", "b", "c"}
    assert first_killers({}) == ()


def test_the_record_holds_who_killed_whom_by_which_requirement() -> None:
    assert kills_of(campaign(outcome(*BOTH))) == {
        FAULT.name: {"reference": {ONLY_NEW: ["4.3-4"], STOPS: ["4.3-16"]}}
    }


def test_only_experiments_that_can_matter_are_started() -> None:
    def names(fault: Fault) -> set[str]:
        found = mattering(
            fault, load_catalogue(), all_checks(), all_experiments(), Profile.STANDARD
        )
        return {one.name for one in found}

    assert names(FAULT) == {"roll"}
    assert names(replace(FAULT, violates=("4.4-3",))) == {"portal_links"}
    assert names(replace(FAULT, violates=("6-6",), shows_in=("signing",))) == {"signing"}


@pytest.mark.parametrize("stock", [None, {FAULT.name: ["Undocumented status: GET /x"]}])
def test_the_reports_tell_the_same_and_need_nothing_from_elsewhere(
    stock: dict[str, list[str]] | None,
) -> None:
    made = replace(campaign(outcome(*BOTH, conviction(UID, "2.3-1"))), stock=stock)
    html, data = page(made, all_checks()), report(made, all_checks())
    assert "An old secret &lt;signs&gt;." in html
    assert html.count("<td class=k ") == 2
    assert html.count("<td class=x ") == 1
    assert "http" not in html
    assert ("stock" in html) is (stock is not None)
    assert data["false_accusations"][0]["requirement"] == "2.3-1"
    assert [one["kills"] for one in data["checks"] if one["name"] == STOPS] == [[FAULT.name]]


def test_the_page_says_of_what_plain_schemathesis_accuses_the_innocent() -> None:
    names = ("clean", "chunked_answers", "further_headers")
    acquitted = tuple(
        Acquittal(name=one, dialect="reference", difference="", result=result()) for one in names
    )
    stock = {
        "clean": ["what it finds in all"],
        "chunked_answers": ["Rejected <valid>: GET /x"],
        "further_headers": [],
    }
    html = page(replace(campaign(outcome(*BOTH), acquittals=acquitted), stock=stock), all_checks())
    assert html.count("plain schemathesis accuses it of") == 1
    assert "acquitted; plain schemathesis accuses it of Rejected &lt;valid&gt;: GET /x</i>" in html
