"""The signature vectors in the form that the verifier accepts."""

import base64
import json
import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from hookproof.receiver.signatures.diagnosis import Diagnosis, KnownValues, diagnose
from hookproof.receiver.signatures.verification import Unverified, Verified, verify
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.signature_scheme import SignatureScheme
from hookproof.spec.dialect.vocabulary import Encoding, Hash, SecretForm
from tests.source_tree import ROOT

VECTORS = ROOT / "hookproof" / "spec" / "vectors" / "signatures.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedVector:
    name: str
    dialect: Dialect
    scheme: SignatureScheme
    secrets: tuple[str, ...]
    headers: tuple[tuple[str, str], ...]
    body: bytes
    timestamp: float

    def outcome(self, *, now: float | None = None) -> Verified | Unverified:
        """The verdict at the time of signing, or at another one."""
        return verify(
            self.scheme,
            self.dialect.signatures.secret,
            self.secrets,
            self.headers,
            self.dialect.delivery.event_id_header,
            self.body,
            self.timestamp if now is None else now,
        )

    def diagnosis(
        self, *, now: float | None = None, known: KnownValues | None = None
    ) -> Diagnosis | None:
        """The diagnosis at the time of signing, or at another one; None if it is verified."""
        return diagnose(
            self.scheme,
            self.dialect.signatures.secret,
            self.secrets,
            self.headers,
            self.dialect.delivery.event_id_header,
            self.body,
            self.timestamp if now is None else now,
            known=known,
        )

    def with_header(self, name: str, value: str) -> "SignedVector":
        return replace(
            self, headers=tuple((key, value if key == name else old) for key, old in self.headers)
        )

    def header(self, name: str) -> str:
        return dict(self.headers)[name]

    @property
    def value(self) -> str:
        return self.header(self.scheme.header)

    def with_value(self, value: str) -> "SignedVector":
        return self.with_header(self.scheme.header, value)

    def signatures(self) -> list[str]:
        """The texts of all signatures in the header, found without the verifier."""
        return re.findall(r"[0-9A-Za-z+/_-]{40,}={0,2}", self.value)


@cache
def dialect(name: str) -> Dialect:
    return load_dialect(name)


@cache
def file_content() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(VECTORS.read_text())
    return content


@cache
def vectors() -> tuple[SignedVector, ...]:
    return tuple(map(read_vector, file_content()["vectors"]))


def find_vector(name: str) -> SignedVector:
    (vector,) = [vector for vector in vectors() if vector.name == name]
    return vector


def read_vector(entry: dict[str, Any]) -> SignedVector:
    answers = dialect(entry["dialect"])
    scheme = answers.signatures.scheme(advanced=entry["advanced"])
    if override := entry.get("scheme"):
        scheme = replace(
            scheme, hash=Hash(override["hash"]), encoding=Encoding(override["encoding"])
        )
    if form := entry.get("secret", {}).get("form"):
        rules = replace(answers.signatures.secret, form=SecretForm(form))
        answers = replace(answers, signatures=replace(answers.signatures, secret=rules))
    return SignedVector(
        name=entry["name"],
        dialect=answers,
        scheme=scheme,
        secrets=tuple(entry["secrets"]),
        headers=tuple(entry["headers"].items()),
        body=base64.b64decode(entry["body_b64"]),
        timestamp=entry["timestamp"],
    )
