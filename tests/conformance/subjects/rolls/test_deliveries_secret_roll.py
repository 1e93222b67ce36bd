from dataclasses import replace

from hookproof.conformance.grading.check_result import CheckResult
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.destinations import Destination, Roll
from hookproof.conformance.subjects.rolls.evidence import RollsUnderTraffic
from tests.conformance.canned_deliveries import (
    SIGNATURE,
    broadcast,
    destination,
    event,
    observed,
    sent,
)
from tests.conformance.canned_evidence import (
    NOW,
    checks_bound_to,
    context,
    exchange,
    judgements,
    verdict,
    verdicts,
)

PASS, FAIL = Verdict.PASS, Verdict.FAIL
OLD, NEW, NEWEST = "secret of rolling", "second secret", "third secret"
ROLL = Roll(role="roll", old_secret=OLD, new_secret=NEW, expiration=10)
ADVANCED = destination("rolling", advanced_signatures=True, rolls=[ROLL])
SIMPLE = destination("rolling", advanced_signatures=False, rolls=[ROLL])
DURING, AFTER = 2.0, 20.0


def answered(roll: Roll, *, at: float = NOW, **data: object) -> Exchange:
    return exchange(
        roll.role, "expireEndpointSecret", path={"endpointID": "uid"}, data=data, sent_at=at
    )


def rolled(
    where: Destination, after_s: float, *signers: str, late_s: float = 0.1, **data: object
) -> RollsUnderTraffic:
    """An event that was sent so long after the roll, and arrived a moment later with these
    signatures.
    """
    calls = [
        *(answered(roll, **data) for roll in where.rolls),
        broadcast(event(), sent_at=NOW + after_s),
    ]
    return observed(
        RollsUnderTraffic,
        where,
        sent(event(), where, at=NOW + after_s + late_s, signers=signers),
        exchanges=calls,
    )


def test_both_signatures_in_the_window_pass() -> None:
    actual = verdicts("4.3-2 4.3-3", rolled(ADVANCED, DURING, OLD, NEW))
    assert actual == {"4.3-2": PASS, "4.3-3": PASS}


def test_a_finding_says_which_signature_of_the_header_is_wrong() -> None:
    observation = rolled(ADVANCED, DURING, OLD, "x")
    (delivery,) = observation.deliveries
    second = (delivery.header(SIGNATURE) or "").split(",")[-1].strip()
    _, missing = judgements("4.3-2 4.3-3", observation)
    (order,) = judgements("6-10", observation)
    label, _, signature = second.partition("=")
    wrong = f"signature 2 of 2 ({label}={signature[:8]}…) is by no secret of the endpoint"
    assert missing.actual == f"none; {wrong}"
    assert order.actual == f"signatures by secrets (0, None); {wrong}"
    assert missing.marks.texts == order.marks.texts == (second,)


def test_one_mistake_is_one_finding_whatever_the_digits_of_its_signatures() -> None:
    observations = [rolled(ADVANCED, DURING, OLD, signer) for signer in ("x", "y")]
    (check,) = checks_bound_to(["4.3-3"], observations[0])
    result = CheckResult(check)
    for observation in observations:
        for judgement in judgements("4.3-2 4.3-3", observation):
            result.add_judgement(judgement, observation, context())
    (finding,) = result.findings.values()
    assert (finding.requirement, finding.count) == ("4.3-3", 2)


def test_a_finding_says_which_signature_is_by_the_old_secret() -> None:
    observation = rolled(ADVANCED, AFTER, NEW, OLD)
    old, _ = judgements("4.3-4 4.3-5", observation)
    assert old.actual.startswith("one; signature 2 of 2 (")
    assert old.actual.endswith("…) is by the old secret")


def test_a_missing_signature_in_the_window_fails() -> None:
    assert verdicts("4.3-2 4.3-3", rolled(ADVANCED, DURING, NEW)) == {"4.3-2": FAIL, "4.3-3": PASS}
    assert verdicts("4.3-2 4.3-3", rolled(ADVANCED, DURING, OLD)) == {"4.3-2": PASS, "4.3-3": FAIL}


def test_a_delivery_around_the_expiry_is_not_judged() -> None:
    for after_s in (9.5, 10.0, 10.5):
        observation = rolled(ADVANCED, after_s, NEW)
        assert verdicts("4.3-2 4.3-3", observation) == {}
        assert verdicts("4.3-4 4.3-5", observation) == {}


def test_a_delivery_that_is_late_is_not_judged() -> None:
    observation = rolled(ADVANCED, DURING, NEW, late_s=30)
    assert verdicts("4.3-2 4.3-3", observation) == {}
    assert verdicts("4.3-4 4.3-5", observation) == {}


def test_a_broadcast_before_the_roll_is_not_judged() -> None:
    assert verdicts("4.3-2 4.3-3", rolled(ADVANCED, -1, OLD)) == {}


def test_the_new_secret_alone_after_the_window_passes() -> None:
    assert verdicts("4.3-4 4.3-5", rolled(ADVANCED, AFTER, NEW)) == {"4.3-4": PASS, "4.3-5": PASS}


def test_the_old_secret_after_the_window_fails() -> None:
    assert verdicts("4.3-4 4.3-5", rolled(ADVANCED, AFTER, OLD, NEW)) == {
        "4.3-4": FAIL,
        "4.3-5": PASS,
    }
    assert verdicts("4.3-4 4.3-5", rolled(ADVANCED, AFTER, OLD)) == {"4.3-4": FAIL, "4.3-5": FAIL}


def test_the_window_is_counted_in_the_dialects_unit() -> None:
    assert verdicts("4.3-2 4.3-3", rolled(ADVANCED, DURING, NEW), "contrary") == {}


def two_rolls(after_s: float, *signers: str) -> RollsUnderTraffic:
    first = Roll(role="first roll", old_secret=OLD, new_secret=NEW, expiration=100)
    second = Roll(role="second roll", old_secret=NEW, new_secret=NEWEST, expiration=10)
    return rolled(replace(ADVANCED, rolls=(first, second)), after_s, *signers)


def test_each_of_two_old_secrets_has_its_own_time() -> None:
    assert verdict("4.3-6", two_rolls(DURING, OLD, NEW, NEWEST)) is PASS
    assert verdict("4.3-6", two_rolls(AFTER, OLD, NEWEST)) is PASS


def test_an_old_secret_with_the_time_of_the_other_fails() -> None:
    assert verdict("4.3-6", two_rolls(DURING, NEW, NEWEST)) is FAIL
    assert verdict("4.3-6", two_rolls(AFTER, OLD, NEW, NEWEST)) is FAIL
    assert verdict("4.3-6", two_rolls(AFTER, NEWEST)) is FAIL


def test_after_each_of_several_rolls_the_newest_secret_has_to_sign() -> None:
    assert verdicts("4.3-2 4.3-3", two_rolls(DURING, OLD, NEW, NEWEST)) == {"4.3-3": PASS}
    assert verdicts("4.3-2 4.3-3", two_rolls(DURING, OLD, NEW)) == {"4.3-3": FAIL}
    assert verdicts("4.3-2 4.3-3", two_rolls(AFTER, OLD)) == {"4.3-3": FAIL}


def test_when_all_of_several_secrets_have_expired_the_newest_still_has_to_sign() -> None:
    long_after = 200.0
    assert verdicts("4.3-4 4.3-5", two_rolls(long_after, NEWEST)) == {"4.3-4": PASS, "4.3-5": PASS}
    assert verdicts("4.3-4 4.3-5", two_rolls(long_after, OLD)) == {"4.3-4": FAIL, "4.3-5": FAIL}

    assert verdict("4.3-6", two_rolls(long_after, OLD)) is None
    missing = two_rolls(long_after, OLD)
    assert verdicts("4.3-2 4.3-3", missing) == {}


def between_rolls(*signers: str, arrived_at: float = NOW + 1.1) -> RollsUnderTraffic:
    """An event that was sent a second after the first roll; the second one comes 8 s later."""
    first = Roll(role="first roll", old_secret=OLD, new_secret=NEW, expiration=100)
    second = Roll(role="second roll", old_secret=NEW, new_secret=NEWEST, expiration=10)
    where = replace(ADVANCED, rolls=(first, second))
    calls = [answered(first), answered(second, at=NOW + 9), broadcast(event(), sent_at=NOW + 1)]
    arrived = sent(event(), where, at=arrived_at, signers=signers)
    return observed(RollsUnderTraffic, where, arrived, exchanges=calls)


def test_between_two_rolls_the_secret_of_the_first_is_the_newest() -> None:
    assert verdicts("4.3-2 4.3-3", between_rolls(OLD, NEW)) == {"4.3-3": PASS}
    assert verdicts("4.3-2 4.3-3", between_rolls(OLD)) == {"4.3-3": FAIL}
    # It may have been signed after the second roll, which decides between the secrets then.
    assert verdicts("4.3-2 4.3-3", between_rolls(OLD, arrived_at=NOW + 9.5)) == {}
    assert verdict("4.3-6", between_rolls(NEW)) is None


def two_simple_rolls(after_s: float, signer: str) -> RollsUnderTraffic:
    rolls = two_rolls(after_s).destinations[0].rolls
    return rolled(replace(SIMPLE, rolls=rolls), after_s, signer)


def test_the_simple_format_is_signed_by_the_newest_of_several() -> None:
    assert verdict("4.3-7", two_simple_rolls(DURING, NEWEST)) is PASS
    assert verdict("4.3-7", two_simple_rolls(AFTER, NEWEST)) is PASS
    for signer in (OLD, NEW, "secret of another"):
        assert verdict("4.3-7", two_simple_rolls(DURING, signer)) is FAIL
    # Around an end nobody knows which secrets are valid.
    assert verdict("4.3-7", two_simple_rolls(10.0, NEW)) is None


def test_the_simple_format_is_signed_by_the_newest_under_the_reference_dialect() -> None:
    assert verdict("4.3-7", rolled(SIMPLE, DURING, NEW)) is PASS
    assert verdict("4.3-7", rolled(SIMPLE, DURING, OLD)) is FAIL
    assert verdict("4.3-7", rolled(SIMPLE, DURING, "unknown")) is FAIL


def shown(expires_in_s: float) -> dict[str, object]:
    stamp = f"2027-01-15T08:{int(expires_in_s) // 60:02}:{int(expires_in_s) % 60:02}.000000Z"
    return {
        "secrets": [{"uid": "1", "value": OLD, "expires_at": stamp}, {"uid": "2", "value": NEW}]
    }


def test_an_old_secret_that_keeps_its_expires_at_passes() -> None:
    assert verdict("4.3-16", rolled(ADVANCED, DURING, OLD, NEW, **shown(10))) is PASS
    assert verdict("4.3-16", rolled(ADVANCED, AFTER, NEW, **shown(10))) is PASS


def test_an_old_secret_that_does_not_keep_its_expires_at_fails() -> None:
    assert verdict("4.3-16", rolled(ADVANCED, AFTER, NEW, **shown(60))) is FAIL
    assert verdict("4.3-16", rolled(ADVANCED, DURING + 5, OLD, NEW, **shown(1))) is FAIL
    assert verdict("4.3-16", rolled(SIMPLE, AFTER, OLD, **shown(10))) is FAIL


def test_a_roll_that_shows_no_expires_at_is_not_judged_by_it() -> None:
    assert verdict("4.3-16", rolled(ADVANCED, AFTER, OLD, NEW)) is None


def test_signatures_stand_in_the_dialects_order() -> None:
    assert verdict("6-10", rolled(ADVANCED, DURING, OLD, NEW)) is PASS
    assert verdict("6-10", rolled(ADVANCED, DURING, NEW, OLD)) is FAIL
    assert verdict("6-10", rolled(ADVANCED, DURING, NEW)) is FAIL
