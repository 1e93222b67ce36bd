"""What may be read as a signature in the headers of a delivery, its encoding and its place aside.

The verifier reads strictly; this reads whatever might be meant, and says how it deviates from what
is expected.
"""

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, Variant
from hookproof.receiver.signatures.secret_key import canonical_base64
from hookproof.receiver.signatures.signed_message import Headers, Refused, SignedMessage, read
from hookproof.spec.dialect.model import SignatureScheme
from hookproof.spec.dialect.vocabulary import Encoding

RUN: Final = re.compile(r"[0-9A-Za-z+/_-]{6,1024}={0,2}")
HEX: Final = re.compile(r"[0-9A-Fa-f]+")
NUMBER: Final = re.compile(r"(?<![0-9A-Za-z])[0-9]{9,19}(?![0-9A-Za-z])")
# Fewer bytes than these might be those of a signature by chance.
LEAST_BYTES: Final = 4
MOST_RUNS: Final = 64
ENCODED: Final = {Encoding.HEX: "hex", Encoding.BASE64: "base64"}

Told = tuple[Deviation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What the headers may mean: signatures, and the texts of the time and the identifier.

    `strict` is the verifier's own reading, or None. `refused` is why there is none.
    """

    signatures: tuple[Variant[bytes], ...]
    texts: tuple[str, ...]
    times: tuple[str, ...]
    identifier: str | None
    strict: SignedMessage | None


def hear(scheme: SignatureScheme, headers: Headers, event_id_header: str) -> Heard:
    """Read the headers of a delivery in every way that might be meant; never raises."""
    try:
        strict = read(scheme, headers, event_id_header)
    except Refused:
        strict = None
    texts = _texts(scheme, headers, strict)
    return Heard(
        signatures=tuple(_decoded(scheme, texts)),
        texts=tuple(texts),
        times=_times(scheme, headers, strict),
        identifier=next(
            (value for name, value in headers if name.lower() == event_id_header.lower()), None
        ),
        strict=strict,
    )


def _texts(
    scheme: SignatureScheme, headers: Headers, strict: SignedMessage | None
) -> dict[str, Told]:
    """The texts that may be signatures, with what is odd about their places; the verifier's own
    come first.
    """
    texts: dict[str, Told] = {text: () for text in (strict.signatures if strict else ()) if text}
    values = [value for name, value in headers if name.lower() == scheme.header.lower()]
    several = (_header(f"sent {len(values)} {scheme.header} headers"),) if len(values) > 1 else ()
    form = scheme.value.replace("{signatures}", scheme.item)
    odd = Deviation(
        aspect=Aspect.LABEL,
        words=f"did not write the {scheme.header} header as {form!r}{_labels(scheme)}",
    )
    for value in values:
        for run in _runs(value):
            texts.setdefault(run, several or (odd,))
    if not values:
        for name, value in headers:
            elsewhere = _header(
                f"sent the signature as {name[:60]}, it is expected as {scheme.header}"
            )
            for run in _runs(value):
                texts.setdefault(run, (elsewhere,))
    return dict(list(texts.items())[:MOST_RUNS])


def _header(words: str) -> Deviation:
    return Deviation(aspect=Aspect.HEADER, words=words)


def _labels(scheme: SignatureScheme) -> str:
    return f" with the label {', '.join(scheme.versions)}" if scheme.versions else ""


def _runs(value: str) -> Iterator[str]:
    for text in dict.fromkeys((value, unquote(value), value.replace(" ", "+"))):
        for run in RUN.findall(text):
            yield run
            yield run.removeprefix("0x")


def _times(
    scheme: SignatureScheme, headers: Headers, strict: SignedMessage | None
) -> tuple[str, ...]:
    """The time that the verifier read, or else whatever looks like one, its own header first."""
    if strict is not None and "timestamp" in strict.fields:
        return (strict.fields["timestamp"],)
    wanted = {(scheme.timestamp_header or scheme.header).lower(), scheme.header.lower()}
    in_place = [value for name, value in headers if name.lower() in wanted]
    elsewhere = [value for _, value in headers if NUMBER.fullmatch(value)]
    found = [number for value in (*in_place, *elsewhere) for number in NUMBER.findall(value)]
    return tuple(dict.fromkeys(found))[:2]


def _decoded(scheme: SignatureScheme, texts: dict[str, Told]) -> Iterator[Variant[bytes]]:
    """What the texts stand for, in the dialect's encoding and in others."""
    for text, told in texts.items():
        for value, words in _readings(scheme.encoding, text):
            if len(value) >= LEAST_BYTES:
                odd = (Deviation(aspect=Aspect.ENCODING, words=words),) if words else ()
                yield Variant(value=value, deviations=(*told, *odd))


def _readings(expected: Encoding, text: str) -> Iterator[tuple[bytes, str | None]]:
    """The bytes behind a text, the dialect's own reading first, and how they are written if that is
    odd.
    """
    wanted = f"where {ENCODED[expected]} is expected"
    if HEX.fullmatch(text):
        value = bytes.fromhex(text[: len(text) // 2 * 2])
        yield value, None if expected is Encoding.HEX else f"wrote the signature in hex {wanted}"
    value = _loose_base64(text)
    yield value, _base64_oddity(expected, text, wanted)
    inner = value.decode("ascii", "replace")
    if HEX.fullmatch(inner):
        yield (
            bytes.fromhex(inner[: len(inner) // 2 * 2]),
            f"wrote the signature in base64 of its hex {wanted}",
        )


def _base64_oddity(expected: Encoding, text: str, wanted: str) -> str | None:
    if "-" in text or "_" in text:
        return f"wrote the signature in base64url {wanted}"
    if expected is not Encoding.BASE64:
        return f"wrote the signature in base64 {wanted}"
    try:
        canonical_base64(text)
    except ValueError:
        return (
            "wrote the base64 of the signature without its padding, or with stray bits at its end"
        )
    return None


def _loose_base64(text: str) -> bytes:
    """The bytes behind a text in either alphabet, padded or not, as far as it goes."""
    stem = text.rstrip("=").translate(str.maketrans("-_", "+/"))
    stem = stem[: len(stem) - (len(stem) % 4 == 1)]
    try:
        return base64.b64decode(stem + "=" * (-len(stem) % 4), validate=True)
    except ValueError:  # a text from a header is any text
        return b""
