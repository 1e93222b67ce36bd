"""A signed delivery, and the verdict that a verifier should reach."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

import hookproof.spec
from hookproof.receiver.signatures.judgement import SchemeFormat
from hookproof.receiver.signatures.signed_message import Reason
from hookproof.spec.dialect.signature_scheme import SignatureScheme

FOLDER: Final = Path(hookproof.spec.__file__).parent / "vectors"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """A delivery and the expected verdict; `reason` None: a verifier should accept it."""

    name: str
    dialect: str
    format: SchemeFormat
    scheme: SignatureScheme
    event_id_header: str | None
    secrets: tuple[str, ...]
    headers: tuple[tuple[str, str], ...]
    body: bytes
    now: float
    reason: Reason | None
    why: str
    notes: tuple[str, ...] = ()

    def header(self, name: str) -> str:
        """The first value of a header; raises KeyError."""
        return dict(reversed(self.headers))[name]

    def with_header(self, name: str, value: str) -> "Vector":
        return replace(
            self, headers=tuple((key, value if key == name else old) for key, old in self.headers)
        )

    def to_json(self) -> dict[str, object]:
        scheme = asdict(self.scheme)
        # Which of its secrets a sender uses does not concern a verifier; all vectors are of HMAC.
        for name in ("secrets", "algorithm", "public_key", "private_key"):
            del scheme[name]
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


def notes(dialect: str, name: str) -> tuple[str, ...]:
    """Where widely used verifiers decide differently about a vector whose name ends so."""
    return tuple(_all_notes().get(dialect, {}).get(name, ()))


@cache
def _all_notes() -> Mapping[str, Mapping[str, Sequence[str]]]:
    content: Mapping[str, Mapping[str, Sequence[str]]] = json.loads(
        (FOLDER / "notes.json").read_text()
    )
    return content
