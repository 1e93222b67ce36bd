"""How deliveries are signed is found from the deliveries, for every shipped dialect and others."""

import hashlib
import hmac
from dataclasses import replace
from pathlib import Path

import pytest

from hookproof.conformance.learning.learned_answers import Certainty, LearnedAnswers
from hookproof.conformance.learning.probes.representation import possible_forms
from hookproof.conformance.learning.signatures.reading import (
    PARTS,
    DeliveryWithSecrets,
    read_format,
)
from hookproof.conformance.learning.written_files import dialect_text
from hookproof.mockserver.delivery.attempt.signing import SignatureFormat
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect, load_dialect_mapping
from hookproof.spec.dialect.vocabulary import Algorithm, Encoding, SecretForm
from tests.conformance.learning_score import LEAST_TOLERANCE_S, Outcome, outcome
from tests.spec.dialect_variants import variant
from tests.spec.random_dialects import random_dialect
from tests.spec.signing_dialects import own_key_dialect, seed_secret, seeds_dialect

EVENT = "01M84D5DNYQEBPH1F1JGM7SRWP"
URL = "https://receiver.invalid/t"
AT = 1_800_000_000.25
BODY = b'{"marker":"learned-1","amount":12.5}'
SEEN = ("header", "timestamp_header", "hash", "encoding", "signed", "value", "secrets")
DIALECTS = ["reference", "contrary", "standard-webhooks", *range(8)]


def dialect_of(name: str | int) -> Dialect:
    if isinstance(name, str):
        return load_dialect(name)
    return load_dialect_mapping(random_dialect(name), "random")


def secret(dialect: Dialect, letter: str) -> str:
    in_hex = dialect.signatures.secret.form in (SecretForm.TEXT, SecretForm.HEX)
    text = (
        f"5ec2e7{ord(letter):x}{ord(letter):x}"
        if in_hex
        else f"c2VjcmV0LW9mLWFuLWVuZHBv{letter * 4}"
    )
    return dialect.signatures.secret.prefix + text


def delivery(dialect: Dialect, name: str, *secrets: str) -> DeliveryWithSecrets:
    scheme = getattr(dialect.signatures, name)
    signer = SignatureFormat(scheme, dialect.signatures.secret)
    headers = (
        ("Host", "receiver.invalid"),
        ("Content-Length", str(len(BODY))),
        *([(dialect.delivery.event_id_header, EVENT)] if dialect.delivery.event_id_header else []),
        *signer.headers(secrets, EVENT, AT, BODY, URL),
    )
    received = ReceivedDelivery(
        token="t",
        sequence=1,
        method="POST",
        path="/t",
        headers=headers,
        body=BODY,
        arrived_at=AT + 0.1,
        arrived_monotonic=1.0,
        completed_monotonic=1.1,
        peer_port=1,
        client_certificate=None,
        status=200,
    )
    return DeliveryWithSecrets(delivery=received, event_id=EVENT, url=URL, secrets=secrets)


@pytest.mark.parametrize("late_s", [0.0, 100.0, 3600.0])
def test_the_usual_tolerance_is_known_where_every_signed_time_is_near_its_arrival(
    late_s: float,
) -> None:
    dialect = load_dialect("reference")
    answers = LearnedAnswers("undecided", load_dialect("undecided"))
    signed = [delivery(dialect, "advanced", secret(dialect, letter)) for letter in "ab"]
    arrived_at = signed[1].delivery.arrived_at + late_s
    signed[1] = replace(signed[1], delivery=replace(signed[1].delivery, arrived_at=arrived_at))
    assert read_format(answers, "advanced", signed)
    learned = answers.answer("signatures.advanced.tolerance_s")
    is_near = late_s <= LEAST_TOLERANCE_S
    assert learned.certainty is (Certainty.SEEN if is_near else Certainty.ASSUMED)
    assert learned.values == (300.0,)


def test_a_date_that_is_not_signed_is_no_time_of_the_signature() -> None:
    signed = delivery(load_dialect("reference"), "simple", "a secret")
    dated = (*signed.delivery.headers, ("X-Created", "2027-01-15T08:00:00Z"))
    answers = LearnedAnswers("undecided", load_dialect("undecided"))
    one = replace(signed, delivery=replace(signed.delivery, headers=dated))
    assert read_format(answers, "simple", [one])
    learned = answers.answer("signatures.simple.timestamp_header")
    assert (learned.certainty, learned.values) == (Certainty.SEEN, (None,))


@pytest.mark.parametrize("name", ["simple", "advanced"])
@pytest.mark.parametrize("dialect_name", DIALECTS)
def test_a_format_is_learned_from_deliveries_before_and_after_rolls(
    dialect_name: str | int, name: str
) -> None:
    dialect = dialect_of(dialect_name)
    old, new, newest = (secret(dialect, letter) for letter in "aei")
    answers = LearnedAnswers("undecided", load_dialect("undecided"))
    answers.see("signatures.secret.prefix", dialect.signatures.secret.prefix, shown_by="a creation")
    # Several, since not every signature shows its alphabet.
    others = [(secret(dialect, letter),) for letter in "bcdfghou"]
    secrets = [(old,), (old, new), (old, new, newest), *others]
    signed = [delivery(dialect, name, *valid) for valid in secrets]
    assert read_format(answers, name, signed)
    group = f"signatures.{name}."
    learned = {
        field: outcome(answers.answer(field), value, dialect)
        for field in answers.fields
        if field.startswith(group)
        for value in [getattr(getattr(dialect.signatures, name), field.removeprefix(group))]
    }
    assert Outcome.WRONG not in learned.values(), learned
    for part in (*SEEN, "versions"):
        assert learned[group + part] is Outcome.RIGHT, part


def with_encoding(encoding: Encoding) -> Dialect:
    dialect = load_dialect("reference")
    simple = replace(dialect.signatures.simple, encoding=encoding)
    return replace(dialect, signatures=replace(dialect.signatures, simple=simple))


def showing_no_alphabet(dialect: Dialect) -> DeliveryWithSecrets:
    """A delivery whose signature is the same text in both alphabets of base64."""
    return next(
        signed
        for number in range(1000)
        for signed in [delivery(dialect, "simple", f"{secret(dialect, 'a')}{number}")]
        if (signed.delivery.header(dialect.signatures.simple.header) or "-").rstrip("=").isalnum()
    )


@pytest.mark.parametrize("encoding", Encoding)
def test_an_encoding_is_learned_from_several_signatures(encoding: Encoding) -> None:
    dialect = with_encoding(encoding)
    answers = LearnedAnswers("undecided", load_dialect("undecided"))
    telling = [delivery(dialect, "simple", secret(dialect, letter)) for letter in "abcdef"]
    signed = [showing_no_alphabet(dialect), *telling]
    assert read_format(answers, "simple", signed)
    learned = answers.answer("signatures.simple.encoding")
    assert (learned.certainty, learned.values) == (Certainty.SEEN, (encoding.value,))


def test_a_signature_that_shows_no_alphabet_teaches_no_encoding() -> None:
    dialect = with_encoding(Encoding.BASE64URL)
    answers = LearnedAnswers("undecided", load_dialect("undecided"))
    assert read_format(answers, "simple", [showing_no_alphabet(dialect)])
    learned = answers.answer("signatures.simple.encoding")
    assert (learned.certainty, learned.values) == (Certainty.ASSUMED, ("base64",))
    assert "alphabet" in learned.reason


@pytest.mark.parametrize(
    ("texts", "forms"),
    [
        (["fbff00", "00ff11"], ["text", "hex"]),
        (["+/8=", "AAA="], ["base64"]),
        (["-_8=", "AAA="], ["base64url"]),
        (["AAA=", "AAE="], ["base64", "base64url"]),
        (["-_8", "AAA"], ["base64url_unpadded"]),
        (["-_8A"], ["base64url", "base64url_unpadded"]),
        (["-_8A", "+_8A"], ["text"]),
        (["an odd secret"], ["text"]),
    ],
)
def test_the_forms_that_generated_secrets_can_have(texts: list[str], forms: list[str]) -> None:
    assert [form.value for form in possible_forms(texts)[0]] == forms


def test_two_secrets_that_sign_alike_teach_no_order() -> None:
    dialect = load_dialect("reference")
    old, signed = secret(dialect, "a"), delivery(dialect, "advanced", secret(dialect, "a"))
    answers = LearnedAnswers("undecided", load_dialect("undecided"))
    assert read_format(answers, "advanced", [replace(signed, secrets=(old, old))])
    assert not answers.is_seen("signatures.advanced.secrets")
    assert "the same signature" in answers.answer("signatures.advanced.secrets").reason


@pytest.mark.parametrize("number", ["\u00b2", "1" * 5000])
def test_numbers_that_are_no_times_are_passed_over(number: str) -> None:
    dialect = load_dialect("reference")
    signed = delivery(dialect, "simple", secret(dialect, "a"))
    odd = replace(signed.delivery, headers=(*signed.delivery.headers, ("X-Odd", number)))
    answers = LearnedAnswers("undecided", load_dialect("undecided"))
    assert read_format(answers, "simple", [replace(signed, delivery=odd)])
    assert answers.answer("signatures.simple.timestamp_header").values == (None,)


@pytest.mark.parametrize("algorithm", [Algorithm.ED25519, Algorithm.ECDSA, Algorithm.RSA])
@pytest.mark.parametrize("name", ["simple", "advanced"])
def test_a_key_of_the_service_is_known_only_if_it_is_given(name: str, algorithm: Algorithm) -> None:
    dialect, group = own_key_dialect(algorithm), f"signatures.{name}."
    signed = [delivery(dialect, name, *valid) for valid in (("old",), ("old", "new"))]
    given = LearnedAnswers("given", dialect)
    assert read_format(given, name, signed)
    learned = {part: given.answer(group + part) for part in PARTS}
    scheme = getattr(dialect.signatures, name)
    for part in ("algorithm", "public_key", "header", "signed", "value"):
        assert given.is_seen(group + part), part
        assert learned[part].values == (getattr(scheme, part),)
    assert not given.is_seen(group + "secrets")
    assert not given.is_seen("signatures.secret.form")
    nothing_given = LearnedAnswers("undecided", load_dialect("undecided"))
    assert not read_format(nothing_given, name, signed)
    assert group + "algorithm" in nothing_given.assumed


def test_a_hash_of_the_secret_and_the_message_is_learned() -> None:
    dialect = variant({"signatures.simple.algorithm": "plain_hash"})
    answers = LearnedAnswers("undecided", load_dialect("undecided"))
    assert read_format(answers, "simple", [delivery(dialect, "simple", secret(dialect, "a"))])
    assert answers.is_seen("signatures.simple.algorithm")
    assert answers.value("signatures.simple.algorithm") == "plain_hash"


def test_secrets_that_are_private_keys_are_learned() -> None:
    dialect, answers = seeds_dialect(), LearnedAnswers("undecided", load_dialect("undecided"))
    old, new = seed_secret("a"), seed_secret("b")
    signed = [delivery(dialect, "advanced", *valid) for valid in ((old,), (old, new))]
    assert read_format(answers, "advanced", signed)
    scheme = dialect.signatures.advanced
    for part in ("algorithm", "public_key", "hash", "header", "signed", "value", "secrets"):
        assert answers.is_seen(f"signatures.advanced.{part}"), part
        assert answers.value(f"signatures.advanced.{part}") == getattr(scheme, part)
    assert answers.value("signatures.secret.prefix") == "whsk_"
    assert answers.value("signatures.secret.form") == "base64"


def test_64_bytes_that_nothing_explains_may_be_a_signature_of_ed25519() -> None:
    dialect = own_key_dialect(Algorithm.ED25519)
    signed = []
    for number in range(3):
        each = delivery(dialect, "simple", "any")
        scheme = SignatureFormat(dialect.signatures.simple, dialect.signatures.secret)
        body = BODY + b" " * number
        headers = scheme.headers(["any"], EVENT, AT, body)
        signed.append(replace(each, delivery=replace(each.delivery, headers=headers, body=body)))
    answers = LearnedAnswers("undecided", load_dialect("undecided"))
    assert not read_format(answers, "simple", signed)
    header = answers.answer("signatures.simple.header")
    assert "found, not explained" in header.shown_by
    assert "give it in a dialect with --extends" in header.shown_by


def unexplained(header: str, *further: str) -> LearnedAnswers:
    """What is learned of deliveries that are signed with a secret that is not known, in a header of
    this name; `further` headers hold other texts of this form.
    """
    dialect = load_dialect("reference")
    deliveries = []
    for number in range(3):
        signed = delivery(dialect, "simple", secret(dialect, "a"))
        body = BODY + b" " * number
        value = hmac.digest(b"another key", body, "sha256").hex()
        event_id = hashlib.sha256(body).hexdigest()
        headers = (
            ("X-Event", event_id),
            (header, value),
            *((name, value[::-1]) for name in further),
        )
        received = replace(signed.delivery, headers=headers, body=body)
        deliveries.append(replace(signed, delivery=received, event_id=event_id))
    answers = LearnedAnswers("undecided", load_dialect("undecided"))
    assert not read_format(answers, "simple", deliveries)
    return answers


def test_a_signature_that_nothing_explains_is_named() -> None:
    answers = unexplained("Acme-Signature", "Acme-Trace")
    header = answers.answer("signatures.simple.header")
    assert (header.certainty, header.values) == (Certainty.SEEN, ("Acme-Signature",))
    assert (
        "found, not explained: Acme-Signature (32 bytes, different on each of 3" in header.shown_by
    )
    assert "HMAC, or a hash after the secret, with sha1, sha256, sha512" in header.shown_by
    assert "signatures.simple.header" not in answers.assumed
    assert {"signatures.simple.hash", "signatures.simple.signed"} <= {*answers.assumed}
    text = dialect_text(answers, Path())
    assert "    header: Acme-Signature  # seen 3 times: found, not explained" in text


@pytest.mark.parametrize("names", [["Acme-Proof"], ["X-Signature", "X-Signed-By"]])
def test_a_header_that_may_be_another_is_acted_on_and_accuses_nobody(names: list[str]) -> None:
    answers = unexplained(*names)
    header = answers.answer("signatures.simple.header")
    assert (header.certainty, header.values) == (Certainty.ASSUMED, (names[0],))
    assert all(name in header.reason for name in names)
    assert "signatures.simple.header" in answers.assumed


def test_a_delivery_without_a_signature_teaches_no_header() -> None:
    dialect = load_dialect("reference")
    signed = delivery(dialect, "simple", secret(dialect, "a"))
    foreign = replace(signed, secrets=(secret(dialect, "f"),))
    answers = LearnedAnswers("undecided", load_dialect("undecided"))
    assert not read_format(answers, "simple", [foreign])
    assert not answers.is_seen("signatures.simple.header")
    assert "hookproof check" in answers.answer("signatures.simple.header").reason


def test_secrets_without_prefix_do_not_show_whether_one_would_be_in_the_key() -> None:
    dialect = load_dialect("reference")
    answers = LearnedAnswers("undecided", load_dialect("undecided"))
    assert read_format(answers, "simple", [delivery(dialect, "simple", secret(dialect, "a"))])
    assert not answers.is_seen("signatures.secret.prefix_in_key")
