"""Signed deliveries, good and bad, for whoever writes a verifier: the corpus of `hookproof
vectors`.

The good ones stand in spec/vectors/signatures.json, where openssl signed them. The bad ones are
derived from these by the changes of `vector_changes`, the same ones each time; nothing here signs.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from hookproof.receiver.signatures.judgement import Format
from hookproof.receiver.vectors.variations import changed
from hookproof.receiver.vectors.vector import FOLDER, Vector, notes
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.vocabulary import Encoding, Hash

SCHEMA_FILE: Final = FOLDER / "corpus.schema.json"
ABOUT: Final = (
    "Deliveries as they arrive, to grade a verifier of signatures. Verify headers and body_b64 (the raw body in base64)"
    " with secrets at the time now (Unix seconds), by the answers of scheme; the verdict should be expect. reason and"
    " why say what makes a delivery good or bad; notes, where a verifier in wide use decides otherwise."
)


class NoVectors(Exception):
    """No vectors were made for a dialect; the message says for which ones there are."""


def corpus(dialect: Dialect | None = None) -> tuple[Vector, ...]:
    """All vectors, or those of a dialect that signs as a shipped one does; raises NoVectors."""
    good = tuple(
        vector for vector in good_vectors() if dialect is None or _signs_alike(vector, dialect)
    )
    if not good:
        made = ", ".join(dict.fromkeys(vector.dialect for vector in good_vectors()))
        raise NoVectors(f"there are vectors for what signs as these dialects do: {made}")
    return (*good, *(bad for vector in good for bad in changed(vector, good)))


def printed(vectors: Sequence[Vector]) -> dict[str, object]:
    """The document that `hookproof vectors` prints."""
    return {"about": ABOUT, "vectors": [vector.to_json() for vector in vectors]}


def schema() -> Mapping[str, Any]:
    """The JSON Schema (Draft 2020-12) of that document."""
    read: Mapping[str, Any] = json.loads(SCHEMA_FILE.read_text())
    return read


@cache
def good_vectors() -> tuple[Vector, ...]:
    """The vectors that openssl signed."""
    return tuple(_good(json.loads((FOLDER / "signatures.json").read_text())["vectors"]))


def _good(entries: Sequence[Mapping[str, Any]]) -> Iterator[Vector]:
    for entry in entries:
        dialect = _shipped(entry["dialect"])
        scheme = dialect.signatures.scheme(advanced=entry["advanced"])
        if other := entry.get("scheme"):
            scheme = replace(scheme, hash=Hash(other["hash"]), encoding=Encoding(other["encoding"]))
        yield Vector(
            name=entry["name"],
            dialect=entry["dialect"],
            format=Format.ADVANCED if entry["advanced"] else Format.SIMPLE,
            scheme=scheme,
            event_id_header=dialect.delivery.event_id_header,
            secrets=tuple(entry["secrets"]),
            headers=tuple(entry["headers"].items()),
            body=base64.b64decode(entry["body_b64"]),
            now=entry["timestamp"],
            reason=None,
            why="openssl signed it as the scheme says",
            notes=notes(entry["dialect"], entry["name"].rpartition(": ")[2]),
        )


@cache
def _shipped(name: str) -> Dialect:
    return load_dialect(name)


def _signs_alike(vector: Vector, dialect: Dialect) -> bool:
    own = _shipped(vector.dialect)
    return (
        own.signatures == dialect.signatures
        and own.delivery.event_id_header == dialect.delivery.event_id_header
    )
