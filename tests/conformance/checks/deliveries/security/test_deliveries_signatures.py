from dataclasses import replace

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.delivery.arrival.broadcasts import SigningFormats
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
EVENT = event()


def test_signed_deliveries_pass_in_both_formats() -> None:
    observation = observed(
        SigningFormats, [SIMPLE, ADVANCED], sent(EVENT, SIMPLE), sent(EVENT, ADVANCED)
    )
    actual = verdicts("6-6 6-7 6-9", observation)
    assert actual == {"6-6": PASS, "6-7": PASS}


def test_a_delivery_signed_with_another_secret_fails() -> None:
    observation = observed(
        SigningFormats,
        [SIMPLE, ADVANCED],
        sent(EVENT, SIMPLE, signers=["x"]),
        sent(EVENT, ADVANCED, signers=["x"]),
    )
    actual = verdicts("6-6 6-7 6-9", observation)
    assert actual == {"6-6": FAIL, "6-7": FAIL}


def test_a_custom_header_of_the_signatures_name_shows_nothing_of_its_format() -> None:
    """It is ignored, refused or sent, as the dialect says (6-13)."""
    delivery = sent(EVENT, SIMPLE, signers=["x"])
    for name, expected in ((SIGNATURE.lower(), {}), ("X-Other", {"6-6": FAIL})):
        forged = broadcast(EVENT, custom_headers={name: "forged"})
        observation = observed(SigningFormats, SIMPLE, delivery, exchanges=[forged])
        actual = verdicts("6-6 6-7 6-9", observation)
        assert actual == expected


def test_a_body_that_was_written_anew_after_signing_fails() -> None:
    spaced = replace(
        sent(EVENT, SIMPLE, body=b'{"marker":"marker-event-"}'), body=b'{"marker": "marker-event-"}'
    )
    assert verdicts("6-6 6-7 6-9", observed(SigningFormats, SIMPLE, spaced)) == {"6-6": FAIL}


def test_a_finding_names_what_the_sender_did_instead() -> None:
    spaced = replace(
        sent(EVENT, SIMPLE, body=b'{"marker":"marker-event-"}'), body=b'{"marker": "marker-event-"}'
    )
    signed_by_other = sent(EVENT, SIMPLE, signers=[OTHER.secret or ""])
    for delivery, cause in (
        (spaced, "the sender signed the compact form of the body, sent it with spaces"),
        (signed_by_other, "the sender signed with the secret of endpoint 'other'"),
    ):
        observation = observed(SigningFormats, [SIMPLE, OTHER], delivery)
        (judgement,) = judgements("6-6 6-7 6-9", observation, context("reference"))
        assert cause in judgement.actual


def test_an_unsigned_second_attempt_fails() -> None:
    again = sent(EVENT, SIMPLE, attempt=2, headers=[(SIGNATURE, "")])

    signed = observed(SigningFormats, SIMPLE, sent(EVENT, SIMPLE), sent(EVENT, SIMPLE, attempt=2))
    assert verdicts("6-6 6-7 6-9", signed) == {"6-6": PASS, "6-9": PASS}
    assert verdicts(
        "6-6 6-7 6-9", observed(SigningFormats, SIMPLE, sent(EVENT, SIMPLE), again)
    ) == {
        "6-6": PASS,
        "6-9": FAIL,
    }


def test_the_simple_format_is_the_default() -> None:
    plain = destination("format not given")

    body = b'{"marker":"marker-event-"}'
    wrong = sent(
        EVENT, plain, body=body, headers=[(SIGNATURE, advanced([plain.secret or ""], body, NOW))]
    )
    assert verdict("2.3-9", observed(SigningFormats, plain, sent(EVENT, plain))) is PASS
    assert verdict("2.3-9", observed(SigningFormats, plain, wrong)) is FAIL


def test_the_default_format_does_not_apply_where_the_dialect_requires_one() -> None:
    with_format = destination("format not given", advanced_signatures=False)

    assert (
        verdict("2.3-9", observed(SigningFormats, with_format, sent(EVENT, with_format)))
        is NOT_APPLICABLE
    )


def test_a_delivery_that_is_not_signed_by_the_secret_that_is_shown_fails() -> None:
    generated = replace(destination("generated"), settings={})

    assert verdict("2.4-3", observed(SigningFormats, generated, sent(EVENT, generated))) is PASS
    assert (
        verdict(
            "2.4-3", observed(SigningFormats, generated, sent(EVENT, generated, signers=["hidden"]))
        )
        is FAIL
    )
    assert (
        verdict(
            "2.4-3",
            observed(SigningFormats, replace(generated, secret=None), sent(EVENT, generated)),
        )
        is NOT_APPLICABLE
    )


def test_a_secret_that_signs_other_deliveries_of_its_endpoint_is_not_what_is_wrong() -> None:
    generated = replace(destination("format not given"), settings={})
    wrong = sent(EVENT, generated, signers=["hidden"], attempt=2)
    signed = observed(SigningFormats, generated, sent(EVENT, generated), wrong)
    assert verdicts("2.3-9 2.4-3", signed) == {"2.3-9": PASS, "2.4-3": PASS}
    assert FAIL in verdicts("6-6 6-7 6-9", signed).values()


def test_a_signature_by_the_secret_of_another_endpoint_fails() -> None:
    both = sent(EVENT, ADVANCED, signers=[ADVANCED.secret or "", OTHER.secret or ""])
    assert (
        verdict("6-8", observed(SigningFormats, [ADVANCED, OTHER], sent(EVENT, ADVANCED))) is PASS
    )
    assert (
        verdict(
            "6-8",
            observed(
                SigningFormats,
                [ADVANCED, OTHER],
                sent(EVENT, ADVANCED, signers=[OTHER.secret or ""]),
            ),
        )
        is FAIL
    )
    assert verdict("6-8", observed(SigningFormats, [ADVANCED, OTHER], both)) is FAIL


def test_two_signatures_of_an_endpoint_with_one_secret_fail() -> None:
    assert verdict("6-10", observed(SigningFormats, ADVANCED, sent(EVENT, ADVANCED))) is PASS
    twice = sent(EVENT, ADVANCED, signers=[ADVANCED.secret or "", "unknown"])
    assert verdict("6-10", observed(SigningFormats, ADVANCED, twice)) is FAIL


def test_the_time_of_the_attempt_passes() -> None:
    later = sent(EVENT, ADVANCED, at=NOW + 4, attempt=2)
    actual = verdicts("6-11", observed(SigningFormats, ADVANCED, sent(EVENT, ADVANCED), later))
    assert actual == {"6-11": PASS}


def test_the_time_of_the_first_attempt_on_the_second_fails() -> None:
    stale = sent(EVENT, ADVANCED, at=NOW + 4, signed_at=NOW, attempt=2)
    actual = verdicts("6-11", observed(SigningFormats, ADVANCED, sent(EVENT, ADVANCED), stale))
    assert actual == {"6-11": FAIL}


def test_a_clock_that_is_off_within_the_tolerance_passes_and_beyond_fails() -> None:
    off, far_off = (
        observed(SigningFormats, ADVANCED, sent(EVENT, ADVANCED, signed_at=NOW - age))
        for age in (250, 350)
    )
    assert verdict("6-11", off) is PASS
    assert verdict("6-11", far_off) is FAIL


def test_another_format_than_the_default_is_blamed_on_nothing_else() -> None:
    where = destination("format not given")
    attempts = [
        sent(
            EVENT,
            where,
            attempt=number,
            headers=[
                (SIGNATURE, advanced(where.secrets, b'{"marker": "marker-event-"}', NOW)),
            ],
        )
        for number in (1, 2)
    ]
    signed = observed(SigningFormats, where, *attempts)
    assert verdicts("6-6 6-7 6-9", signed) == {"6-6": FAIL}
    shown = replace(signed, exchanges=(created(where, advanced_signatures=True), broadcast(EVENT)))
    assert verdicts("6-6 6-7 6-9", shown) == {}
    assert verdict("6-8", signed) is None
    assert verdict("2.3-9", signed) is FAIL


def test_a_given_secret_that_is_ignored_is_judged_by_the_secret_shown() -> None:
    shown = (created(SIMPLE, secrets=[{"value": "another"}]), broadcast(EVENT))
    signed = observed(SigningFormats, SIMPLE, sent(EVENT, SIMPLE, signers=["another"]))
    signed = replace(signed, exchanges=shown).examined(context().dialect)
    assert signed.signatures[0].secrets == (SIMPLE.secret,)
    assert verdicts("6-6 6-7 6-9", signed) == {"6-6": PASS}
    assert verdict("6-8", signed) is PASS


def test_a_secret_that_is_shown_beside_the_given_one_does_not_sign_for_it() -> None:
    secrets = [{"value": "another"}, {"value": SIMPLE.secret}]
    shown = (created(SIMPLE, secrets=secrets), broadcast(EVENT))
    signed = observed(SigningFormats, SIMPLE, sent(EVENT, SIMPLE, signers=["another"]))
    signed = replace(signed, exchanges=shown).examined(context().dialect)
    assert verdicts("6-6 6-7 6-9", signed) == {"6-6": FAIL}
