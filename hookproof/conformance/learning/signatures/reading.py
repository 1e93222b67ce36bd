"""Learns the signature formats from deliveries to endpoints whose secrets are known."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.learning.signatures.layout import HeaderLayout, layout_of
from hookproof.conformance.learning.signatures.search import (
    DATE,
    TRIED,
    FoundSignature,
    OwnKey,
    find_own_signature,
    find_signature,
    secret_rules,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.signatures.schemes.model import CURVE_SIGNATURE
from hookproof.receiver.signatures.signature_headers import signature_headers
from hookproof.receiver.signatures.signed_message import read_date
from hookproof.spec.dialect.signature_scheme import Secrets
from hookproof.spec.dialect.signing_key import public_key
from hookproof.spec.dialect.vocabulary import (
    Algorithm,
    Hash,
    SecretForm,
    SignatureTime,
    SigningSecrets,
)

OTHER_THAN_TIME: Final = frozenset({"content-length"})
# How far the time of a delivery may be from that of its arrival.
LATE_S: Final = 120.0
UNEXPLAINED: Final = (
    "no way of signing that was tried explains a signature of the deliveries; `hookproof check`"
    " judges whether there is one"
)
FOUND: Final = "found, not explained"
MAY_BE_ED25519: Final = (
    "; 64 bytes may be a signature of ed25519, which only the service's public_key shows: give it"
    " in a dialect with --extends"
)
# What the secrets that signed mean, by their indices in the order of the header; the oldest is 0.
ORDERS: Final = {
    (0,): SigningSecrets.OLDEST,
    (1,): SigningSecrets.NEWEST,
    (0, 1): SigningSecrets.ALL_OLDEST_FIRST,
    (1, 0): SigningSecrets.ALL_NEWEST_FIRST,
}
NUMBER: Final = re.compile(r"[0-9]{1,18}")
TIMES: Final = re.compile(rf"{DATE}|[0-9]+")
FORMATS: Final = ("simple", "advanced")
PARTS: Final = (
    "header",
    "timestamp_header",
    "algorithm",
    "public_key",
    "private_key",
    "hash",
    "encoding",
    "signed",
    "value",
    "item",
    "separator",
    "versions",
    "timestamp_unit",
    "secrets",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryWithSecrets:
    """A delivery, its event, and the URL of its endpoint and the secrets that were valid, the
    oldest first.
    """

    delivery: ReceivedDelivery
    event_id: str
    url: str
    secrets: tuple[str, ...]


def read_format(
    answers: LearnedAnswers, name: str, deliveries: Sequence[DeliveryWithSecrets]
) -> bool:
    """Learn one format, `simple` or `advanced`, from deliveries before and after a roll; returns
    whether a signature was explained.
    """
    own = _own_key(answers, name)
    found = [(each, _signatures(answers, each, own)) for each in deliveries]
    explained = [(each, signatures) for each, signatures in found if signatures]
    if not explained:
        _name_unexplained(answers, name, deliveries)
        return False
    first, (signature, *_) = explained[0]
    place, count = _in_words(first.delivery), len(explained)

    def see(part: str, value: object) -> None:
        answers.see(f"signatures.{name}.{part}", value, shown_by=place, count=count)

    see("header", signature.text.header)
    see("algorithm", signature.algorithm.value)
    by_service = signature.rules is None
    for part in ("public_key", "private_key"):
        see(part, answers.inherited(f"signatures.{name}.{part}") if by_service else None)
    see("hash", signature.hash.value)
    _read_encoding(answers, name, explained, place)
    see("signed", signature.signed)
    if signature.rules is not None:
        _read_secret(answers, signature.rules, explained, place)
    _read_time(answers, name, first.delivery, signature, place)
    _read_tolerance(answers, name, explained)
    _read_layout(answers, name, explained, place)
    _read_order(answers, name, explained)
    return True


def _own_key(answers: LearnedAnswers, name: str) -> OwnKey | None:
    """The key of the service that the extended dialect has, if it has one."""
    text = answers.inherited(f"signatures.{name}.public_key")
    if text is None:
        return None
    algorithm = Algorithm(answers.inherited(f"signatures.{name}.algorithm"))
    given = Hash(answers.inherited(f"signatures.{name}.hash"))
    others = () if algorithm is Algorithm.ED25519 else Hash
    return OwnKey(
        algorithm=algorithm,
        key=public_key(algorithm, text),
        hashes=tuple(dict.fromkeys([given, *others])),
    )


def _read_secret(
    answers: LearnedAnswers,
    first: Secrets,
    explained: Sequence[tuple[DeliveryWithSecrets, list[FoundSignature]]],
    place: str,
) -> None:
    """How secrets become keys, if all that signed have the same prefix."""
    if any(each.rules is None or each.rules.prefix != first.prefix for _, (each, *_) in explained):
        return
    rules: dict[str, object] = {"prefix": first.prefix, "form": first.form.value}
    if first.prefix:
        rules["prefix_in_key"] = first.prefix_in_key
    else:
        answers.miss("signatures.secret.prefix_in_key", "secrets have no prefix")
    for part, value in rules.items():
        answers.see(f"signatures.secret.{part}", value, shown_by=place, count=len(explained))


def _name_unexplained(
    answers: LearnedAnswers, name: str, deliveries: Sequence[DeliveryWithSecrets]
) -> None:
    """Learn the header of signatures that nothing explains, if there is one; a usual name makes it
    certain, and others are assumed.
    """
    for part in PARTS:
        answers.miss(f"signatures.{name}.{part}", UNEXPLAINED)
    headers = signature_headers(
        ([pair for pair in each.delivery.headers if pair[1] != each.event_id], each.delivery.body)
        for each in deliveries
    )
    if not headers:
        return
    likeliest, field = headers[0], f"signatures.{name}.header"
    words = f"{FOUND}: {', '.join(map(str, headers))}; tried were {TRIED}"
    if any(each.size == CURVE_SIGNATURE for each in headers):
        words += MAY_BE_ED25519
    if [each for each in headers if each.has_usual_name] == [likeliest]:
        answers.see(field, likeliest.name, shown_by=words, count=likeliest.deliveries)
    else:
        answers.assume(field, likeliest.name, words)


def _read_encoding(
    answers: LearnedAnswers,
    name: str,
    explained: Sequence[tuple[DeliveryWithSecrets, list[FoundSignature]]],
    place: str,
) -> None:
    """The encoding in which every signature is written; few signatures may fit several."""
    texts = [each.text for _, signatures in explained for each in signatures]
    fitting = [
        encoding
        for encoding in texts[0].encodings
        if all(encoding in text.encodings for text in texts)
    ]
    field = f"signatures.{name}.encoding"
    if len(fitting) == 1:
        answers.see(field, fitting[0].value, shown_by=place, count=len(explained))
        return
    if fitting:
        known = {answers.value(f"signatures.{other}.encoding") for other in FORMATS}
        chosen = next((each for each in fitting if each.value in known), fitting[0])
        answers.assume(field, chosen.value, "no signature that came shows the alphabet")
    else:
        answers.miss(field, "the signatures are written in several encodings")


def _signatures(
    answers: LearnedAnswers, signed: DeliveryWithSecrets, own: OwnKey | None
) -> list[FoundSignature]:
    """That of the service's own key, or those of secrets, in the order of the header."""
    by_service = own and find_own_signature(signed.delivery, own, signed.event_id, signed.url)
    if by_service:
        return [by_service]
    prefix = answers.value("signatures.secret.prefix") or ""
    form = SecretForm(answers.value("signatures.secret.form"))
    size = answers.value("signatures.secret.generated_bytes")
    found = []
    for secret in signed.secrets:
        rules = list(secret_rules(prefix, form, size, secret))
        signature = find_signature(signed.delivery, secret, rules, signed.event_id, signed.url)
        if signature is not None:
            found.append(signature)
    return sorted(found, key=lambda each: each.text.start)


def _read_time(
    answers: LearnedAnswers,
    name: str,
    delivery: ReceivedDelivery,
    signature: FoundSignature,
    place: str,
) -> None:
    """The header that carries the time, and its unit; a time that is sent may not be signed."""
    alone = [
        (header, value)
        for header, value in delivery.headers
        if header != signature.text.header and header.lower() not in OTHER_THAN_TIME
        if _unit_of(value, delivery.arrived_at) is not None
        # A date that is not signed may be that of the event, which further attempts repeat.
        if value == signature.timestamp or (not signature.timestamp and NUMBER.fullmatch(value))
    ]
    header = alone[0][0] if alone else None
    answers.see(f"signatures.{name}.timestamp_header", header, shown_by=place)
    value = _header_value(delivery, signature)
    times = [signature.timestamp, *(value for _, value in alone)]
    times += [part for part in TIMES.findall(value) if _unit_of(part, delivery.arrived_at)]
    unit = next((_unit_of(time, delivery.arrived_at) for time in times if time), None)
    field = f"signatures.{name}.timestamp_unit"
    if unit is None:
        answers.miss(field, "no time is sent with the deliveries of this format")
    else:
        answers.see(field, unit.value, shown_by=place)


def _read_tolerance(
    answers: LearnedAnswers,
    name: str,
    explained: Sequence[tuple[DeliveryWithSecrets, list[FoundSignature]]],
) -> None:
    """The usual tolerance, if every time that was signed lies within it."""
    field = f"signatures.{name}.tolerance_s"
    offs = [
        abs(_seconds(first.timestamp, unit) - signed.delivery.arrived_at)
        for signed, (first, *_) in explained
        if first.timestamp and (unit := _unit_of(first.timestamp, signed.delivery.arrived_at))
    ]
    usual_s = answers.value(field)
    if len(offs) < len(explained) or max(offs) > usual_s:
        answers.miss(field, "no time is signed, or one that is far from its arrival")
        return
    words = f"no signed time was more than {max(offs):.1f} s from its arrival"
    answers.see(field, usual_s, shown_by=words, count=len(offs))


def _unit_of(text: str, arrived_at: float) -> SignatureTime | None:
    """How a text is written that is the time of the delivery; None if it is no such time."""
    return next(
        (unit for unit in SignatureTime if abs(_seconds(text, unit) - arrived_at) <= _late_s(unit)),
        None,
    )


def _seconds(text: str, unit: SignatureTime) -> float:
    """A time in Unix seconds; not a number if it is not written so."""
    if unit is SignatureTime.RFC3339:
        date = read_date(text)
        return math.nan if date is None else date
    return int(text) * unit.in_seconds if NUMBER.fullmatch(text) else math.nan


def _late_s(unit: SignatureTime) -> float:
    return max(LATE_S, 2 * unit.in_seconds)


def _read_layout(
    answers: LearnedAnswers,
    name: str,
    explained: Sequence[tuple[DeliveryWithSecrets, list[FoundSignature]]],
    place: str,
) -> None:
    """The templates of the header, from the delivery with the most signatures."""
    signed, signatures = max(explained, key=lambda pair: len(pair[1]))
    delivery = signed.delivery
    value = _header_value(delivery, signatures[0])
    sent = [part for part in TIMES.findall(value) if _unit_of(part, delivery.arrived_at)]
    layout: HeaderLayout = layout_of(
        value,
        [(each.text.start, each.text.end) for each in signatures],
        timestamp=signatures[0].timestamp or next(iter(sent), ""),
        event_id=signed.event_id,
    )

    def see(part: str, value: object) -> None:
        answers.see(f"signatures.{name}.{part}", value, shown_by=place)

    see("value", layout.value)
    see("item", layout.item)
    see("versions", list(layout.versions))
    if layout.separator is None:
        answers.miss(
            f"signatures.{name}.separator", "no delivery has two signatures of this format"
        )
    else:
        see("separator", layout.separator)


def _read_order(
    answers: LearnedAnswers,
    name: str,
    explained: Sequence[tuple[DeliveryWithSecrets, list[FoundSignature]]],
) -> None:
    """Which of two secrets signed, and in which order."""
    field = f"signatures.{name}.secrets"
    if any(each.rules is None for _, signatures in explained for each in signatures):
        answers.miss(field, "the service signs with a key of its own, and with no secret")
        return
    for signed, signatures in explained:
        if len(signed.secrets) < 2:  # noqa: PLR2004 a roll makes it two
            continue
        order = tuple(signed.secrets.index(each.secret) for each in signatures)
        meaning = ORDERS.get(order)
        if meaning is None:
            answers.miss(field, "the secrets before and after a roll make the same signature")
        else:
            answers.see(field, meaning.value, shown_by=_in_words(signed.delivery))
        return
    answers.miss(field, "no delivery came while two secrets were valid")


def _header_value(delivery: ReceivedDelivery, signature: FoundSignature) -> str:
    return delivery.header(signature.text.header) or ""


def _in_words(delivery: ReceivedDelivery) -> str:
    return f"delivery {delivery.sequence} at {delivery.token}"
