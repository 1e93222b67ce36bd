"""One delivery as the tables write it: how it differs from a right one."""

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from secrets import token_hex
from typing import Any, Final, Literal

import msgspec

from hookproof.receiver.sending.signing import (
    Headers,
    SignedDelivery,
    both_sign,
    has_time,
    new_secret,
    sign,
    signing_key,
    signs_body,
    signs_time,
    time_text,
)
from hookproof.receiver.signatures.judgement import Contract
from hookproof.receiver.signatures.schemes.model import ProviderScheme
from hookproof.receiver.signatures.schemes.request_parts import (
    FORM,
    MEMBER,
    RequestLine,
    prepared_request,
    with_members,
)
from hookproof.receiver.signatures.signed_message import read_signatures
from hookproof.spec.dialect.signature_scheme import SignatureScheme
from hookproof.spec.dialect.vocabulary import Algorithm

DAY_S: Final = 86400.0
# In seconds: how long a delivery that comes late may be under way, at most.
LATE_S: Final = 60.0
# In seconds: by how much an event is older that is delivered after another one.
EARLIER_S: Final = 3.0
PADDING: Final = "hookproof_padding"


class NotApplicable(Exception):
    """A scheme, or an event, has no such delivery; the message says why."""


class NotGiven(NotApplicable):
    """The user could give what this delivery needs, and did not."""


class Attempt(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a delivery differs from a right one, which has nothing of all this.

    Deliveries with the same `event` are of the same event. `just_before` is a second ago, or now if
    the scheme sends no time; any other `age` needs one. `signed_by` are secrets in the order of
    their signatures: the right ones, another one, one that has expired, or an empty one; without
    any there is no signature. `change` is made after it was signed.
    """

    event: int = 1
    age: Literal["now", "just_before", "earlier", "late", "old", "ahead"] = "now"
    signed_by: tuple[Literal["right", "other", "expired", "empty"], ...] = ("right",)
    change: Literal["body", "time", "signature", "half", "blank", "garbage"] | None = None
    body: Literal[
        "given", "indented", "reordered", "beyond_ascii", "large", "cut", "empty", "binary"
    ] = "given"
    gzip: bool = False
    lower_case: bool = False
    sent: Literal["whole", "chunked", "slow", "aborted"] = "whole"


def new_event_id() -> str:
    return f"evt_{token_hex(12)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What is delivered: its identifier, headers besides those of the signature, and the body.

    `beyond_ascii` is the body with a text that has characters beyond ASCII, if it has a place.
    """

    id: str
    headers: Headers
    body: bytes
    beyond_ascii: bytes | None = None

    @property
    def is_form(self) -> bool:
        return any(name.lower() == "content-type" and FORM in value for name, value in self.headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """Makes deliveries; `secrets` are those that the consumer has, `size` that of a large body.

    `line` is what is signed of the request, where the scheme signs that; `expired` is a secret that
    the consumer had once. `others` keeps the key of another secret: one of RSA takes a while.
    """

    contract: Contract
    secrets: Sequence[str]
    line: RequestLine
    size: int
    expired: str | None = None
    others: dict[str, bytes] = field(default_factory=dict)

    def check(self, event: Event) -> None:
        """Raise CannotSign if a right delivery of the event, or the expired secret, cannot sign."""
        self.prepared(Attempt(), event, 0.0)
        if self.expired is not None:
            self._keys("expired")

    def prepared(self, attempt: Attempt, event: Event, now: float) -> SignedDelivery:
        """The delivery; raises NotApplicable, and CannotSign if the event cannot be signed."""
        headers = event.headers
        large = attempt.body == "large"
        body = _padded(event, self.size) if large else SPELLINGS[attempt.body](event)
        if attempt.gzip:
            headers, body = (*headers, ("Content-Encoding", "gzip")), gzip.compress(body, mtime=0)
        keys = [key for word in attempt.signed_by for key in self._keys(word)]
        if len(keys) > 1 and not both_sign(self.contract):
            raise NotApplicable("only one secret signs here, also while it is rolled")
        at = now - self._age_s(attempt.age)
        delivery = sign(
            self.contract,
            keys or self._keys("right"),
            headers=headers,
            body=body,
            line=self.line,
            at=at,
            event_id=event.id,
        )
        change = attempt.change or (None if keys else "without")
        if change is not None:
            delivery = self._changed(change, delivery, at, now)
        if attempt.lower_case:
            lowered = tuple((name.lower(), value) for name, value in delivery.headers)
            delivery = replace(delivery, headers=lowered)
        return delivery

    def _keys(self, word: str) -> list[bytes]:
        """The keys of a word of `signed_by`."""
        if word == "right":
            return [signing_key(self.contract, secret) for secret in self.secrets]
        if word == "other":
            if not self.others:
                self.others[word] = signing_key(self.contract, new_secret(self.contract))
            return [self.others[word]]
        if word == "empty":
            if self.contract.signature.algorithm not in {Algorithm.HMAC, Algorithm.PLAIN_HASH}:
                raise NotApplicable("no empty secret signs here")
            return [b""]
        if self.expired is None:
            raise NotGiven("no secret that has expired was given: --expired-secret")
        return [signing_key(self.contract, self.expired)]

    def _age_s(self, age: str) -> float:
        if age == "now":
            return 0.0
        if not has_time(self.contract):
            if age == "just_before":
                return 0.0
            raise NotApplicable("the scheme sends no time")
        tolerance_s = self.contract.signature.tolerance_s
        return {
            "just_before": 1.0,
            "earlier": EARLIER_S,
            "late": min(tolerance_s / 2, LATE_S),
            "old": tolerance_s + DAY_S,
            "ahead": -tolerance_s - DAY_S,
        }[age]

    def _changed(
        self, change: str, delivery: SignedDelivery, at: float, now: float
    ) -> SignedDelivery:
        scheme = self.contract.signature
        if change == "body":
            if not signs_body(self.contract):
                raise NotApplicable("the scheme does not sign the whole body")
            return replace(delivery, body=tampered(delivery.body))
        if change == "time":
            if not signs_time(self.contract):
                raise NotApplicable("the scheme signs no time")
            before, after = (time_text(scheme, each) for each in (at, now))
            headers = ((name, value.replace(before, after)) for name, value in delivery.headers)
            body = delivery.body
            if (scheme.timestamp_header or "").startswith(MEMBER):
                body = body.replace(before.encode(), after.encode())
            return SignedDelivery(headers=tuple(headers), body=body)
        return self._with_header(delivery, partial(CHANGES[change], scheme))

    def _with_header(
        self, delivery: SignedDelivery, edit: Callable[[str], str | None]
    ) -> SignedDelivery:
        """The delivery with another value in the header of the signature, or without it."""
        scheme = self.contract.signature
        if not isinstance(scheme, ProviderScheme) or not scheme.header.startswith(MEMBER):
            edited = [
                (name, edit(value) if name == scheme.header else value)
                for name, value in delivery.headers
            ]
            headers = tuple((name, value) for name, value in edited if value is not None)
            return replace(delivery, headers=headers)
        read, _, _ = prepared_request(scheme, delivery.headers, delivery.body, self.line)
        text = edit(next(value for name, value in read if name == scheme.header)) or ""
        members = {scheme.header.removeprefix(MEMBER): text}
        return replace(delivery, body=with_members(scheme, delivery.body, members))


def _each_signature(edit: Callable[[str], str], scheme: SignatureScheme, value: str) -> str:
    for text in read_signatures(scheme, [(scheme.header, value)])[1]:
        value = value.replace(text, edit(text)) if text else value
    return value


def _other_letter(text: str) -> str:
    """A text with its middle letter changed, which is in the alphabets of hex and of base64."""
    middle = len(text) // 2
    return f"{text[:middle]}{'1' if text[middle] == '0' else '0'}{text[middle + 1 :]}"


# What becomes of the value of the header that has the signatures.
CHANGES: Final[Mapping[str, Callable[[SignatureScheme, str], str | None]]] = {
    "signature": partial(_each_signature, _other_letter),
    "half": partial(_each_signature, lambda text: text[: len(text) // 2]),
    "blank": lambda _scheme, _value: "",
    "garbage": lambda _scheme, _value: "no signature",
    "without": lambda _scheme, _value: None,
}


def tampered(body: bytes) -> bytes:
    """A body with one letter or digit changed, the last one with which JSON is JSON still.

    Raises NotApplicable.
    """
    before = _json(body)
    for at in reversed(range(len(body))):
        letter = body[at : at + 1]
        if letter.isalnum():
            other = (b"2" if letter == b"1" else b"1") if letter.isdigit() else letter.swapcase()
            changed = body[:at] + other + body[at + 1 :]
            if before is None or _json(changed) not in (None, before):
                return changed
    raise NotApplicable("the body has no letter that could be changed")


def _beyond_ascii(event: Event) -> bytes:
    if event.beyond_ascii is None:
        raise NotGiven("the body has no place for another text: HOOKPROOF_TEXT")
    return event.beyond_ascii


def _indented(event: Event) -> bytes:
    return json.dumps(_required_json(event), indent=4).replace("/", "\\/").encode() + b"\n"


def _reordered(event: Event) -> bytes:
    value = _reversed(_required_json(event))
    text = json.dumps(value, ensure_ascii=False, separators=(" , ", " : "))
    return text.encode(errors="surrogatepass")


def _required_json(event: Event) -> Any:
    value = _json(event.body)
    if value is None:
        raise NotApplicable("the body is not JSON")
    return value


def _padded(event: Event, size: int) -> bytes:
    """The body with as much as it lacks: a further field of a form, or white space at the end."""
    before = event.body + (f"&{PADDING}=".encode() if event.is_form else b"")
    missing = size - len(before)
    return before + (b"x" if event.is_form else b" ") * missing if missing > 0 else event.body


def _json(body: bytes) -> Any:
    """The value of a JSON body that can be written again; None for any other."""
    try:
        value = json.loads(body)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    return value


def _reversed(value: Any) -> Any:
    """The value with the members of all objects in the reverse order."""
    if isinstance(value, dict):
        return {name: _reversed(value[name]) for name in reversed(value)}
    return [_reversed(each) for each in value] if isinstance(value, list) else value


# How the body of an event is written, by the words of `Attempt.body`; a large one has a size.
SPELLINGS: Final[Mapping[str, Callable[[Event], bytes]]] = {
    "given": lambda event: event.body,
    "indented": _indented,
    "reordered": _reordered,
    "beyond_ascii": _beyond_ascii,
    "cut": lambda event: event.body[: len(event.body) // 2],
    "empty": lambda _event: b"",
    "binary": lambda _event: b"\x80\x81\xfe\xff",
}
