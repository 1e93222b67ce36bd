from dataclasses import replace

from hookproof.conformance.checks import all_checks
from hookproof.conformance.checks.deliveries.security.secret_roll import (
    an_old_secret_stops_signing_when_it_said,
    both_secrets_sign_until_the_old_one_expires,
    each_of_two_replaced_secrets_has_its_own_time,
    only_the_new_secret_signs_when_the_old_one_has_expired,
    the_simple_format_is_signed_by_the_secret_that_the_dialect_names,
    two_living_secrets_sign_in_the_dialects_order,
)
from hookproof.conformance.grading.check_result import CheckResult
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.delivery.security.secret_roll import RollsUnderTraffic
from hookproof.conformance.observations.destinations import Destination, Roll
from tests.conformance.canned_deliveries import (
    SIGNATURE,
    broadcast,
    destination,
    event,
    observed,
    sent,
)
from tests.conformance.canned_evidence import NOW, context, exchange, verdicts

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
    actual = verdicts(
        both_secrets_sign_until_the_old_one_expires, rolled(ADVANCED, DURING, OLD, NEW)
    )
    assert actual == {"4.3-2": PASS, "4.3-3": PASS}


def test_a_finding_says_which_signature_of_the_header_is_wrong() -> None:
    observation = rolled(ADVANCED, DURING, OLD, "x")
    (delivery,) = observation.deliveries
    second = (delivery.header(SIGNATURE) or "").split(",")[-1].strip()
    _, missing = both_secrets_sign_until_the_old_one_expires(observation, context("reference"))
    (order,) = two_living_secrets_sign_in_the_dialects_order(observation, context("reference"))
    label, _, signature = second.partition("=")
    wrong = f"signature 2 of 2 ({label}={signature[:8]}…) is by no secret of the endpoint"
    assert missing.actual == f"none; {wrong}"
    assert order.actual == f"signatures by secrets (0, None); {wrong}"
    assert missing.marks.texts == order.marks.texts == (second,)


def test_one_mistake_is_one_finding_whatever_the_digits_of_its_signatures() -> None:
    check = next(
        each for each in all_checks() if each.name == "both_secrets_sign_until_the_old_one_expires"
    )
    result = CheckResult(check)
    for signer in ("x", "y"):
        observation = rolled(ADVANCED, DURING, OLD, signer)
        for judgement in both_secrets_sign_until_the_old_one_expires(
            observation, context("reference")
        ):
            result.add_judgement(judgement, observation, context("reference"))
    (finding,) = result.findings.values()
    assert (finding.requirement, finding.count) == ("4.3-3", 2)


def test_a_finding_says_which_signature_is_by_the_old_secret() -> None:
    observation = rolled(ADVANCED, AFTER, NEW, OLD)
    old, _ = only_the_new_secret_signs_when_the_old_one_has_expired(
        observation, context("reference")
    )
    assert old.actual.startswith("one; signature 2 of 2 (")
    assert old.actual.endswith("…) is by the old secret")


def test_a_missing_signature_in_the_window_fails() -> None:
    check = both_secrets_sign_until_the_old_one_expires
    assert verdicts(check, rolled(ADVANCED, DURING, NEW)) == {"4.3-2": FAIL, "4.3-3": PASS}
    assert verdicts(check, rolled(ADVANCED, DURING, OLD)) == {"4.3-2": PASS, "4.3-3": FAIL}


def test_a_delivery_around_the_expiry_is_not_judged() -> None:
    for after_s in (9.5, 10.0, 10.5):
        observation = rolled(ADVANCED, after_s, NEW)
        assert verdicts(both_secrets_sign_until_the_old_one_expires, observation) == {}
        assert verdicts(only_the_new_secret_signs_when_the_old_one_has_expired, observation) == {}


def test_a_delivery_that_is_late_is_not_judged() -> None:
    observation = rolled(ADVANCED, DURING, NEW, late_s=30)
    assert verdicts(both_secrets_sign_until_the_old_one_expires, observation) == {}
    assert verdicts(only_the_new_secret_signs_when_the_old_one_has_expired, observation) == {}


def test_a_broadcast_before_the_roll_is_not_judged() -> None:
    assert verdicts(both_secrets_sign_until_the_old_one_expires, rolled(ADVANCED, -1, OLD)) == {}


def test_the_new_secret_alone_after_the_window_passes() -> None:
    actual = verdicts(
        only_the_new_secret_signs_when_the_old_one_has_expired, rolled(ADVANCED, AFTER, NEW)
    )
    assert actual == {"4.3-4": PASS, "4.3-5": PASS}


def test_the_old_secret_after_the_window_fails() -> None:
    check = only_the_new_secret_signs_when_the_old_one_has_expired
    assert verdicts(check, rolled(ADVANCED, AFTER, OLD, NEW)) == {"4.3-4": FAIL, "4.3-5": PASS}
    assert verdicts(check, rolled(ADVANCED, AFTER, OLD)) == {"4.3-4": FAIL, "4.3-5": FAIL}


def test_the_window_is_counted_in_the_dialects_unit() -> None:
    assert (
        verdicts(
            both_secrets_sign_until_the_old_one_expires, rolled(ADVANCED, DURING, NEW), "contrary"
        )
        == {}
    )


def two_rolls(after_s: float, *signers: str) -> RollsUnderTraffic:
    first = Roll(role="first roll", old_secret=OLD, new_secret=NEW, expiration=100)
    second = Roll(role="second roll", old_secret=NEW, new_secret=NEWEST, expiration=10)
    return rolled(replace(ADVANCED, rolls=(first, second)), after_s, *signers)


def test_each_of_two_old_secrets_has_its_own_time() -> None:
    check = each_of_two_replaced_secrets_has_its_own_time
    assert verdicts(check, two_rolls(DURING, OLD, NEW, NEWEST)) == {"4.3-6": PASS}
    assert verdicts(check, two_rolls(AFTER, OLD, NEWEST)) == {"4.3-6": PASS}


def test_an_old_secret_with_the_time_of_the_other_fails() -> None:
    check = each_of_two_replaced_secrets_has_its_own_time
    assert verdicts(check, two_rolls(DURING, NEW, NEWEST)) == {"4.3-6": FAIL}
    assert verdicts(check, two_rolls(AFTER, OLD, NEW, NEWEST)) == {"4.3-6": FAIL}
    assert verdicts(check, two_rolls(AFTER, NEWEST)) == {"4.3-6": FAIL}


def test_after_each_of_several_rolls_the_newest_secret_has_to_sign() -> None:
    check = both_secrets_sign_until_the_old_one_expires
    assert verdicts(check, two_rolls(DURING, OLD, NEW, NEWEST)) == {"4.3-3": PASS}
    assert verdicts(check, two_rolls(DURING, OLD, NEW)) == {"4.3-3": FAIL}
    assert verdicts(check, two_rolls(AFTER, OLD)) == {"4.3-3": FAIL}


def test_when_all_of_several_secrets_have_expired_the_newest_still_has_to_sign() -> None:
    check, long_after = only_the_new_secret_signs_when_the_old_one_has_expired, 200.0
    assert verdicts(check, two_rolls(long_after, NEWEST)) == {"4.3-4": PASS, "4.3-5": PASS}
    assert verdicts(check, two_rolls(long_after, OLD)) == {"4.3-4": FAIL, "4.3-5": FAIL}
    by_time = each_of_two_replaced_secrets_has_its_own_time
    assert verdicts(by_time, two_rolls(long_after, OLD)) == {}
    missing = two_rolls(long_after, OLD)
    assert verdicts(both_secrets_sign_until_the_old_one_expires, missing) == {}


def between_rolls(*signers: str, arrived_at: float = NOW + 1.1) -> RollsUnderTraffic:
    """An event that was sent a second after the first roll; the second one comes 8 s later."""
    first = Roll(role="first roll", old_secret=OLD, new_secret=NEW, expiration=100)
    second = Roll(role="second roll", old_secret=NEW, new_secret=NEWEST, expiration=10)
    where = replace(ADVANCED, rolls=(first, second))
    calls = [answered(first), answered(second, at=NOW + 9), broadcast(event(), sent_at=NOW + 1)]
    arrived = sent(event(), where, at=arrived_at, signers=signers)
    return observed(RollsUnderTraffic, where, arrived, exchanges=calls)


def test_between_two_rolls_the_secret_of_the_first_is_the_newest() -> None:
    check = both_secrets_sign_until_the_old_one_expires
    assert verdicts(check, between_rolls(OLD, NEW)) == {"4.3-3": PASS}
    assert verdicts(check, between_rolls(OLD)) == {"4.3-3": FAIL}
    # It may have been signed after the second roll, which decides between the secrets then.
    assert verdicts(check, between_rolls(OLD, arrived_at=NOW + 9.5)) == {}
    assert verdicts(each_of_two_replaced_secrets_has_its_own_time, between_rolls(NEW)) == {}


def two_simple_rolls(after_s: float, signer: str) -> RollsUnderTraffic:
    rolls = two_rolls(after_s).destinations[0].rolls
    return rolled(replace(SIMPLE, rolls=rolls), after_s, signer)


def test_the_simple_format_is_signed_by_the_newest_of_several() -> None:
    check = the_simple_format_is_signed_by_the_secret_that_the_dialect_names
    assert verdicts(check, two_simple_rolls(DURING, NEWEST)) == {"4.3-7": PASS}
    assert verdicts(check, two_simple_rolls(AFTER, NEWEST)) == {"4.3-7": PASS}
    for signer in (OLD, NEW, "secret of another"):
        assert verdicts(check, two_simple_rolls(DURING, signer)) == {"4.3-7": FAIL}
    # Around an end nobody knows which secrets are valid.
    assert verdicts(check, two_simple_rolls(10.0, NEW)) == {}


def test_the_simple_format_is_signed_by_the_newest_under_the_reference_dialect() -> None:
    check = the_simple_format_is_signed_by_the_secret_that_the_dialect_names
    assert verdicts(check, rolled(SIMPLE, DURING, NEW)) == {"4.3-7": PASS}
    assert verdicts(check, rolled(SIMPLE, DURING, OLD)) == {"4.3-7": FAIL}
    assert verdicts(check, rolled(SIMPLE, DURING, "unknown")) == {"4.3-7": FAIL}


def shown(expires_in_s: float) -> dict[str, object]:
    stamp = f"2027-01-15T08:{int(expires_in_s) // 60:02}:{int(expires_in_s) % 60:02}.000000Z"
    return {
        "secrets": [{"uid": "1", "value": OLD, "expires_at": stamp}, {"uid": "2", "value": NEW}]
    }


def test_an_old_secret_that_keeps_its_expires_at_passes() -> None:
    check = an_old_secret_stops_signing_when_it_said
    assert verdicts(check, rolled(ADVANCED, DURING, OLD, NEW, **shown(10))) == {"4.3-16": PASS}
    assert verdicts(check, rolled(ADVANCED, AFTER, NEW, **shown(10))) == {"4.3-16": PASS}


def test_an_old_secret_that_does_not_keep_its_expires_at_fails() -> None:
    check = an_old_secret_stops_signing_when_it_said
    assert verdicts(check, rolled(ADVANCED, AFTER, NEW, **shown(60))) == {"4.3-16": FAIL}
    assert verdicts(check, rolled(ADVANCED, DURING + 5, OLD, NEW, **shown(1))) == {"4.3-16": FAIL}
    assert verdicts(check, rolled(SIMPLE, AFTER, OLD, **shown(10))) == {"4.3-16": FAIL}


def test_a_roll_that_shows_no_expires_at_is_not_judged_by_it() -> None:
    assert (
        verdicts(an_old_secret_stops_signing_when_it_said, rolled(ADVANCED, AFTER, OLD, NEW)) == {}
    )


def test_signatures_stand_in_the_dialects_order() -> None:
    check = two_living_secrets_sign_in_the_dialects_order
    assert verdicts(check, rolled(ADVANCED, DURING, OLD, NEW)) == {"6-10": PASS}
    assert verdicts(check, rolled(ADVANCED, DURING, NEW, OLD)) == {"6-10": FAIL}
    assert verdicts(check, rolled(ADVANCED, DURING, NEW)) == {"6-10": FAIL}
