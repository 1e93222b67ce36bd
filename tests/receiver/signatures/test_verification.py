"""What the verifier accepts, and its reason for everything else."""

import base64
import hmac
from dataclasses import replace

import pytest

from hookproof.receiver.signatures.bytes_as_text import to_text
from hookproof.receiver.signatures.verification import Reason, Unverified, Verified, secret_key
from hookproof.spec.dialect.vocabulary import SecretForm, SignatureTime
from tests.receiver.signatures.signature_vectors import SignedVector, find_vector, vectors

REFERENCE = "reference, advanced: a small object"
SIMPLE = "reference, simple: a small object"
CONTRARY = "contrary, advanced: a small object"
STANDARD = "standard-webhooks, advanced: a small object"

every_vector = pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector.name)
one_of_each_dialect = pytest.mark.parametrize("name", [REFERENCE, SIMPLE, CONTRARY, STANDARD])


def reason(outcome: Verified | Unverified) -> Reason:
    assert isinstance(outcome, Unverified), outcome
    return outcome.reason


@every_vector
def test_a_changed_body_is_refused(vector: SignedVector) -> None:
    for body in (
        vector.body + b"\n",
        vector.body[:-1] if vector.body else b" ",
        b"\x00" + vector.body,
    ):
        assert reason(replace(vector, body=body).outcome()) is Reason.NO_SIGNATURE_MATCHES


@every_vector
def test_another_secret_is_refused(vector: SignedVector) -> None:
    rules = vector.dialect.signatures.secret
    other = rules.prefix + to_text(rules.form, b"another endpoint's secret")
    assert reason(replace(vector, secrets=(other,)).outcome()) is Reason.NO_SIGNATURE_MATCHES


@every_vector
def test_a_truncated_signature_is_refused(vector: SignedVector) -> None:
    for removed in (1, 2, 4, len(vector.signatures()[0]) // 2, len(vector.signatures()[0]) - 2):
        value = vector.value
        for signature in vector.signatures():
            value = value.replace(signature, signature[:-removed])
        assert value != vector.value
        assert reason(vector.with_value(value).outcome()) is Reason.NO_SIGNATURE_MATCHES


@every_vector
def test_a_lengthened_signature_is_refused(vector: SignedVector) -> None:
    value = vector.value
    for signature in vector.signatures():
        value = value.replace(signature, signature + signature[:4])
    assert reason(vector.with_value(value).outcome()) is Reason.NO_SIGNATURE_MATCHES


@pytest.mark.parametrize(
    "vector",
    [v for v in vectors() if "{timestamp}" in v.scheme.signed],
    ids=lambda vector: vector.name,
)
def test_a_moved_timestamp_is_refused_wherever_the_time_is_part_of_what_is_signed(
    vector: SignedVector,
) -> None:
    text = str(int(vector.timestamp * round(1 / vector.scheme.timestamp_unit.in_seconds)))
    moved = str(int(text) + 1)
    headers = tuple((name, value.replace(text, moved)) for name, value in vector.headers)
    assert headers != vector.headers
    assert reason(replace(vector, headers=headers).outcome()) is Reason.NO_SIGNATURE_MATCHES


@pytest.mark.parametrize("name", [CONTRARY, STANDARD])
def test_another_identifier_is_refused_where_it_is_part_of_what_is_signed(name: str) -> None:
    vector = find_vector(name)
    changed = vector.with_header(vector.dialect.delivery.event_id_header, "another")
    assert reason(changed.outcome()) is Reason.NO_SIGNATURE_MATCHES


@pytest.mark.parametrize(
    ("name", "other"),
    [(REFERENCE, "v1={0},{1}"), (CONTRARY, "v1:{0} {1}"), (STANDARD, "v1,{0} {1}")],
)
def test_a_valid_signature_that_is_the_last_of_several_is_accepted(name: str, other: str) -> None:
    vector = find_vector(name)
    (signature,) = vector.signatures()
    wrong = (
        signature[::-1]
        if "=" not in signature
        else "A" * signature.index("=") + signature[signature.index("=") :]
    )
    at = vector.value.index("v1")
    own = vector.value[at:].replace("v1", "v2") if name == CONTRARY else vector.value[at:]
    outcome = vector.with_value(vector.value[:at] + other.format(wrong, own)).outcome()
    assert isinstance(outcome, Verified), outcome
    assert outcome.secrets == (0,)
    assert outcome.in_order == (None, 0)
    assert outcome.signatures == 2


def test_spaces_after_the_separating_comma_are_tolerated() -> None:
    vector = find_vector("reference, advanced: 2 living secrets")
    outcome = vector.with_value(vector.value.replace(",", ", ")).outcome()
    assert outcome == vector.outcome()
    assert isinstance(outcome, Verified)


def test_an_upper_case_hex_signature_is_accepted() -> None:
    vector = find_vector(SIMPLE)
    assert isinstance(vector.with_value(vector.value.upper()).outcome(), Verified)


def test_header_names_are_compared_in_any_case() -> None:
    for name in (REFERENCE, CONTRARY, STANDARD):
        vector = find_vector(name)
        headers = tuple((key.swapcase(), value) for key, value in vector.headers)
        assert isinstance(replace(vector, headers=headers).outcome(), Verified)


def test_the_places_of_all_secrets_that_signed_are_reported() -> None:
    vector = find_vector("reference, advanced: 2 living secrets")
    outcome = replace(vector, secrets=("never used", *vector.secrets, vector.secrets[0])).outcome()
    assert outcome == Verified(secrets=(1, 2, 3), in_order=(1, 2), timestamp=vector.timestamp)


def test_every_signature_is_compared_with_every_secret_whatever_its_version() -> None:
    vector = find_vector("contrary, advanced: 3 living secrets")
    for secrets in (vector.secrets, vector.secrets[::-1]):
        outcome = replace(vector, secrets=secrets).outcome()
        assert isinstance(outcome, Verified)
        assert outcome.secrets == (0, 1, 2)


def test_a_valid_signature_out_of_its_place_belongs_to_no_secret() -> None:
    vector = find_vector("contrary, advanced: 2 living secrets")
    head, *swapped = vector.value.split(" ")
    assert len(swapped) == 2
    both_first = vector.with_value(
        " ".join([head, *(item.replace("v2:", "v1:") for item in swapped)])
    ).outcome()
    assert both_first == Verified(secrets=(1,), in_order=(1, None), timestamp=vector.timestamp)


def test_a_signature_of_a_future_version_is_ignored() -> None:
    vector = find_vector(STANDARD)
    for value in (
        f"v1a,c29tZXRoaW5nIGVsc2U= {vector.value}",
        f"{vector.value} v2,c29tZXRoaW5nIGVsc2U=",
    ):
        outcome = vector.with_value(value).outcome()
        assert isinstance(outcome, Verified), outcome
        assert outcome.signatures == 1


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (REFERENCE, "v1=", "v0="),
        (CONTRARY, "v1:", "v2:"),
        (CONTRARY, "v1:", "v3:"),
        (STANDARD, "v1,", "v2,"),
    ],
)
def test_a_signature_under_another_version_than_that_of_its_place_does_not_count(
    name: str, old: str, new: str
) -> None:
    vector = find_vector(name)
    assert old in vector.value
    assert (
        reason(vector.with_value(vector.value.replace(old, new)).outcome()) is Reason.WRONG_VERSION
    )


@one_of_each_dialect
def test_a_missing_signature_header_is_named(name: str) -> None:
    vector = find_vector(name)
    headers = tuple(header for header in vector.headers if header[0] != vector.scheme.header)
    outcome = replace(vector, headers=headers).outcome()
    assert reason(outcome) is Reason.MISSING_HEADER
    assert isinstance(outcome, Unverified)
    assert vector.scheme.header in outcome.detail


@one_of_each_dialect
def test_several_signature_headers_are_refused(name: str) -> None:
    vector = find_vector(name)
    again = (vector.scheme.header.lower(), vector.value)
    assert (
        reason(replace(vector, headers=(*vector.headers, again)).outcome())
        is Reason.SEVERAL_HEADERS
    )


def test_a_missing_identifier_is_named_where_it_is_part_of_what_is_signed() -> None:
    vector = find_vector(STANDARD)
    headers = tuple(header for header in vector.headers if header[0] != "webhook-id")
    assert reason(replace(vector, headers=headers).outcome()) is Reason.MISSING_HEADER


@pytest.mark.parametrize("name", [CONTRARY, STANDARD])
def test_a_missing_timestamp_header_is_named(name: str) -> None:
    vector = find_vector(name)
    headers = tuple(
        header for header in vector.headers if header[0] != vector.scheme.timestamp_header
    )
    assert reason(replace(vector, headers=headers).outcome()) is Reason.NO_TIMESTAMP


def test_an_empty_timestamp_counts_as_missing() -> None:
    vector = find_vector(REFERENCE)
    assert (
        reason(vector.with_value(vector.value.replace("t=1735689600", "t=")).outcome())
        is Reason.NO_TIMESTAMP
    )


@pytest.mark.parametrize(
    "timestamp",
    [
        "-1735689600",
        "1735689600.0",
        "1735689600 ",
        "0x6774",
        "1_735_689_600",
        "\u0661",
        "soon",
        "9" * 30,
    ],
)
def test_a_timestamp_that_is_not_a_whole_number_is_malformed(timestamp: str) -> None:
    vector = find_vector(STANDARD).with_header("webhook-timestamp", timestamp)
    assert reason(vector.outcome()) is Reason.MALFORMED


@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        ",",
        "v1",
        "v1=",
        "t=1735689600",
        "t=1735689600,",
        "t=1735689600,v1=",
        "t=1735689600,=00",
        "t=1735689600;v1=00",
        "t=1735689600,v1=00,",
        "t=1735689600,v1=0 0",
        "t=1735689600,v1=\u00e9\u00e9",
        "t=1735689600,v1=\x00",
    ],
)
def test_a_value_without_the_form_of_the_scheme_is_malformed(value: str) -> None:
    assert reason(find_vector(REFERENCE).with_value(value).outcome()) is Reason.MALFORMED


def test_an_identifier_that_no_header_should_hold_is_malformed() -> None:
    assert (
        reason(find_vector(STANDARD).with_header("webhook-id", "\u00e9v\u00e9nement").outcome())
        is Reason.MALFORMED
    )


@pytest.mark.parametrize("name", [REFERENCE, CONTRARY, STANDARD])
def test_a_timestamp_is_accepted_up_to_the_tolerance_and_not_beyond(name: str) -> None:
    vector = find_vector(name)
    tolerance = vector.scheme.tolerance_s
    for now in (vector.timestamp - tolerance, vector.timestamp + tolerance):
        assert isinstance(vector.outcome(now=now), Verified)
    assert reason(vector.outcome(now=vector.timestamp + tolerance + 1)) is Reason.TIMESTAMP_TOO_OLD
    assert (
        reason(vector.outcome(now=vector.timestamp - tolerance - 1))
        is Reason.TIMESTAMP_TOO_FAR_AHEAD
    )


def test_seconds_sent_for_milliseconds_are_too_old_and_the_reverse_is_too_far_ahead() -> None:
    contrary = find_vector(CONTRARY)
    assert (
        reason(contrary.with_header("Hook-Sent-At", "1735689600").outcome())
        is Reason.TIMESTAMP_TOO_OLD
    )
    standard = find_vector(STANDARD).with_header("webhook-timestamp", "1735689600000")
    assert reason(standard.outcome()) is Reason.TIMESTAMP_TOO_FAR_AHEAD


@pytest.mark.parametrize("now", [float("nan"), float("inf"), float("-inf")])
def test_a_clock_that_is_not_a_time_accepts_nothing(now: float) -> None:
    assert isinstance(find_vector(REFERENCE).outcome(now=now), Unverified)


@pytest.mark.parametrize("secrets", [(), ("",), ("\ud800",)])
def test_a_secret_of_text_that_is_not_text_cannot_be_used(secrets: tuple[str, ...]) -> None:
    assert (
        reason(replace(find_vector(REFERENCE), secrets=secrets).outcome())
        is Reason.SECRET_NOT_USABLE
    )


@pytest.mark.parametrize(
    "secret", ["whsec_", "whsec_%%%", "whsec_AAAAA", "bm8gcHJlZml4", "WHSEC_bm8gcHJlZml4"]
)
def test_a_secret_without_the_prefix_and_form_of_the_dialect_cannot_be_used(secret: str) -> None:
    vector = find_vector(STANDARD)
    outcome = replace(vector, secrets=(*vector.secrets, secret)).outcome()
    assert reason(outcome) is Reason.SECRET_NOT_USABLE
    assert isinstance(outcome, Unverified)
    assert "secret 1" in outcome.detail
    assert secret not in outcome.detail.replace("begin with 'whsec_'", "")


def test_a_secret_in_base64_without_padding_is_the_same_key() -> None:
    vector = find_vector(STANDARD)
    assert vector.secrets[0].endswith("=")
    unpadded = tuple(secret.rstrip("=") for secret in vector.secrets)
    assert replace(vector, secrets=unpadded).outcome() == vector.outcome()


@pytest.mark.parametrize("form", ["base64_unpadded", "base64url", "base64url_unpadded"])
def test_a_secret_is_read_in_the_alphabet_of_its_form(form: str) -> None:
    rules = replace(find_vector(STANDARD).dialect.signatures.secret, form=SecretForm(form))
    own, other = ("-_8", "+/8") if "url" in form else ("+/8", "-_8")
    for text in (own, own + "="):
        assert secret_key(rules, rules.prefix + text) == b"\xfb\xff"
    with pytest.raises(ValueError, match=form):
        secret_key(rules, rules.prefix + other)


def test_a_secret_in_hex_is_read_in_either_case() -> None:
    rules = replace(find_vector(STANDARD).dialect.signatures.secret, form=SecretForm.HEX)
    assert secret_key(rules, f"{rules.prefix}00fF") == b"\x00\xff"
    for other in ("00f", "0g", "00 ff", " 00ff"):
        with pytest.raises(ValueError, match="hex"):
            secret_key(rules, rules.prefix + other)


def test_a_time_in_rfc_3339_is_read_as_the_dialect_says() -> None:
    vector = find_vector(STANDARD)
    scheme = replace(vector.scheme, timestamp_unit=SignatureTime.RFC3339)
    dated = replace(vector, scheme=scheme)
    assert reason(dated.outcome()) is Reason.MALFORMED  # 1735689600
    dated = signed_anew(dated.with_header("webhook-timestamp", "2025-01-01T01:00:00.25+01:00"))
    assert isinstance(dated.outcome(), Verified)
    later_s = scheme.tolerance_s + 1
    assert reason(dated.outcome(now=vector.timestamp + later_s)) is Reason.TIMESTAMP_TOO_OLD
    for other in ("2025-01-01T00:00:00", "2025-01-01", "1735689600"):
        undated = signed_anew(dated.with_header("webhook-timestamp", other))
        assert reason(undated.outcome()) is Reason.MALFORMED


def signed_anew(vector: SignedVector) -> SignedVector:
    """A vector of Standard Webhooks, with the signature of the specification."""
    parts = (vector.header("webhook-id"), vector.header("webhook-timestamp"))
    message = b"".join(part.encode() + b"." for part in parts) + vector.body
    key = base64.b64decode(vector.secrets[0].removeprefix("whsec_"))
    mac = hmac.digest(key, message, "sha256")
    return vector.with_value(f"v1,{base64.b64encode(mac).decode()}")


def test_a_signature_in_base64_that_is_not_canonical_is_refused() -> None:
    vector = find_vector(STANDARD)
    (signature,) = vector.signatures()
    assert signature.endswith("=")
    other_spelling = signature[:-2] + chr(ord(signature[-2]) + 1) + "="
    assert base64.b64decode(other_spelling) == base64.b64decode(signature)
    for value in (f"v1,{other_spelling}", f"v1,{signature.rstrip('=')}"):
        assert reason(vector.with_value(value).outcome()) is Reason.NO_SIGNATURE_MATCHES


def test_a_template_may_carry_the_identifier_and_the_time_twice() -> None:
    vector = find_vector(REFERENCE)
    scheme = replace(vector.scheme, value="{id}/{timestamp};{timestamp};{signatures}")
    (signature,) = vector.signatures()
    event = vector.header("X-Webhook-Event-Id")
    good = replace(vector, scheme=scheme).with_value(
        f"{event}/1735689600;1735689600;v1={signature}"
    )
    assert isinstance(good.outcome(), Verified)
    for bad in (
        f"{event}/1735689600;1735689601;v1={signature}",
        f"x/1735689600;1735689600;v1={signature}",
    ):
        assert reason(good.with_value(bad).outcome()) is Reason.MALFORMED


def test_a_scheme_that_signs_a_time_without_a_place_for_it_verifies_nothing() -> None:
    vector = find_vector(REFERENCE)
    scheme = replace(vector.scheme, value="{signatures}")
    (signature,) = vector.signatures()
    assert (
        reason(replace(vector, scheme=scheme).with_value(f"v1={signature}").outcome())
        is Reason.NO_TIMESTAMP
    )
