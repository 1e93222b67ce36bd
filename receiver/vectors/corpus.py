"""Signed deliveries, good and bad, for whoever writes a verifier: the corpus of `hookproof
vectors`.

The good ones stand in spec/vectors/signatures.json, where openssl signed them. The bad ones are
derived from these by the changes of `vector_changes`, the same ones each time; nothing here signs.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import hookproof.spec
from hookproof.receiver.signatures.judgement import Format
from hookproof.receiver.signatures.signed_message import Reason
from hookproof.spec.dialect.model import Dialect, SignatureScheme
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.vocabulary import Encoding, Hash

FOLDER: Final = Path(hookproof.spec.__file__).parent / "vectors"
SCHEMA_FILE: Final = FOLDER / "corpus.schema.json"
ABOUT: Final = (
    "Deliveries as they arrive, to grade a verifier of signatures. Verify headers and body_b64 (the raw body in base64)"
    " with secrets at the time now (Unix seconds), by the answers of scheme; the verdict should be expect. reason and"
    " why say what makes a delivery good or bad; notes, where a verifier in wide use decides otherwise."
)


class NoVectors(Exception):
    """No vectors were made for a dialect; the message says for which ones there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """One delivery, and what a verifier should say of it; `reason` None: it should accept it."""

    name: str
    dialect: str
    format: Format
    scheme: SignatureScheme
    event_id_header: str
    secrets: tuple[str, ...]
    headers: tuple[tuple[str, str], ...]
    body: bytes
    now: float
    reason: Reason | None
    why: str
    notes: tuple[str, ...] = ()

    def header(self, name: str) -> str:
        """The first value of a header; raises KeyError if there is none."""
        return dict(reversed(self.headers))[name]

    def with_header(self, name: str, value: str) -> "Vector":
        """The same with another value of a header."""
        return replace(
            self, headers=tuple((key, value if key == name else old) for key, old in self.headers)
        )

    def to_json(self) -> dict[str, object]:
        """The vector as it is printed."""
        scheme = asdict(self.scheme)
        del scheme["secrets"]  # which of its secrets a sender uses is no concern of a verifier
        return {
            "name": self.name,
            "dialect": self.dialect,
            "format": self.format.value,
            "scheme": {**scheme, "event_id_header": self.event_id_header},
            "secrets": list(self.secrets),
            "headers": [list(header) for header in self.headers],
            "body_b64": base64.b64encode(self.body).decode(),
            "now": self.now,
            "expect": "reject" if self.reason else "accept",
            "reason": self.reason.value if self.reason else "valid",
            "why": self.why,
            "notes": list(self.notes),
        }


def corpus(dialect: Dialect | None = None) -> tuple[Vector, ...]:
    """All vectors, or those of a dialect that signs as a shipped one does; raises NoVectors."""
    from hookproof.receiver.vectors.variations import changed

    good = tuple(
        vector for vector in good_vectors() if dialect is None or _signs_alike(vector, dialect)
    )
    if not good:
        made = ", ".join(dict.fromkeys(vector.dialect for vector in good_vectors()))
        raise NoVectors(f"there are vectors for what signs as these dialects do: {made}")
    return (*good, *(bad for vector in good for bad in changed(vector, good)))


def notes(dialect: str, name: str) -> tuple[str, ...]:
    """Where verifiers in wide use decide otherwise about a vector with this end of its name."""
    return tuple(_all_notes().get(dialect, {}).get(name, ()))


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
def _all_notes() -> Mapping[str, Mapping[str, Sequence[str]]]:
    read: Mapping[str, Mapping[str, Sequence[str]]] = json.loads(
        (FOLDER / "notes.json").read_text()
    )
    return read


@cache
def _shipped(name: str) -> Dialect:
    return load_dialect(name)


def _signs_alike(vector: Vector, dialect: Dialect) -> bool:
    own = _shipped(vector.dialect)
    return (
        own.signatures == dialect.signatures
        and own.delivery.event_id_header == dialect.delivery.event_id_header
    )
