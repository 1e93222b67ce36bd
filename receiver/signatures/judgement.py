"""What the receiver says of one delivery: verified or not, by which secret, and why not.

    judge = Judge(dialect=load_dialect("reference"), secrets=("...",))
    judge.of(delivery.headers, delivery.body, delivery.arrived_at).sentence

Whether an endpoint has the simple or the advanced format is not written on its deliveries. Without
a wish for one of them a delivery is verified if it is in either.
"""

from dataclasses import dataclass, field, replace
from enum import StrEnum

from hookproof.receiver.signatures.diagnosis import Bisection, Known, bisect
from hookproof.receiver.signatures.signed_message import Headers, Reason, Refused, read
from hookproof.receiver.signatures.verification import Unverified, Verified, verify
from hookproof.spec.dialect.model import Dialect, SignatureScheme


class Format(StrEnum):
    """The two signature formats that advanced_signatures chooses between (section 2.3)."""

    SIMPLE = "simple"
    ADVANCED = "advanced"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The word on one delivery in one format.

    `secrets` are the places of those that signed, from 0. `age_s` is how old the signed time was,
    in seconds; None: none was sent, or it was not reached. `reason`, `detail` and `bisection` are
    None for a verified delivery.
    """

    format: Format
    header: str
    secrets: tuple[int, ...]
    age_s: float | None
    reason: Reason | None = None
    detail: str | None = None
    bisection: Bisection | None = None

    @property
    def verified(self) -> bool:
        """Whether a secret is known to have signed it."""
        return self.reason is None

    @property
    def sentence(self) -> str:
        """The word in one line."""
        if self.bisection is not None:
            return f"{self.reason}: {self.detail}; {self.bisection.cause}"
        age = "no time is sent" if self.age_s is None else f"{self.age_s:.0f} s old"
        places = ", ".join(str(place + 1) for place in self.secrets)
        return f"signed by secret {places} in the {self.format} format, {self.header}, {age}"

    def to_json(self) -> dict[str, object]:
        """The word as a JSON object."""
        found = self.bisection
        deviations = found.deviations if found else ()
        return {
            "verified": self.verified,
            "format": self.format.value,
            "header": self.header,
            "secrets": list(self.secrets),
            "age_s": self.age_s,
            "reason": self.reason.value if self.reason else None,
            "detail": self.detail,
            "bisection": found.cause if found else None,
            "explained": found.explained if found else None,
            "deviations": [{"aspect": one.aspect.value, "words": one.words} for one in deviations],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Judges deliveries by a dialect and secrets; `tolerance_s` replaces the dialect's, in seconds."""

    dialect: Dialect
    secrets: tuple[str, ...]
    formats: tuple[Format, ...] = (Format.ADVANCED, Format.SIMPLE)
    tolerance_s: float | None = None
    known: Known = field(default_factory=Known)

    def of(self, headers: Headers, body: bytes, now: float) -> Judgement:
        """The word on a delivery that arrived at `now`, in Unix seconds; never raises."""
        words = [self._in(one, headers, body, now) for one in self.formats]
        verified = next((word for word in words if word.verified), None)
        if verified is not None:
            return verified
        explained = [self._explained(word, headers, body, now) for word in words]
        return min(explained, key=lambda word: self._distance(word, headers))

    def _scheme(self, chosen: Format) -> SignatureScheme:
        scheme = self.dialect.signatures.scheme(advanced=chosen is Format.ADVANCED)
        return scheme if self.tolerance_s is None else replace(scheme, tolerance_s=self.tolerance_s)

    def _in(self, chosen: Format, headers: Headers, body: bytes, now: float) -> Judgement:
        scheme, signatures = self._scheme(chosen), self.dialect.signatures
        outcome = verify(
            scheme,
            signatures.secret,
            self.secrets,
            headers,
            self.dialect.delivery.event_id_header,
            body,
            now,
        )
        if isinstance(outcome, Verified):
            age = None if outcome.timestamp is None else now - outcome.timestamp
            return Judgement(
                format=chosen, header=scheme.header, secrets=outcome.secrets, age_s=age
            )
        return _refused(chosen, scheme, outcome)

    def _explained(self, word: Judgement, headers: Headers, body: bytes, now: float) -> Judgement:
        event_id_header = self.dialect.delivery.event_id_header
        found = bisect(
            self._scheme(word.format),
            self.dialect.signatures.secret,
            self.secrets,
            headers,
            event_id_header,
            body,
            now,
            known=self.known,
        )
        return replace(word, bisection=found)

    def _distance(self, word: Judgement, headers: Headers) -> tuple[bool, bool, int]:
        """How far a delivery is from a format: explained before unexplained, then one whose headers
        can be read.
        """
        found = word.bisection
        assert found is not None
        try:
            read(self._scheme(word.format), headers, self.dialect.delivery.event_id_header)
        except Refused:
            readable = False
        else:
            readable = True
        return not found.explained, not readable, len(found.deviations)


def _refused(chosen: Format, scheme: SignatureScheme, outcome: Unverified) -> Judgement:
    return Judgement(
        format=chosen,
        header=scheme.header,
        secrets=(),
        age_s=None,
        reason=outcome.reason,
        detail=outcome.detail,
    )
