"""What may be read as a signature in a delivery's headers, whatever its encoding and position.

The verifier is strict; this accepts whatever might be meant, and reports how it deviates from what
is expected.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from hookproof.receiver.signatures.bytes_as_text import decode_base64, loose_base64
from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, Variant
from hookproof.receiver.signatures.signed_message import (
    Headers,
    SignedMessage,
    VerificationRefused,
    read_headers,
    read_signatures,
)
from hookproof.spec.dialect.signature_scheme import SignatureScheme
from hookproof.spec.dialect.vocabulary import BASE64_VARIANTS, Encoding

ENCODED_TEXT: Final = re.compile(r"[0-9A-Za-z+/_-]{6,1024}={0,2}")
HEX: Final = re.compile(r"[0-9A-Fa-f]+")
NUMBER: Final = re.compile(r"(?<![0-9A-Za-z])[0-9]{9,19}(?![0-9A-Za-z])")
# Fewer bytes than these could match a signature by chance.
LEAST_BYTES: Final = 4
# What was done to a header's value after it was sent, and how to undo it.
VALUE_MENDS: Final[Mapping[str, Callable[[str], str]]] = {
    "sent {header} without the brackets or quotation marks that are around its value here": (
        lambda value: value.strip("[]()\"' ")
    ),
    "sent {header} with + where its value has a space here, as URL decoding makes it": (
        lambda value: value.replace(" ", "+")
    ),
    "sent {header} without the percent escapes that its value has here": unquote,
}
MOST_TEXTS: Final = 64
ENCODING_NAMES: Final = {
    Encoding.HEX: "hex",
    Encoding.BASE64: "base64",
    Encoding.BASE64_UNPADDED: "base64 without padding",
    Encoding.BASE64URL: "base64url",
    Encoding.BASE64URL_UNPADDED: "base64url without padding",
}

Deviations = tuple[Deviation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderReadings:
    """What the headers may mean: signatures, and the texts of the time and the identifier.

    `strict` is what the verifier reads, or None if it refuses the headers.
    """

    signatures: tuple[Variant[bytes], ...]
    texts: tuple[str, ...]
    times: tuple[str, ...]
    identifier: str | None
    strict: SignedMessage | None


def read_loosely(
    scheme: SignatureScheme, headers: Headers, event_id_header: str | None
) -> HeaderReadings:
    """Read the headers of a delivery in every way that might be meant; never raises."""
    try:
        strict = read_headers(scheme, headers, event_id_header)
    except VerificationRefused:
        strict = None
    try:
        fields, signatures = read_signatures(scheme, headers)
    except VerificationRefused:
        fields, signatures = {}, ()
    texts = _texts(scheme, headers, [text for text in signatures if text])
    return HeaderReadings(
        signatures=tuple(_decode_all(scheme, texts)),
        texts=tuple(texts),
        times=_times(scheme, headers, fields.get("timestamp")),
        identifier=next(
            (value for name, value in headers if name.lower() == (event_id_header or "").lower()),
            None,
        ),
        strict=strict,
    )


def _texts(
    scheme: SignatureScheme, headers: Headers, strict: Sequence[str]
) -> dict[str, Deviations]:
    """The texts that may be signatures, with the deviations of their position.

    What the verifier reads comes first.
    """
    texts: dict[str, Deviations] = dict.fromkeys(strict, ())
    values = [value for name, value in headers if name.lower() == scheme.header.lower()]
    several = (
        (
            Deviation(
                aspect=Aspect.HEADER,
                words=f"sent {len(values)} {_equal(values)}{scheme.header} headers",
                remedy="doubled",
            ),
        )
        if len(values) > 1
        else ()
    )
    if len(values) == 1 and not strict:
        texts |= _mended(scheme, values[0])
    form = scheme.value.replace("{signatures}", scheme.item)
    deviation = Deviation(
        aspect=Aspect.LABEL,
        words=f"did not write the {scheme.header} header as {form!r}{_labels(scheme)}",
    )
    for value in values:
        for text in _encoded_texts(value):
            texts.setdefault(text, several or (deviation,))
    if not values:
        for name, value in headers:
            elsewhere = _header_deviation(
                f"sent the signature as {name[:60]}, it is expected as {scheme.header}"
            )
            for text in _encoded_texts(value):
                texts.setdefault(text, (elsewhere,))
    return dict(list(texts.items())[:MOST_TEXTS])


def _mended(scheme: SignatureScheme, value: str) -> dict[str, Deviations]:
    """The texts of a value that was changed after it was sent, if that explains its form."""
    for words, mend in VALUE_MENDS.items():
        mended = mend(value)
        if mended == value:
            continue
        try:
            _, signatures = read_signatures(scheme, [(scheme.header, mended)])
        except VerificationRefused:
            continue
        deviation = Deviation(
            aspect=Aspect.HEADER,
            words=words.format(header=scheme.header),
            remedy="changed header",
        )
        return {text: (deviation,) for text in signatures if text}
    return {}


def _equal(values: Sequence[str]) -> str:
    return "equal " if len({*values}) == 1 else ""


def _header_deviation(words: str) -> Deviation:
    return Deviation(aspect=Aspect.HEADER, words=words)


def _labels(scheme: SignatureScheme) -> str:
    return f" with the label {', '.join(scheme.versions)}" if scheme.versions else ""


def _encoded_texts(value: str) -> Iterator[str]:
    for text in dict.fromkeys((value, unquote(value), value.replace(" ", "+"))):
        for encoded_text in ENCODED_TEXT.findall(text):
            yield encoded_text
            yield encoded_text.removeprefix("0x")


def _times(scheme: SignatureScheme, headers: Headers, within: str | None) -> tuple[str, ...]:
    """The time in its place, in whatever form, or else whatever looks like one."""
    wanted = (scheme.timestamp_header or scheme.header).lower()
    in_place = [value for name, value in headers if name.lower() == wanted]
    if within is not None:
        return (within,)
    if scheme.timestamp_header is not None and len(in_place) == 1:
        return (in_place[0],)
    values = [value for name, value in headers if name.lower() in {wanted, scheme.header.lower()}]
    elsewhere = [value for _, value in headers if NUMBER.fullmatch(value)]
    numbers = [number for value in (*values, *elsewhere) for number in NUMBER.findall(value)]
    return tuple(dict.fromkeys(numbers))[:2]


def _decode_all(scheme: SignatureScheme, texts: dict[str, Deviations]) -> Iterator[Variant[bytes]]:
    """The bytes behind the texts, in the dialect's encoding and in others."""
    for text, position_deviations in texts.items():
        for value, words in _decode(scheme.encoding, text):
            if len(value) >= LEAST_BYTES:
                deviation = (Deviation(aspect=Aspect.ENCODING, words=words),) if words else ()
                yield Variant(value=value, deviations=(*position_deviations, *deviation))


def _decode(expected: Encoding, text: str) -> Iterator[tuple[bytes, str | None]]:
    """The bytes behind a text, the dialect's encoding first, and the deviation, if any."""
    wanted = f"where {ENCODING_NAMES[expected]} is expected"
    if HEX.fullmatch(text):
        value = bytes.fromhex(text[: len(text) // 2 * 2])
        yield value, None if expected is Encoding.HEX else f"wrote the signature in hex {wanted}"
    value = _loose_base64(text)
    yield value, _base64_deviation(expected, text, wanted)
    decoded_text = value.decode("ascii", "replace")
    if HEX.fullmatch(decoded_text):
        yield (
            bytes.fromhex(decoded_text[: len(decoded_text) // 2 * 2]),
            f"wrote the signature in base64 of its hex {wanted}",
        )


def _base64_deviation(expected: Encoding, text: str, wanted: str) -> str | None:
    variant = BASE64_VARIANTS.get(expected)
    is_url_safe, is_standard = bool({"-", "_"} & {*text}), bool({"+", "/"} & {*text})
    if is_url_safe and not (variant and variant.url_safe):
        return f"wrote the signature in base64url {wanted}"
    if variant is None or (is_standard and variant.url_safe):
        return f"wrote the signature in base64 {wanted}"
    try:
        decode_base64(expected, text)
    except ValueError:
        padding = "without its" if variant.padded else "with"
        return f"wrote the base64 of the signature {padding} padding, or with stray bits at its end"
    return None


def _loose_base64(text: str) -> bytes:
    """Decode either alphabet of base64, padded or not, as far as possible."""
    digits = text.rstrip("=")
    try:
        return loose_base64(digits[: len(digits) - (len(digits) % 4 == 1)])
    except ValueError:  # a header may hold any text
        return b""
