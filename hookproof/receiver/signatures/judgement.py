"""The receiver's judgement of one delivery: verified or not, by which secret, and why not.

     judge = SignatureJudge(dialect=load_dialect("reference"), secrets=("...",))
     judge.judge(delivery.headers, delivery.body, delivery.arrived_at).sentence

A delivery does not show whether its endpoint uses the simple or the advanced format. Unless one of
them is chosen, a delivery is verified if it is in either.
"""

from dataclasses import dataclass, field, replace
from enum import StrEnum

from hookproof.receiver.signatures.diagnosis import Diagnosis, KnownValues, diagnose
from hookproof.receiver.signatures.signed_message import (
    Headers,
    Reason,
    VerificationRefused,
    read_headers,
)
from hookproof.receiver.signatures.verification import Unverified, Verified, verify
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.signature_scheme import SignatureScheme


class SchemeFormat(StrEnum):
    """The two signature formats that advanced_signatures chooses between (section 2.3)."""

    SIMPLE = "simple"
    ADVANCED = "advanced"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureJudgement:
    """The judgement of one delivery in one format.

    `secrets` are the indices of those that signed, from 0. `age_s` is the age of the signed time in
    seconds, None if none was sent or verification did not get that far. `reason`, `detail` and
    `diagnosis` are None for a verified delivery.
    """

    format: SchemeFormat
    header: str
    secrets: tuple[int, ...]
    age_s: float | None
    reason: Reason | None = None
    detail: str | None = None
    diagnosis: Diagnosis | None = None

    @property
    def verified(self) -> bool:
        return self.reason is None

    @property
    def sentence(self) -> str:
        """The judgement in one line."""
        if self.diagnosis is not None:
            return f"{self.reason}: {self.detail}; {self.diagnosis.cause}"
        age = "no time is sent" if self.age_s is None else f"{self.age_s:.0f} s old"
        numbers = ", ".join(str(index + 1) for index in self.secrets)
        return f"signed by secret {numbers} in the {self.format} format, {self.header}, {age}"

    def to_json(self) -> dict[str, object]:
        diagnosis = self.diagnosis
        deviations = diagnosis.deviations if diagnosis else ()
        return {
            "verified": self.verified,
            "format": self.format.value,
            "header": self.header,
            "secrets": list(self.secrets),
            "age_s": self.age_s,
            "reason": self.reason.value if self.reason else None,
            "detail": self.detail,
            "bisection": diagnosis.cause if diagnosis else None,
            "explained": diagnosis.explained if diagnosis else None,
            "deviations": [
                {"aspect": deviation.aspect.value, "words": deviation.words}
                for deviation in deviations
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureJudge:
    """Judges deliveries; `tolerance_s` replaces the dialect's tolerance, in seconds."""

    dialect: Dialect
    secrets: tuple[str, ...]
    formats: tuple[SchemeFormat, ...] = (SchemeFormat.ADVANCED, SchemeFormat.SIMPLE)
    tolerance_s: float | None = None
    known: KnownValues = field(default_factory=KnownValues)

    def judge(self, headers: Headers, body: bytes, now: float) -> SignatureJudgement:
        """Judge a delivery that arrived at `now`, in Unix seconds; never raises."""
        judgements = [self._judge_in(chosen, headers, body, now) for chosen in self.formats]
        verified = next((judgement for judgement in judgements if judgement.verified), None)
        if verified is not None:
            return verified
        diagnosed = [
            self._with_diagnosis(judgement, headers, body, now) for judgement in judgements
        ]
        return min(diagnosed, key=lambda judgement: self._distance(judgement, headers))

    def _scheme(self, chosen: SchemeFormat) -> SignatureScheme:
        scheme = self.dialect.signatures.scheme(advanced=chosen is SchemeFormat.ADVANCED)
        return scheme if self.tolerance_s is None else replace(scheme, tolerance_s=self.tolerance_s)

    def _judge_in(
        self, chosen: SchemeFormat, headers: Headers, body: bytes, now: float
    ) -> SignatureJudgement:
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
            return SignatureJudgement(
                format=chosen, header=scheme.header, secrets=outcome.secrets, age_s=age
            )
        return _refused(chosen, scheme, outcome)

    def _with_diagnosis(
        self, judgement: SignatureJudgement, headers: Headers, body: bytes, now: float
    ) -> SignatureJudgement:
        event_id_header = self.dialect.delivery.event_id_header
        diagnosis = diagnose(
            self._scheme(judgement.format),
            self.dialect.signatures.secret,
            self.secrets,
            headers,
            event_id_header,
            body,
            now,
            known=self.known,
        )
        return replace(judgement, diagnosis=diagnosis)

    def _distance(self, judgement: SignatureJudgement, headers: Headers) -> tuple[bool, bool, int]:
        """How far a delivery is from a format, for sorting.

        Explained before unexplained, then readable headers before unreadable, then fewer
        deviations.
        """
        diagnosis = judgement.diagnosis
        assert diagnosis is not None
        try:
            read_headers(
                self._scheme(judgement.format), headers, self.dialect.delivery.event_id_header
            )
        except VerificationRefused:
            readable = False
        else:
            readable = True
        return not diagnosis.explained, not readable, len(diagnosis.deviations)


def _refused(
    chosen: SchemeFormat, scheme: SignatureScheme, outcome: Unverified
) -> SignatureJudgement:
    return SignatureJudgement(
        format=chosen,
        header=scheme.header,
        secrets=(),
        age_s=None,
        reason=outcome.reason,
        detail=outcome.detail,
    )
