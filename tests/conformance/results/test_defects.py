"""Findings with one cause are one defect, and two causes are two."""

from dataclasses import replace

from hookproof.conformance.grading.root_cause import root_cause
from hookproof.conformance.model.judgement import Subject, violated
from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.defects import defects, one_cause_each
from hookproof.conformance.subjects.arrival.evidence import SigningFormats
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import destination, event, observed, sent
from tests.conformance.canned_evidence import context, exchange
from tests.conformance.canned_run import finding, requirement

COARSE = "deliveries are not validly signed: no signature matches"
BODY, SECRET = (f"{COARSE}; wrong in signing: {step}" for step in ("body", "secret"))
ONE, OTHER = (destination(name, advanced_signatures=False) for name in ("one", "other"))
EVENTS = tuple(event(f"event {number}") for number in range(12))


def rewritten(number: int) -> ReceivedDelivery:
    """A delivery whose body was written anew after it was signed."""
    delivery = sent(EVENTS[number], ONE)
    return replace(delivery, body=delivery.body.replace(b": ", b" :  "))


def by_another(number: int) -> ReceivedDelivery:
    """A delivery that is signed with the secret of the other endpoint."""
    return sent(EVENTS[number], OTHER, signers=[ONE.secret or ""])


def causes(*deliveries: ReceivedDelivery) -> list[str]:
    """The cause of a failure that each of these deliveries shows."""
    observation = observed(SigningFormats, [ONE, OTHER], *deliveries, events=EVENTS)
    return [
        root_cause(
            violated(
                "6-6",
                "it is not signed",
                expected=1,
                actual=2,
                deliveries=[delivery],
                subject=Subject.SIGNATURE,
            ),
            observation,
            context(),
        )
        for delivery in observation.deliveries
    ]


def test_two_reasons_for_a_bad_signature_are_two_causes() -> None:
    assert causes(rewritten(0), by_another(1)) == [BODY, SECRET]


def test_a_delivery_that_was_not_searched_has_the_cause_of_another_one() -> None:
    first = [replace(rewritten(number), sequence=number + 1) for number in range(9)]
    then = [replace(by_another(number), sequence=number + 1) for number in range(9, 12)]
    assert causes(*first, *then) == [BODY] * 9 + [SECRET] * 3


def test_a_signature_that_nothing_explains_has_the_reason_alone() -> None:
    assert causes(sent(EVENTS[0], ONE, signers=["of nobody"])) == [COARSE]


def defects_of(*found: str) -> list[set[str]]:
    """The causes in each defect of findings with these causes."""
    entries = [
        Entry(
            requirement=requirement(f"6-{number}"),
            verdict=Verdict.FAIL,
            findings=(replace(finding(f"6-{number}"), cause=cause),),
        )
        for number, cause in enumerate(found, start=6)
    ]
    return [{broken.finding.cause for broken in defect.all} for defect in defects(entries)]


def test_two_causes_are_two_defects_and_one_of_which_less_is_known_is_none_of_its_own() -> None:
    assert defects_of(BODY, SECRET, BODY) == [{BODY}, {SECRET}]
    assert defects_of(COARSE, BODY) == defects_of(BODY, COARSE) == [{COARSE, BODY}]
    assert defects_of(COARSE, BODY, SECRET) == [{COARSE}, {BODY}, {SECRET}]


PATTERNS = [frozenset("abc"), frozenset("cd"), frozenset("abcdx"), frozenset("e")]


def test_what_one_known_fault_breaks_has_one_cause() -> None:
    (group,) = one_cause_each(frozenset("abce"), frozenset("dx"), PATTERNS)
    assert group == frozenset("abc")


def test_two_faults_at_once_are_two_causes_and_none_is_hidden() -> None:
    patterns = [frozenset("abc"), frozenset("de")]
    groups = list(one_cause_each(frozenset("abcde"), frozenset(), patterns))
    assert groups == [frozenset("abc"), frozenset("de")]


def test_a_fault_that_breaks_as_much_of_what_holds_explains_nothing() -> None:
    assert list(one_cause_each(frozenset("ab"), frozenset("cdx"), [frozenset("abcdx")])) == []


def entry_of(name: str, *messages: str, operation: str = "listSources") -> Entry:
    found = tuple(
        replace(
            finding(name),
            message=message,
            deliveries=(),
            exchanges=(replace(exchange(), operation_id=operation),),
        )
        for message in messages
    )
    return Entry(requirement=requirement(name), verdict=Verdict.FAIL, findings=found)


def test_a_cursor_that_leads_to_its_own_row_is_one_finding() -> None:
    names = ("2.2-14", "2.2-15", "4.4-4", "4.7-4")
    (defect,) = defects([entry_of(name, f"Broken {name}") for name in names])
    assert {broken.entry.requirement.id for broken in defect.all} == set(names)
    assert len(defect.members) == len(names) - 1  # each is still told


def test_wrong_fields_are_findings_of_their_own() -> None:
    fields = [f"A field of getEndpoint is not as documented: /data/{name}" for name in "ab"]
    assert len(defects([entry_of("4.2-3", *fields)])) == 2


def test_what_was_found_in_several_ways_of_one_requirement_is_one_finding() -> None:
    messages = [f"No signature by the secret of roll {number}" for number in (1, 2)]
    (defect,) = defects([entry_of("99-1", *messages, "No signature at all")])
    assert [each.finding.message for each in defect.members] == ["No signature at all"]


def test_of_laws_with_one_cause_the_one_that_is_broken_most_often_leads() -> None:
    """A secret of the service's own that does not sign is all that is wrong where others sign."""
    for counts, first in (({"2.3-9": 4, "6-6": 40}, "6-6"), ({"2.3-9": 4, "6-6": 4}, "2.3-9")):
        entries = [
            replace(entry_of(name), findings=(replace(finding(name), cause=COARSE, count=count),))
            for name, count in counts.items()
        ]
        (defect,) = defects(entries)
        assert defect.lead.entry.requirement.id == first


def test_what_may_follow_from_another_of_one_cause_does_not_lead() -> None:
    root, later = entry_of("4.3-3", "No signature by the new secret"), entry_of("4.3-5", "Nor then")
    later = replace(later, requirement=replace(later.requirement, follows_from=("4.3-3",)))
    for proof_of_root in (root.findings[0].exchanges, root.findings[0].exchanges * 9):
        larger = replace(root, findings=(replace(root.findings[0], exchanges=proof_of_root),))
        (defect,) = defects([later, larger])
        assert defect.lead.entry.requirement.id == "4.3-3"
