"""HTTP message signatures (RFC 9421), with the digest of the body in Content-Digest (RFC 9530).

A signature is read into what any scheme has: the text of the signature, its time, and the bytes
that were signed, its signature base. Structured fields are parsed by http-sf, and the components of
a request found by http-message-signatures; keys and algorithms are those of all schemes.

Imported only where a scheme needs it.
"""

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from http_message_signatures import (
    HTTPMessageSignaturesException,
    HTTPSignatureComponentResolver,
)
from http_sf.compat import Dictionary, InnerList, Item

from hookproof.receiver.signatures.schemes.model import MESSAGE_ALGORITHMS, ProviderScheme

Headers = Sequence[tuple[str, str]]

SIGNATURE: Final = "Signature"
INPUT: Final = "Signature-Input"
DIGEST: Final = "Content-Digest"
# A header that `read_signature` adds, for the time after which a signature is not valid.
EXPIRES: Final = f"{INPUT};expires"
DIGEST_COMPONENT: Final = "content-digest"
DIGESTS: Final = {"sha-256": "sha256", "sha-512": "sha512"}
# Further signatures of a request are not looked at.
MOST_SIGNATURES: Final = 8
# Settings that become parameters of a signature.
PARAMETERS: Final = ("keyid", "tag")


class NotReadable(ValueError):
    """A request has no signature of this kind, or not as the scheme wants it."""


class _Fields(list[tuple[str, str]]):
    """Headers as the library wants them, doubled ones too."""

    def items(self) -> Sequence[tuple[str, str]]:
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class _Message:
    """A request as the library wants it."""

    method: str
    url: str
    headers: _Fields


def each_signature(headers: Headers) -> list[Headers]:
    """The headers with each of their signatures alone; as they are if they cannot be read."""
    try:
        inputs, signatures = _dictionary(headers, INPUT), _dictionary(headers, SIGNATURE)
    except NotReadable:
        return [headers]
    labels = [label for label in inputs if label in signatures][:MOST_SIGNATURES]
    kept = _without_signatures(headers)
    return [
        [*kept, (INPUT, f"{label}={inputs[label]}"), (SIGNATURE, f"{label}={signatures[label]}")]
        for label in labels
    ] or [headers]


def algorithms_of(headers: Headers) -> set[object]:
    """The algorithms that the signatures say; None is of one that says none."""
    try:
        return {each.params.get("alg") for each in _dictionary(headers, INPUT).values()}
    except NotReadable:
        return {None}


def read_signature(
    scheme: ProviderScheme, headers: Headers, method: str, url: str
) -> tuple[Headers, bytes]:
    """The headers with the text of the first signature and its time in place of what they say,
    and the signature base; raises NotReadable.
    """
    inputs, signatures = _dictionary(headers, INPUT), _dictionary(headers, SIGNATURE)
    label = next((label for label in inputs if label in signatures), None)
    if label is None:
        raise NotReadable(f"no label is in both {INPUT} and {SIGNATURE}")
    covered, signature = inputs[label], signatures[label]
    text = signature.value if isinstance(signature, Item) else None
    if not isinstance(covered, InnerList) or not isinstance(text, bytes):
        raise NotReadable(f"{INPUT} or {SIGNATURE} has not the form of RFC 9421")
    _check_algorithm(scheme, covered)
    missing = [name for name in scheme.required if not _covers(covered, name)]
    if missing:
        raise NotReadable(f"the signature does not cover {', '.join(missing)}")
    base = signature_base(covered, headers, method, url)
    replaced = [
        (SIGNATURE, base64.b64encode(text).decode()),
        *_time(scheme, covered, "created", INPUT),
        *_time(scheme, covered, "expires", EXPIRES),
    ]
    return [*_without_signatures(headers), *replaced], base


def signature_base(covered: InnerList, headers: Headers, method: str, url: str) -> bytes:
    """What is signed (section 2.5); raises NotReadable for a component that is not there."""
    try:
        resolver = HTTPSignatureComponentResolver(  # type: ignore[no-untyped-call]
            _Message(method=method.upper(), url=url, headers=_Fields(headers))
        )
        lines = {str(each): str(resolver.resolve(each)) for each in covered}
    except (HTTPMessageSignaturesException, TypeError, ValueError, AttributeError) as problem:
        raise NotReadable(f"a component of the signature: {problem}") from None
    lines_of_signature = [*lines.items(), ('"@signature-params"', str(covered))]
    base = "\n".join(f"{name}: {value}" for name, value in lines_of_signature)
    if len(lines) != len(covered) or base.count("\n") != len(lines) or not base.isascii():
        raise NotReadable("a component of the signature occurs twice, or is not a line of ASCII")
    return base.encode()


def new_input(scheme: ProviderScheme, created: int) -> InnerList:
    """What a new signature covers, and its parameters."""
    covered = InnerList([_component(name) for name in scheme.covered])
    covered.params["created"] = created
    for name in PARAMETERS:
        if scheme.settings.get(name):
            covered.params[name] = scheme.settings[name]
    covered.params["alg"] = MESSAGE_ALGORITHMS[scheme.algorithm, scheme.hash]
    return covered


def with_digest(scheme: ProviderScheme, headers: Headers, body: bytes) -> Headers:
    """The headers, with a Content-Digest if it is covered and not there."""
    if any(name.lower() == DIGEST.lower() for name, _ in headers) or not any(
        _component(name).value == DIGEST_COMPONENT for name in scheme.covered
    ):
        return headers
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    return [*headers, (DIGEST, f"sha-256=:{digest}:")]


def covers_digest(base: bytes) -> bool:
    """Whether a Content-Digest is part of a signature base."""
    return any(line.startswith(f'"{DIGEST_COMPONENT}"'.encode()) for line in base.split(b"\n"))


def has_digest(headers: Headers, body: bytes) -> bool:
    """Whether the Content-Digest is that of the body, by all algorithms that are known here."""
    try:
        digests = _dictionary(headers, DIGEST)
    except NotReadable:
        return False
    known = {name: each for name, each in digests.items() if name in DIGESTS}
    return bool(known) and all(
        isinstance(value := getattr(each, "value", None), bytes)
        and hmac.compare_digest(value, hashlib.new(DIGESTS[name], body).digest())
        for name, each in known.items()
    )


def _without_signatures(headers: Headers) -> Headers:
    own = {each.lower() for each in (SIGNATURE, INPUT, EXPIRES)}
    return [each for each in headers if each[0].lower() not in own]


def _dictionary(headers: Headers, name: str) -> Mapping[str, Item | InnerList]:
    values = [value for each, value in headers if each.lower() == name.lower()]
    if not values:
        raise NotReadable(f"there is no {name} header")
    fields = Dictionary()
    try:
        fields.parse(", ".join(values).encode("latin-1"))
    except ValueError as problem:
        raise NotReadable(f"{name} cannot be read: {problem}") from None
    return fields


def _component(name: str) -> Item:
    """A component as a scheme writes it: a name, or with parameters `"@query-param";name="a"`."""
    if not name.startswith('"'):
        return Item(name)
    component = Item()
    component.parse(name.encode())
    return component


def _covers(covered: InnerList, name: str) -> bool:
    if name == DIGEST_COMPONENT:
        # A member counts if it is one that is compared with the body.
        return any(
            each.value == name and each.params.get("key", "sha-256") in DIGESTS for each in covered
        )
    return str(_component(name)) in {str(each) for each in covered}


def _check_algorithm(scheme: ProviderScheme, covered: InnerList) -> None:
    """Only the scheme says how to verify: what a sender says must not choose (section 7.3.6)."""
    expected = MESSAGE_ALGORITHMS[scheme.algorithm, scheme.hash]
    alg = covered.params.get("alg")
    if alg not in {None, expected}:
        raise NotReadable(f"the signature says the algorithm {alg!r}, and the scheme {expected!r}")


def _time(
    scheme: ProviderScheme, covered: InnerList, parameter: str, name: str
) -> Sequence[tuple[str, str]]:
    value = covered.params.get(parameter)
    if value is None:
        if parameter == "created" and scheme.timestamp_header is not None:
            raise NotReadable("the signature does not say when it was created")
        return ()
    if type(value) is not int:
        raise NotReadable(f"{parameter} of the signature is not a whole number")
    return ((name, str(value)),)
