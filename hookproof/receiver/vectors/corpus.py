"""Signed deliveries, good and bad, for authors of verifiers: the corpus of `hookproof vectors`.

The good ones are in spec/vectors/signatures.json, signed by openssl. The bad ones are derived from
these by `variations`, always the same ones; nothing here signs.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from hookproof.receiver.signatures.judgement import SchemeFormat
from hookproof.receiver.vectors.variations import derive_vectors
from hookproof.receiver.vectors.vector import FOLDER, Vector, notes
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.vocabulary import Encoding, Hash

SCHEMA_FILE: Final = FOLDER / "corpus.schema.json"
ABOUT: Final = (
    "Deliveries as they arrive, to test a verifier of signatures. Verify headers and body_b64 (the"
    " raw body in base64) with secrets at the time now (Unix seconds), by the rules of scheme; the"
    " verdict should be expect. reason and why say what makes a delivery good or bad; notes, where"
    " a widely used verifier decides differently."
)


class NoVectors(Exception):
    """There are no vectors for a dialect; the message names those that have some."""


def build_corpus(dialect: Dialect | None = None) -> tuple[Vector, ...]:
    """All vectors, or those of a dialect that signs as a shipped one does; raises NoVectors."""
    good = tuple(
        vector for vector in good_vectors() if dialect is None or _signs_alike(vector, dialect)
    )
    if not good:
        dialects = ", ".join(dict.fromkeys(vector.dialect for vector in good_vectors()))
        raise NoVectors(f"there are vectors for what signs as these dialects do: {dialects}")
    return (*good, *(bad for vector in good for bad in derive_vectors(vector, good)))


def corpus_document(vectors: Sequence[Vector]) -> dict[str, object]:
    """The document that `hookproof vectors` prints."""
    return {"about": ABOUT, "vectors": [vector.to_json() for vector in vectors]}


def corpus_schema() -> Mapping[str, Any]:
    """The JSON Schema (Draft 2020-12) of that document."""
    schema: Mapping[str, Any] = json.loads(SCHEMA_FILE.read_text())
    return schema


@cache
def good_vectors() -> tuple[Vector, ...]:
    """The vectors that openssl signed."""
    return tuple(_read_vectors(json.loads((FOLDER / "signatures.json").read_text())["vectors"]))


def _read_vectors(entries: Sequence[Mapping[str, Any]]) -> Iterator[Vector]:
    for entry in entries:
        if not _is_in_corpus(entry):
            continue
        dialect = _load_shipped(entry["dialect"])
        scheme = dialect.signatures.scheme(advanced=entry["advanced"])
        if override := entry.get("scheme"):
            scheme = replace(
                scheme, hash=Hash(override["hash"]), encoding=Encoding(override["encoding"])
            )
        yield Vector(
            name=entry["name"],
            dialect=entry["dialect"],
            format=SchemeFormat.ADVANCED if entry["advanced"] else SchemeFormat.SIMPLE,
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


def _is_in_corpus(entry: Mapping[str, Any]) -> bool:
    """Whether every verifier of the dialect is asked: it knows the form of the dialect's secrets,
    and the encodings that the corpus has had since its first version.
    """
    encoding = entry.get("scheme", {}).get("encoding", Encoding.HEX)
    return "secret" not in entry and encoding in (Encoding.HEX, Encoding.BASE64)


@cache
def _load_shipped(name: str) -> Dialect:
    return load_dialect(name)


def _signs_alike(vector: Vector, dialect: Dialect) -> bool:
    shipped = _load_shipped(vector.dialect)
    return (
        shipped.signatures == dialect.signatures
        and shipped.delivery.event_id_header == dialect.delivery.event_id_header
    )
