"""What can be reported about a signature that nothing explains."""

from collections.abc import Iterator
from typing import Final

from hookproof.receiver.signatures.diagnosis.digest_variants import HASHES
from hookproof.receiver.signatures.diagnosis.signature_readings import (
    ENCODING_NAMES,
    HeaderReadings,
)
from hookproof.receiver.signatures.signed_message import WHOLE_NUMBER, Headers
from hookproof.spec.dialect.groups.signature_vocabulary import Hash
from hookproof.spec.dialect.signature_scheme import SignatureScheme

# Digest sizes in bytes.
SIZES: Final = {Hash.SHA256: 32, Hash.SHA512: 64}
NO_KNOWN_CAUSE: Final = "no known cause"


def unexplained(
    scheme: SignatureScheme, readings: HeaderReadings, headers: Headers, body: bytes
) -> str:
    """Describe the failed search, with whatever looks odd nevertheless."""
    oddities = list(_odd_length(headers, body))
    if not any(
        value.strip() for name, value in headers if name.lower() == scheme.header.lower()
    ) and not _has_whole_signature(scheme, readings):
        return "; ".join(["sent no signature", *oddities])
    return "; ".join([f"{NO_KNOWN_CAUSE}: {_describe_size(scheme, readings)}", *oddities])


def _describe_size(scheme: SignatureScheme, readings: HeaderReadings) -> str:
    name, encoding = HASHES[scheme.hash], ENCODING_NAMES[scheme.encoding]
    if _has_whole_signature(scheme, readings):
        return (
            f"the signature has the size of {name}, but no known secret makes it of any known form"
            " of what was sent; another secret signed, or the body is not the one that was signed"
        )
    return (
        f"nothing in the headers has the size of {name} in {encoding}, {SIZES[scheme.hash]} bytes"
    )


def _has_whole_signature(scheme: SignatureScheme, readings: HeaderReadings) -> bool:
    return any(len(variant.value) == SIZES[scheme.hash] for variant in readings.signatures)


def _odd_length(headers: Headers, body: bytes) -> Iterator[str]:
    """A body that was changed in transit may differ in length from its Content-Length."""
    lengths = [value.strip() for name, value in headers if name.lower() == "content-length"]
    if len(lengths) == 1 and WHOLE_NUMBER.fullmatch(lengths[0]) and int(lengths[0]) != len(body):
        yield (
            f"the body has {len(body)} bytes and its Content-Length says {lengths[0]}: "
            "it was changed on its way"
        )
