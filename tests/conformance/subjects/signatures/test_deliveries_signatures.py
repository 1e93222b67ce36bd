from collections.abc import Iterable
from dataclasses import replace

import pytest

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.subjects.arrival.evidence import SigningFormats
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import (
    SIGNATURE,
    advanced,
    broadcast,
    created,
    destination,
    event,
    observed,
    sent,
)
from tests.conformance.canned_evidence import NOW, context, judgements, verdict, verdicts

PASS, FAIL, NOT_APPLICABLE = Verdict.PASS, Verdict.FAIL, Verdict.NOT_APPLICABLE
SIMPLE = destination("simple", advanced_signatures=False)
ADVANCED = destination("advanced", advanced_signatures=True)
OTHER = destination("other")
PLAIN = destination("format not given")
GENERATED = replace(destination("generated"), settings={})
EVENT = event()
BODY = b'{"marker":"marker-event-"}'
FORMATS = "6-6 6-7 6-9"


def received(
    *deliveries: ReceivedDelivery, at: Destination | Iterable[Destination] = SIMPLE
) -> SigningFormats:
    return observed(SigningFormats, at, *deliveries)


@pytest.mark.parametrize(("signers", "expected"), [(None, PASS), (["x"], FAIL)])
def test_deliveries_are_signed_with_their_secret_in_both_formats(
    signers: list[str] | None, expected: Verdict
) -> None:
    deliveries = [sent(EVENT, where, signers=signers) for where in (SIMPLE, ADVANCED)]
    both = received(*deliveries, at=[SIMPLE, ADVANCED])
    assert verdicts(FORMATS, both) == {"6-6": expected, "6-7": expected}


def test_a_custom_header_of_the_signatures_name_shows_nothing_of_its_format() -> None:
    """It is ignored, refused or sent, as the dialect says (6-13)."""
    delivery = sent(EVENT, SIMPLE, signers=["x"])
    for name, expected in ((SIGNATURE.lower(), {}), ("X-Other", {"6-6": FAIL})):
        forged = broadcast(EVENT, custom_headers={name: "forged"})
        observation = observed(SigningFormats, SIMPLE, delivery, exchanges=[forged])
        assert verdicts(FORMATS, observation) == expected


@pytest.mark.parametrize(
    ("delivery", "cause"),
    [
        (
            replace(sent(EVENT, SIMPLE, body=BODY), body=BODY.replace(b":", b": ")),
            "the sender signed the compact form of the body, sent it with spaces",
        ),
        (
            sent(EVENT, SIMPLE, signers=[OTHER.secret or ""]),
            "the sender signed with the secret of endpoint 'other'",
        ),
    ],
    ids=["written anew", "by another"],
)
def test_a_finding_names_what_the_sender_did_instead(
    delivery: ReceivedDelivery, cause: str
) -> None:
    (judgement,) = judgements(FORMATS, received(delivery, at=[SIMPLE, OTHER]))
    assert (judgement.requirement, judgement.verdict) == ("6-6", FAIL)
    assert cause in judgement.actual


def test_an_unsigned_second_attempt_fails() -> None:
    signed, unsigned = (
        sent(EVENT, SIMPLE, attempt=2, headers=headers) for headers in ([], [(SIGNATURE, "")])
    )
    for again, expected in ((signed, PASS), (unsigned, FAIL)):
        attempts = received(sent(EVENT, SIMPLE), again)
        assert verdicts(FORMATS, attempts) == {"6-6": PASS, "6-9": expected}


def test_the_simple_format_is_the_default() -> None:
    wrong = [(SIGNATURE, advanced([PLAIN.secret or ""], BODY, NOW))]
    assert verdict("2.3-9", received(sent(EVENT, PLAIN), at=PLAIN)) is PASS
    assert verdict("2.3-9", received(sent(EVENT, PLAIN, body=BODY, headers=wrong), at=PLAIN)) is (
        FAIL
    )


def test_the_default_format_does_not_apply_where_the_dialect_requires_one() -> None:
    given = destination("format not given", advanced_signatures=False)
    assert verdict("2.3-9", received(sent(EVENT, given), at=given)) is NOT_APPLICABLE


def test_a_delivery_that_is_not_signed_by_the_secret_that_is_shown_fails() -> None:
    signed, otherwise = sent(EVENT, GENERATED), sent(EVENT, GENERATED, signers=["hidden"])
    assert verdict("2.4-3", received(signed, at=GENERATED)) is PASS
    assert verdict("2.4-3", received(otherwise, at=GENERATED)) is FAIL
    assert verdict("2.4-3", received(signed, at=replace(GENERATED, secret=None))) is NOT_APPLICABLE


def test_a_secret_that_signs_other_deliveries_of_its_endpoint_is_not_what_is_wrong() -> None:
    generated = replace(PLAIN, settings={})
    wrong = sent(EVENT, generated, signers=["hidden"], attempt=2)
    signed = received(sent(EVENT, generated), wrong, at=generated)
    assert verdicts("2.3-9 2.4-3", signed) == {"2.3-9": PASS, "2.4-3": PASS}
    assert FAIL in verdicts(FORMATS, signed).values()


def test_a_signature_by_the_secret_of_another_endpoint_fails() -> None:
    own, other = ADVANCED.secret or "", OTHER.secret or ""
    for signers, expected in (([own], PASS), ([other], FAIL), ([own, other], FAIL)):
        signed = received(sent(EVENT, ADVANCED, signers=signers), at=[ADVANCED, OTHER])
        assert verdict("6-8", signed) is expected


def test_two_signatures_of_an_endpoint_with_one_secret_fail() -> None:
    own = ADVANCED.secret or ""
    for signers, expected in (([own], PASS), ([own, "unknown"], FAIL)):
        signed = received(sent(EVENT, ADVANCED, signers=signers), at=ADVANCED)
        assert verdict("6-10", signed) is expected


def test_an_unsigned_second_attempt_says_nothing_of_how_many_signatures_there_are() -> None:
    unsigned = sent(EVENT, ADVANCED, attempt=2, headers=[(SIGNATURE, "")])
    attempts = received(sent(EVENT, ADVANCED), unsigned, at=ADVANCED)
    assert verdicts("6-9 6-10", attempts) == {"6-9": FAIL, "6-10": PASS}


@pytest.mark.parametrize(
    ("at", "signed_at", "expected"),
    [
        (NOW + 4, None, PASS),
        (NOW + 4, NOW, FAIL),  # the time of the first attempt
        (NOW, NOW - 250, PASS),
        (NOW, NOW - 350, FAIL),  # beyond the tolerance
    ],
)
def test_the_time_in_a_signature_is_that_of_its_attempt(
    at: float, signed_at: float | None, expected: Verdict
) -> None:
    first = [sent(EVENT, ADVANCED)] if at > NOW else []
    attempt = sent(EVENT, ADVANCED, at=at, signed_at=signed_at, attempt=1 + len(first))
    assert verdict("6-11", received(*first, attempt, at=ADVANCED)) is expected


def test_another_format_than_the_default_is_blamed_on_nothing_else() -> None:
    signature = (SIGNATURE, advanced(PLAIN.secrets, BODY.replace(b":", b": "), NOW))
    attempts = (sent(EVENT, PLAIN, attempt=number, headers=[signature]) for number in (1, 2))
    signed = received(*attempts, at=PLAIN)
    assert verdicts(FORMATS, signed) == {"6-6": FAIL}
    shown = replace(signed, exchanges=(created(PLAIN, advanced_signatures=True), broadcast(EVENT)))
    assert verdicts(FORMATS, shown) == {}
    assert verdict("6-8", signed) is None
    assert verdict("2.3-9", signed) is FAIL


def test_a_given_secret_that_is_ignored_is_judged_by_the_secret_shown() -> None:
    shown = (created(SIMPLE, secrets=[{"value": "another"}]), broadcast(EVENT))
    signed = received(sent(EVENT, SIMPLE, signers=["another"]))
    signed = replace(signed, exchanges=shown).examined(context().dialect)
    assert signed.signatures[0].secrets == (SIMPLE.secret,)
    assert verdicts(FORMATS, signed) == {"6-6": PASS}
    assert verdict("6-8", signed) is PASS


def test_a_secret_that_is_shown_beside_the_given_one_does_not_sign_for_it() -> None:
    secrets = [{"value": "another"}, {"value": SIMPLE.secret}]
    shown = (created(SIMPLE, secrets=secrets), broadcast(EVENT))
    signed = received(sent(EVENT, SIMPLE, signers=["another"]))
    signed = replace(signed, exchanges=shown).examined(context().dialect)
    assert verdicts(FORMATS, signed) == {"6-6": FAIL}
