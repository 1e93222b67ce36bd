"""What only follows from another failure accuses nobody, judged by the real checks and the real
requirements; what has evidence of its own is accused beside it.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hookproof.conformance.checks import all_checks
from hookproof.conformance.grading.grader import Grader
from hookproof.conformance.model.evidence import Observation
from hookproof.conformance.model.gathered_evidence import Gathered
from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.mutants.mutant_run import detections_of
from hookproof.conformance.observations.destinations import Roll
from hookproof.conformance.observations.mistakes import OverlongRequest
from hookproof.conformance.results.consequences import fold_consequences
from hookproof.conformance.subjects.arrival.evidence import SigningFormats
from hookproof.conformance.subjects.keys.evidence import CallWithKey, KeyKind
from hookproof.conformance.subjects.reach.evidence import OneProjectFanOut
from hookproof.conformance.subjects.rolls.evidence import RollsUnderTraffic
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.catalogue import load_catalogue
from tests.conformance.canned_deliveries import (
    SIGNATURE,
    broadcast,
    created,
    destination,
    event,
    observed,
    sent,
)
from tests.conformance.canned_evidence import NOW, context, exchange, observation, seen
from tests.conformance.grading.canned_checks import experiment
from tests.conformance.subjects.keys.examples import call_with
from tests.conformance.subjects.lists.examples import LINKS, SOURCES, stepped_back, walk

BEFORE, AFTER = event("before"), event("after")
OLD, NEW = "secret of rolling", "second secret"
ROLLING = destination(
    "rolling",
    advanced_signatures=True,
    rolls=[Roll(role="roll", old_secret=OLD, new_secret=NEW, expiration=10)],
)
HEALTHY, OTHER = destination("healthy"), destination("of the same owner")
FAILING = destination("failing")
EVENT, SENTINEL = event(), event("sentinel")


def entries(*observations: Observation) -> tuple[Entry, ...]:
    """The entries of all requirements, judged by these observations alone."""
    catalogue = load_catalogue()
    each = experiment("canned", *dict.fromkeys(map(type, observations)))
    grader = Grader(
        checks=all_checks(),
        context=context(),
        catalogue=catalogue,
        experiments=["canned"],
        every_experiment=[each],
        profile=Profile.DEEP,
        gathered=lambda _: Gathered(experiment="canned", observations=observations),
        reported=catalogue.requirements,
    )
    return fold_consequences([*map(grader.entry, catalogue.requirements.values())])


def entry(name: str, *observations: Observation) -> Entry:
    return next(each for each in entries(*observations) if each.requirement.id == name)


def detected(*observations: Observation) -> dict[str, tuple[str, ...]]:
    """What each detected requirement follows from; nothing if one check saw it for itself."""
    found: dict[str, tuple[str, ...]] = {}
    for each in detections_of(entries(*observations)):
        alone = found.get(each.requirement) == ()
        found[each.requirement] = () if alone else each.follows_from
    return found


def accused(found: dict[str, tuple[str, ...]]) -> set[str]:
    return {name for name, roots in found.items() if not roots}


def accused_by_deliveries(found: dict[str, tuple[str, ...]]) -> set[str]:
    """The canned answers are too thin for what is judged by them."""
    requirements = load_catalogue().requirements
    return {name for name in accused(found) if not requirements[name].operations}


def rolled(before: Iterable[str], after: Iterable[str]) -> RollsUnderTraffic:
    """A delivery before a roll and one after it, signed with these secrets."""
    return rolled_with(
        sent(BEFORE, ROLLING, at=NOW + 0.1, signers=before),
        sent(AFTER, ROLLING, at=NOW + 2.1, signers=after, attempt=2),
    )


def rolled_with(*deliveries: ReceivedDelivery) -> RollsUnderTraffic:
    roll = exchange(
        "roll", "expireEndpointSecret", path={"endpointID": "uid"}, data={}, sent_at=NOW + 1
    )
    events = (broadcast(BEFORE, sent_at=NOW), broadcast(AFTER, sent_at=NOW + 2))
    return observed(
        RollsUnderTraffic,
        ROLLING,
        *deliveries,
        events=[BEFORE, AFTER],
        exchanges=[events[0], roll, events[1]],
    )


def test_where_nothing_is_validly_signed_before_a_roll_nothing_else_is_said_of_the_roll() -> None:
    found = detected(rolled(["stranger"], ["stranger", "other stranger"]))
    assert accused_by_deliveries(found) == {"6-7"}
    assert {found[name] for name in ("4.3-2", "4.3-3", "6-10")} == {("6-7",)}


def test_a_roll_that_breaks_valid_signatures_is_accused() -> None:
    found = detected(rolled([OLD], ["stranger", "other stranger"]))
    assert {"4.3-2", "4.3-3"} <= accused(found)
    assert "6-7" not in found


def test_a_secret_that_is_left_out_is_accused_beside_bad_signatures_elsewhere() -> None:
    found = detected(
        rolled(["stranger"], [OLD]),
        observed(SigningFormats, destination(), sent(EVENT, destination(), signers=["stranger"])),
    )
    assert {"6-6", "6-7", "4.3-3"} <= accused(found)


def test_a_delivery_without_any_signature_violates_its_format_whatever_was_rolled() -> None:
    first, second = rolled([OLD], [OLD, NEW]).deliveries
    bare = replace(second, headers=tuple(each for each in second.headers if each[0] != SIGNATURE))
    found = detected(rolled_with(first, bare))
    assert accused_by_deliveries(found) == {"6-7"}
    assert found["4.3-2"] == ("6-7",)


def fan_out(*arrived: ReceivedDelivery) -> OneProjectFanOut:
    return observed(OneProjectFanOut, [HEALTHY, OTHER, FAILING], *arrived, events=[EVENT, SENTINEL])


def test_what_a_lost_delivery_breaks_follows_from_the_loss() -> None:
    at_healthy = [sent(EVENT, HEALTHY), sent(SENTINEL, HEALTHY, attempt=2)]
    at_failing = sent(EVENT, FAILING)
    for arrived in ([sent(EVENT, OTHER)], [sent(SENTINEL, OTHER)]):
        found = detected(fan_out(*at_healthy, at_failing, *arrived))
        assert accused_by_deliveries(found) == {"1-1"}
        assert found["1-2"] == ("1-1",)


def test_a_default_that_the_service_says_itself_is_one_failure() -> None:
    def signing(*, says: bool) -> SigningFormats:
        plain = destination()
        signed = observed(SigningFormats, plain, sent(EVENT, plain, signers=["stranger"]))
        shown = created(plain, advanced_signatures=says)
        return replace(signed, exchanges=(shown, broadcast(EVENT)))

    said = detected(signing(says=True))
    assert "2.3-8" in accused(said)
    assert said["2.3-9"] == ("2.3-8",)
    assert "2.3-9" in accused(detected(signing(says=False)))


def stored(value: object, *, uid: str = "e1", wanted: object = None) -> Observation:
    """An endpoint that is created with a rate_limit, and a portal link that shows it."""
    creation = exchange(
        "create",
        "createEndpoint",
        data={"uid": "e1", "rate_limit": value},
        request={"rate_limit": value if wanted is None else wanted},
    )
    records = [{"uid": uid, "rate_limit": value}]
    link = exchange("retrieve", "getPortalLink", data={"uid": "l1", "endpoints_metadata": records})
    return seen(creation, link)


def test_a_wrong_type_that_a_creation_stored_is_accused_once() -> None:
    found = detected(stored("five"))
    assert "4.1-3" in accused(found)
    assert found["4.5-3"] == ("4.1-3",)


def test_a_wrong_type_that_no_creation_stored_is_accused_wherever_it_is_shown() -> None:
    for elsewhere in (stored("five", uid="e2"), stored("five", wanted=5)):
        assert {"4.1-3", "4.5-3"} <= accused(detected(elsewhere))


def test_a_long_body_is_one_finding_however_the_request_ended() -> None:
    endings: tuple[dict[str, Any], ...] = (
        {"status": 413},
        {"problem": "it was reset"},
        {"status": 500},
    )
    requests = [
        observation(
            OverlongRequest,
            exchange("unfinished", **ending),
            operation_id="createEndpoint",
            promised=100,
            sent=100,
        )
        for ending in endings
    ]
    findings = entry("8-18", *requests).findings
    assert [(finding.operation, finding.count) for finding in findings] == [("createEndpoint", 3)]


def taken(kind: KeyKind, operation_id: str = "createEndpoint") -> CallWithKey:
    """A call with a key of this kind that succeeds."""
    tried = exchange("refused", operation_id, data={"uid": kind.value})
    return call_with(kind, tried, operation_id=operation_id)


def test_an_operation_that_needs_no_key_takes_any() -> None:
    wrong = (KeyKind.WRONG, KeyKind.TRUNCATED, KeyKind.EMPTY, KeyKind.CREDENTIAL, KeyKind.FOREIGN)
    found = detected(taken(KeyKind.NONE), *map(taken, wrong))
    assert "5-1" in accused(found)
    assert {found[name] for name in ("5-9", "5-12", "5-13", "5-14")} == {("5-1",)}


def test_a_wrong_key_that_another_operation_takes_is_accused_for_itself() -> None:
    found = detected(taken(KeyKind.NONE), taken(KeyKind.WRONG), taken(KeyKind.WRONG, "listSources"))
    assert {"5-1", "5-9"} <= accused(found)


def test_a_key_that_is_looked_for_elsewhere_explains_no_wrong_one() -> None:
    assert {"5-1", "5-9"} <= accused(detected(taken(KeyKind.ELSEWHERE), taken(KeyKind.WRONG)))


def test_what_another_page_than_the_one_before_claims_follows_from_that() -> None:
    other = detected(walk("cb", "a", back={1: "ba"}))
    assert {"2.2-13", "4.4-5"} <= accused(other)
    assert "2.2-13" in other["2.2-10"]
    own = detected(stepped_back(has_next_page=False))
    assert "2.2-13" not in own["2.2-10"]


def test_a_cursor_that_leads_to_nothing_is_one_failure() -> None:
    for operation_id, name in ((LINKS, "4.4-4"), (SOURCES, "4.7-4")):
        assert "2.2-9" in detected(walk("cb", "", operation_id=operation_id))[name]
        repeated = detected(walk("cb", "ba", operation_id=operation_id))
        assert "2.2-9" not in repeated[name]


def test_a_broadcast_at_a_disabled_endpoint_is_one_failure() -> None:
    disabled = destination("disabled", is_disabled=True)
    events = [EVENT, SENTINEL]
    arrived = [sent(each, where) for each in events for where in (HEALTHY, disabled)]
    fan_out = observed(OneProjectFanOut, [HEALTHY, disabled], *arrived, events=events)
    assert detected(fan_out)["4.8-14"] == ("3-6",)


def test_a_cursor_that_forgets_the_filter_is_one_failure() -> None:
    owner = {"ownerId": "o1"}
    forgotten = detected(walk("c", "b", "a", filtered=owner, back={1: "c"}))
    assert "4.4-13" in forgotten["4.4-9"]
    never_applied = detected(walk("b", "ca", filtered=owner))
    assert "4.4-13" not in never_applied["4.4-9"]
