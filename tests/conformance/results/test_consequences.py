"""What only follows from another failure is folded under it; a proof of its own still accuses."""

from dataclasses import replace

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.ledger import Entry, Finding
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.consequences import Proof, explained_by, fold_consequences
from hookproof.conformance.results.defects import defects
from hookproof.conformance.results.records.finding_records import finding_json, finding_of
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_evidence import delivery, exchange
from tests.conformance.canned_run import finding, requirement

CREATED, OTHER = exchange("create"), exchange("create", sent_at=1.0)
FETCHED = exchange("fetch", "getEndpoint", path={"endpointID": "e1"})
FIRST, SECOND = delivery(sequence=1), delivery(sequence=2)
UNSIGNED = "deliveries are not validly signed: no signature matches"


def proof(*evidence: Exchange | ReceivedDelivery, cause: str = "") -> Proof:
    return Proof(
        exchanges=frozenset(each for each in evidence if isinstance(each, Exchange)),
        deliveries=frozenset(each for each in evidence if isinstance(each, ReceivedDelivery)),
        cause=cause,
    )


def failed(name: str, *roots: str, accepted: str | None = None) -> Entry:
    return Entry(
        requirement=requirement(name),
        verdict=Verdict.FAIL,
        findings=(of(name, *roots),),
        accepted=accepted,
    )


def of(name: str, *roots: str) -> Finding:
    return replace(finding(name), message=f"{name} is broken", follows_from=roots, deliveries=())


def test_a_failure_in_the_same_exchange_is_explained() -> None:
    assert explained_by({proof(CREATED)}, {"1-1": {proof(CREATED)}}) == ("1-1",)


def test_a_failure_that_compares_with_a_broken_exchange_is_explained() -> None:
    assert explained_by({proof(CREATED, FETCHED)}, {"1-1": {proof(FETCHED)}}) == ("1-1",)


def test_one_proof_of_its_own_is_enough_to_accuse() -> None:
    proofs = {proof(CREATED), proof(OTHER)}
    assert explained_by(proofs, {"1-1": {proof(CREATED)}}) == ()


def test_a_failure_with_a_smaller_proof_is_not_explained_by_a_larger_one() -> None:
    assert explained_by({proof(FETCHED)}, {"1-1": {proof(CREATED, FETCHED)}}) == ()


def test_several_failures_may_explain_the_proofs_together() -> None:
    upstream = {"1-1": {proof(CREATED)}, "1-2": {proof(OTHER)}, "1-3": {proof(FETCHED)}}
    assert explained_by({proof(CREATED), proof(OTHER)}, upstream) == ("1-1", "1-2")


def test_a_failure_that_shows_another_cause_is_not_explained() -> None:
    assert explained_by({proof(CREATED, FIRST, cause=UNSIGNED)}, {"1-1": {proof(CREATED)}}) == ()


def test_a_second_attempt_follows_from_the_first_with_the_same_cause_at_the_same_endpoint() -> None:
    first = {"6-6": {proof(CREATED, FIRST, cause=UNSIGNED)}}
    assert explained_by({proof(CREATED, SECOND, cause=UNSIGNED)}, first) == ("6-6",)
    assert explained_by({proof(CREATED, SECOND, cause="it is missing")}, first) == ()
    known = f"{UNSIGNED}; wrong in signing: body"
    assert explained_by({proof(CREATED, SECOND, cause=known)}, first) == ("6-6",)
    assert explained_by({proof(OTHER, SECOND, cause=UNSIGNED)}, first) == ()
    assert explained_by({proof(CREATED, SECOND)}, {"6-6": {proof(CREATED, FIRST)}}) == ()


def test_what_comes_after_a_roll_follows_from_the_same_cause_before_it() -> None:
    before = {"6-7": {proof(CREATED, FIRST, cause=UNSIGNED)}}
    assert explained_by({proof(CREATED, FETCHED, SECOND, cause=UNSIGNED)}, before) == ("6-7",)
    assert explained_by({proof(OTHER, FETCHED, SECOND, cause=UNSIGNED)}, before) == ()
    assert explained_by({proof(CREATED, FETCHED, SECOND)}, before) == ()


def test_a_stored_value_is_the_same_failure_wherever_it_is_shown() -> None:
    value = "e1 rate_limit: 'five'"
    creation = {"4.1-3": {replace(proof(CREATED), state=value)}}
    assert explained_by({replace(proof(FETCHED), state=value)}, creation) == ("4.1-3",)
    for own in (proof(FETCHED), replace(proof(FETCHED), state="e2 rate_limit: 'five'")):
        assert explained_by({own}, creation) == ()


def test_what_follows_from_a_consequence_follows_from_its_root() -> None:
    entries = fold_consequences([failed("1-3", "1-2"), failed("1-2", "1-1"), failed("1-1")])
    assert [entry.follows_from for entry in entries] == [("1-1",), ("1-1",), ()]


def test_nothing_follows_from_what_is_not_reported_as_failed() -> None:
    passed = Entry(requirement=requirement("1-1"), verdict=Verdict.PASS)
    broken = replace(failed("1-1"), verdict=Verdict.ERROR)
    for root in (passed, broken):
        assert fold_consequences([root, failed("1-2", "1-1")])[1].own_findings
    (alone,) = fold_consequences([failed("1-2", "1-1")])
    assert alone.own_findings


def test_what_follows_from_an_accepted_failure_is_accused_unless_it_is_accepted_too() -> None:
    root = failed("1-1", accepted="it is known")
    assert fold_consequences([root, failed("1-2", "1-1")])[1].own_findings
    both = fold_consequences([root, failed("1-2", "1-1", accepted="known as well")])
    assert both[1].follows_from == ("1-1",)


def test_an_entry_with_one_finding_of_its_own_stands_for_itself() -> None:
    entry = replace(failed("1-2"), findings=(of("1-2", "1-1"), of("1-2")))
    assert entry.follows_from == ()
    assert entry.own_findings == (of("1-2"),)


def test_a_consequence_is_shown_under_its_root_and_counted_as_no_defect() -> None:
    (defect,) = defects([failed("1-1"), failed("1-2", "1-1")])
    assert [each.entry.requirement.id for each in defect.all] == ["1-1"]
    assert [each.entry.requirement.id for each in defect.consequences] == ["1-2"]


def test_a_consequence_is_shown_under_its_root() -> None:
    creation = replace(of("1-1"), exchanges=(CREATED,))
    fetch = replace(of("1-1"), exchanges=(FETCHED,))
    root = replace(failed("1-1"), findings=(creation, fetch))
    follows = replace(failed("1-2"), findings=(replace(of("1-2", "1-1"), exchanges=(FETCHED,)),))
    other = replace(failed("99-1"), findings=(replace(of("99-1"), exchanges=(CREATED,)),))
    (defect, _) = defects([root, follows, other])
    assert (defect.lead.finding.operation, defect.operations) == (
        "createEndpoint",
        ("getEndpoint",),
    )
    assert [each.entry.requirement.id for each in defect.consequences] == ["1-2"]


def test_the_run_file_keeps_what_a_finding_follows_from() -> None:
    follows = of("1-2", "1-1")
    assert finding_of(finding_json(follows)) == follows


def test_a_finding_of_a_file_that_knows_no_consequences_stands_for_itself() -> None:
    written = finding_json(of("1-2"))
    del written["follows_from"]
    assert finding_of(written) == of("1-2")


def test_a_consequence_without_its_root_is_a_defect() -> None:
    (defect,) = defects([failed("1-2", "1-1")])
    assert defect.lead.entry.requirement.id == "1-2"
