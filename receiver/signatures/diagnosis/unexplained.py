"""What can be said of a signature that nothing explains."""

from collections.abc import Iterator
from typing import Final

from hookproof.receiver.signatures.diagnosis.digest_variants import HASHES
from hookproof.receiver.signatures.diagnosis.signature_readings import ENCODED, Heard
from hookproof.receiver.signatures.signed_message import WHOLE_NUMBER, Headers
from hookproof.spec.dialect.model import SignatureScheme
from hookproof.spec.dialect.vocabulary import Hash

# In bytes.
SIZES: Final = {Hash.SHA256: 32, Hash.SHA512: 64}
NO_KNOWN_CAUSE: Final = "no known cause"


def unexplained(scheme: SignatureScheme, heard: Heard, headers: Headers, body: bytes) -> str:
    """The end of the search in words, with what looks odd all the same."""
    odd = list(_odd_length(headers, body))
    if not any(
        value.strip() for name, value in headers if name.lower() == scheme.header.lower()
    ) and not _whole(scheme, heard):
        return "; ".join(["sent no signature", *odd])
    return "; ".join([f"{NO_KNOWN_CAUSE}: {_kind(scheme, heard)}", *odd])


def _kind(scheme: SignatureScheme, heard: Heard) -> str:
    name, encoding = HASHES[scheme.hash], ENCODED[scheme.encoding]
    if _whole(scheme, heard):
        return (
            f"the signature has the size of {name}, but no secret that is known makes it of any known form of what was"
            " sent; another secret signed, or the body is not the one that was signed"
        )
    return (
        f"nothing in the headers has the size of {name} in {encoding}, {SIZES[scheme.hash]} bytes"
    )


def _whole(scheme: SignatureScheme, heard: Heard) -> bool:
    return any(len(variant.value) == SIZES[scheme.hash] for variant in heard.signatures)


def _odd_length(headers: Headers, body: bytes) -> Iterator[str]:
    """A body that was cut or lengthened on its way has another length than its sender said."""
    said = [value.strip() for name, value in headers if name.lower() == "content-length"]
    if len(said) == 1 and WHOLE_NUMBER.fullmatch(said[0]) and int(said[0]) != len(body):
        yield f"the body has {len(body)} bytes and its Content-Length says {said[0]}: it was changed on its way"
