"""Why a requirement was not exercised or does not apply, in words that say what would help."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from hookproof.conformance.grading.grader import Grader
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import Evidence, NotExaminedError
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.spec.catalogue import Catalogue
from tests.conformance.canned_deliveries import destination, event, observed, sent
from tests.conformance.canned_evidence import (
    NOW,
    CannedObservation,
    OtherObservation,
    context,
    delivery,
    exchange,
    missing,
    seen,
)
from tests.conformance.grading.canned_checks import (
    REQUIREMENT,
    HeavyObservation,
    bound,
    declines,
    entry,
    experiment,
    fails,
    passes,
    says_nothing,
)


def test_a_requirement_without_a_check_is_not_exercised() -> None:
    judged = entry()
    assert (judged.verdict, judged.reasons) == (
        Verdict.NOT_EXERCISED,
        ("No check is bound to it.",),
    )


def test_a_check_that_says_nothing_exercises_nothing() -> None:
    judged = entry(bound(says_nothing), observations=(seen(exchange(data={"uid": "e1"})),))
    assert (judged.verdict, judged.exercised) == (Verdict.NOT_EXERCISED, 0)
    assert judged.reasons == (
        (
            "In x: createEndpoint was answered once (always with success); none of that shows"
            " whether this is so: It does."
        ),
    )


def test_no_heavier_profile_is_promised_where_the_run_has_every_experiment() -> None:
    judged = entry(bound(says_nothing), profile=Profile.QUICK)
    assert not [reason for reason in judged.reasons if "--profile" in reason]


def test_an_experiment_of_a_heavier_profile_is_named_with_that_profile() -> None:
    judged = entry(bound(passes, evidence=(OtherObservation,)), profile=Profile.QUICK)
    assert judged.reasons == ("The experiment y is not part of this run; a new run includes it.",)
    judged = entry(bound(passes, evidence=(HeavyObservation,)), profile=Profile.QUICK)
    assert judged.reasons == (
        "The experiment z is not part of this run; --profile deep includes it.",
    )


def test_answers_of_other_operations_are_no_reason() -> None:
    fetched = exchange("fetch", "getEndpoint", status=404)
    judged = entry(bound(says_nothing), observations=(seen(fetched),))
    assert len(judged.reasons) == 1


def test_deliveries_that_never_arrived_are_named_where_only_they_would_show_it() -> None:
    of_deliveries = replace(REQUIREMENT, operations=())
    judged = entry(bound(says_nothing), requirement=of_deliveries)
    assert judged.reasons[-1].startswith("No delivery arrived in them")
    arrived = replace(seen(exchange(data={"uid": "e1"})), deliveries=(delivery(),))
    judged = entry(bound(says_nothing), requirement=of_deliveries, observations=(arrived,))
    assert len(judged.reasons) == 1


def reasons_of(*awaited: Evidence) -> tuple[str, ...]:
    """Why a requirement is not exercised of which a check says nothing."""

    def nothing(_seen: DeliveryObservation, _context: CheckContext) -> Iterator[Judgement]:
        yield from ()

    check = Check(
        name="it_does", requirements=("1-1",), evidence=(DeliveryObservation,), judge=nothing
    )
    grader = Grader(
        checks=[check],
        context=context(),
        catalogue=Catalogue(sections={}, requirements={"1-1": REQUIREMENT}, gaps={}),
        experiments=["x"],
        every_experiment=[experiment("x", DeliveryObservation)],
        profile=Profile.DEEP,
        gathered=lambda _: Gathered(experiment="x", observations=awaited),
    )
    return grader.entry(REQUIREMENT).reasons


def test_deliveries_that_were_awaited_in_vain_are_named_with_the_time_that_they_had() -> None:
    names = ("first", "second", "third", "fourth")
    awaited = observed(
        DeliveryObservation,
        destination(),
        events=map(event, names),
        ended_at=NOW + 6.1,
    )
    assert reasons_of(awaited)[0] == (
        "In canned, canned, nothing arrived of 'first', 'second', 'third' and 1 more at 'plain'"
        " within 6 s of the broadcast; a delivery of it would help."
    )


def test_deliveries_that_may_yet_have_come_are_named_where_some_did() -> None:
    near, far = destination("near"), destination("far")
    awaited = observed(
        DeliveryObservation,
        [near, far],
        sent(event(), near),
        ended_at=NOW + 6.1,
        unused_s=0.1,
    )
    assert reasons_of(awaited)[0] == (
        "In canned, canned, deliveries of 'event' may still have been under way to 'far' at the"
        " end, behind others; a longer budgets.delivery_s in target.yaml would help, or a target"
        " with less to do."
    )


def test_a_check_of_deliveries_rests_on_broadcasts_whatever_its_operations_are() -> None:
    exchanges = [exchange("plain"), exchange("event", "createBroadcastEvent", status=500)]
    awaited = observed(DeliveryObservation, destination(), events=(), exchanges=exchanges)
    assert REQUIREMENT.operations == ("createEndpoint",)
    assert reasons_of(awaited, missing("it takes two projects", "")) == (
        (
            'Every createBroadcastEvent that this rests on was answered 500: "done";'
            " a success of one would"
            " help."
        ),
    )


def test_an_event_whose_deliveries_were_not_waited_for_is_not_named() -> None:
    awaited = observed(DeliveryObservation, destination(), events=[event()], ended_at=NOW + 0.2)
    assert not [reason for reason in reasons_of(awaited) if "nothing arrived" in reason]


def test_an_endpoint_that_was_refused_is_named_with_the_answer() -> None:
    refused = exchange("enabled by hand", status=400)
    awaited = observed(DeliveryObservation, destination(), events=(), exchanges=[refused])
    assert reasons_of(awaited)[0] == (
        'In canned, canned, createEndpoint was answered 400: "done"; a success of it would help.'
    )


def test_a_reason_that_begins_with_the_name_of_an_operation_keeps_it() -> None:
    judged = entry(bound(fails), observations=(missing("listSources was answered 401"),))
    assert judged.reasons == ("listSources was answered 401.",)


def test_a_missing_observation_is_the_reason_and_is_not_judged() -> None:
    judged = entry(bound(fails), observations=(missing("the project has no source; make one"),))
    assert (judged.verdict, judged.reasons) == (
        Verdict.NOT_EXERCISED,
        ("The project has no source; make one.",),
    )


def test_a_missing_observation_beside_a_complete_one_changes_nothing() -> None:
    judged = entry(bound(passes), observations=(missing("no luck"), seen(exchange())))
    assert (judged.verdict, judged.exercised) == (Verdict.PASS, 1)


def test_an_experiment_that_is_not_part_of_the_run_is_named() -> None:
    judged = entry(bound(passes, evidence=(OtherObservation,)))
    assert judged.verdict is Verdict.NOT_EXERCISED
    assert "The experiment y is not part of this run" in judged.reasons[0]


def test_an_experiment_that_was_cut_short_is_the_reason() -> None:
    cut = Gathered(
        experiment="x", observations=(), ending=Ending.CUT, reason="the time budget of 5 s is over"
    )
    judged = entry(bound(passes), gathered={"x": cut})
    assert judged.verdict is Verdict.NOT_EXERCISED
    assert judged.reasons == ("The experiment x was cut short: The time budget of 5 s is over.",)


@pytest.mark.parametrize(
    ("second", "reasons"),
    [
        ("over", ("The experiments x, y were cut short: Over.",)),
        (
            "it stopped",
            (
                "The experiment x was cut short: Over.",
                "The experiment y was cut short: It stopped.",
            ),
        ),
    ],
)
def test_experiments_that_were_cut_for_one_reason_are_one_sentence(
    second: str, reasons: tuple[str, ...]
) -> None:
    gathered = {
        name: Gathered(experiment=name, observations=(), ending=Ending.CUT, reason=reason)
        for name, reason in {"x": "over", "y": second}.items()
    }
    judges = bound(passes, evidence=(CannedObservation, OtherObservation))
    assert entry(judges, gathered=gathered).reasons == reasons


def test_a_requirement_that_the_target_may_lack_is_not_applicable() -> None:
    judged = entry(bound(declines))
    assert (judged.verdict, judged.reasons) == (
        Verdict.NOT_APPLICABLE,
        ("the document lets it lack this",),
    )


def test_a_requirement_that_may_be_lacking_is_not_exercised_after_a_cut() -> None:
    cut = Gathered(
        experiment="x", observations=(seen(exchange()),), ending=Ending.CUT, reason="time is up"
    )
    assert entry(bound(declines), gathered={"x": cut}).verdict is Verdict.NOT_EXERCISED


def test_an_untestable_requirement_is_not_applicable_and_says_why() -> None:
    judged = entry(requirement=replace(REQUIREMENT, untestable="nobody can see it"))
    assert (judged.verdict, judged.reasons) == (Verdict.NOT_APPLICABLE, ("Nobody can see it.",))


def test_evidence_that_was_examined_by_another_dialect_is_not_exercised_with_the_reason() -> None:
    def refuses(_seen: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
        raise NotExaminedError("signatures were examined by another dialect")
        yield

    judged = entry(bound(refuses))
    assert judged.verdict is Verdict.NOT_EXERCISED
    assert judged.reasons[0] == "Signatures were examined by another dialect."


def test_a_missing_observation_is_a_reason_only_for_checks_of_its_class() -> None:
    gathered = {"x": Gathered(experiment="x", observations=(missing("no", "OtherObservation"),))}
    of_its_class = entry(bound(says_nothing, evidence=(OtherObservation,)), gathered=gathered)
    assert of_its_class.reasons[0].startswith("The experiment y is not part of this run")
    of_another = entry(bound(says_nothing), gathered=gathered)
    assert "no" not in of_another.reasons
    assert "was never called" in of_another.reasons[0]
