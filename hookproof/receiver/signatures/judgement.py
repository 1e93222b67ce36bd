"""The receiver's judgement of one delivery: verified or not, by which secret, and why not.

     judge = SignatureJudge(dialect=load_dialect("reference"), secrets=("...",))
     judge.judge(delivery.headers, delivery.body, delivery.arrived_at).sentence

A delivery does not show whether its endpoint uses the simple or the advanced format. Unless one of
them is chosen, a delivery is verified if it is in either. The schemes of providers
(`schemes.catalogue`) take the place of the dialect's two formats, or come before them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, NamedTuple

from hookproof.receiver.signatures.diagnosis import Diagnosis, KnownValues, diagnose
from hookproof.receiver.signatures.diagnosis.header_repairs import plain_name
from hookproof.receiver.signatures.diagnosis.signature_readings import read_loosely
from hookproof.receiver.signatures.diagnosis.time_variants import duration, sent_seconds
from hookproof.receiver.signatures.diagnosis.unknown_sender import form_of_unknown_sender
from hookproof.receiver.signatures.schemes.catalogue import (
    NamedScheme,
    schemes_meant_by,
    shipped_schemes,
)
from hookproof.receiver.signatures.schemes.model import ProviderScheme
from hookproof.receiver.signatures.schemes.request_parts import MEMBER, RequestLine
from hookproof.receiver.signatures.signed_message import (
    Headers,
    Reason,
    SignedMessage,
    VerificationRefused,
    read_headers,
)
from hookproof.receiver.signatures.verification import (
    PUBLIC_KEY,
    Unverified,
    Verified,
    prepared,
    verify,
)
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.signature_scheme import Secrets, SignatureScheme

# The oldest time that a saved delivery is believed, in seconds: one in another unit is far away.
OLDEST_SAVED_S: Final = 20 * 365.25 * 86400

REPEATED: Final = (
    "its header has the signature twice, as a proxy joins a header that was doubled: "
    "a verifier that takes the whole value for one signature refuses it"
)


class SchemeFormat(StrEnum):
    """The two signature formats that advanced_signatures chooses between (section 2.3)."""

    SIMPLE = "simple"
    ADVANCED = "advanced"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureJudgement:
    """The judgement of one delivery in one format, or by one scheme; one of the two is None.

    `secrets` are the indices of those that signed, from 0. `age_s` is the age of the signed time in
    seconds, None if none was sent or verification did not get that far. `reason`, `detail` and
    `diagnosis` are None for a verified delivery. `others` are further schemes that verify the
    delivery, whether this one does or not. `by_own_time`: the age was not judged. `repeated`: the
    header has a signature of the same secret twice. `by_service`: a key of the service verifies,
    and no secret.
    """

    format: SchemeFormat | None
    scheme: NamedScheme | None = None
    header: str
    secrets: tuple[int, ...]
    age_s: float | None
    reason: Reason | None = None
    detail: str | None = None
    diagnosis: Diagnosis | None = None
    others: tuple[NamedScheme, ...] = ()
    by_own_time: bool = False
    repeated: bool = False
    by_service: bool = False

    @property
    def verified(self) -> bool:
        return self.reason is None

    @property
    def sentence(self) -> str:
        """The judgement in one line."""
        if self.diagnosis is not None:
            return f"{self.reason}: {self.detail}; {self.cause}"
        numbers = ", ".join(str(index + 1) for index in self.secrets)
        also = "".join(f" or {each.name}" for each in self.others)
        if self.scheme is None:
            signer = "the key of the service" if self.by_service else f"secret {numbers}"
            return f"signed by {signer} in the {self.format} format, {self.header}, {self.age}"
        entry = self.scheme.entry
        if not entry.algorithm.signs:
            return (
                f"{self.header} is secret {numbers}, by the scheme {self.scheme.name}{also}: "
                "it tells who sent this, and nothing about the body"
            )
        twice = REPEATED if self.repeated else ""
        remarks = "".join(
            f"; {remark}" for remark in (entry.unsigned, entry.legacy, twice) if remark
        )
        key = "the key" if entry.algorithm.has_public_key else "secret"
        return (
            f"signed by {key} {numbers}, by the scheme {self.scheme.name}{also}, {self.header}, "
            f"{self.age}{remarks}"
        )

    @property
    def age(self) -> str:
        """The age of the delivery in words."""
        if self.age_s is None:
            return "no time is sent"
        if not self.by_own_time:
            return f"{self.age_s:.0f} s old"
        return f"{duration(self.age_s)} old, which is not judged without --at, as it was saved"

    @property
    def cause(self) -> str:
        """Why a delivery is not verified, in one sentence."""
        assert self.diagnosis is not None
        if not self.others:
            return self.diagnosis.cause
        names = " or ".join(each.name for each in self.others)
        own = f"{self.diagnosis.cause}; " if self.diagnosis.explained else ""
        legacy = next((f" ({each.entry.legacy})" for each in self.others if each.entry.legacy), "")
        first = self.others[0].entry
        member = first.header.removeprefix(MEMBER)
        place = f", in the member {member} of the body" if member != first.header else ""
        done = "signed by this secret" if first.algorithm.signs else "right"
        option = f"give --scheme {self.others[0].name} to `hookproof verify`"
        return f"{own}{done} as the scheme {names} says{place}: {option}{legacy}"

    def to_json(self) -> dict[str, object]:
        diagnosis = self.diagnosis
        deviations = diagnosis.deviations if diagnosis else ()
        return {
            "verified": self.verified,
            "format": self.format.value if self.format else None,
            "scheme": self.scheme.name if self.scheme else None,
            "header": self.header,
            "secrets": list(self.secrets),
            "age_s": self.age_s,
            "reason": self.reason.value if self.reason else None,
            "detail": self.detail,
            "bisection": self.cause if diagnosis else None,
            "explained": diagnosis.explained if diagnosis else None,
            "deviations": [
                {"aspect": deviation.aspect.value, "words": deviation.words}
                for deviation in deviations
            ],
            "others": [each.name for each in self.others],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """One way in which a delivery may be signed: a format of a dialect, or a scheme."""

    signature: SignatureScheme
    secret: Secrets
    event_id_header: str | None
    format: SchemeFormat | None = None
    scheme: NamedScheme | None = None


def contract_of_dialect(dialect: Dialect, chosen: SchemeFormat) -> Contract:
    signature = dialect.signatures.scheme(advanced=chosen is SchemeFormat.ADVANCED)
    return Contract(
        signature=signature,
        secret=dialect.signatures.secret if signature.public_key is None else PUBLIC_KEY,
        event_id_header=dialect.delivery.event_id_header,
        format=chosen,
    )


def contract_of_scheme(scheme: NamedScheme) -> Contract:
    return Contract(
        signature=scheme.signature,
        secret=scheme.secret,
        event_id_header=scheme.entry.id_header,
        scheme=scheme,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureJudge:
    """Judges deliveries; `tolerance_s` replaces the tolerance of the dialect, in seconds.

    `schemes` take the place of the dialect. If `automatic`, those that a delivery's headers tell
    do, and the dialect is for deliveries that no scheme is meant by. `at_own_time` is for saved
    deliveries: their age is not judged.
    """

    dialect: Dialect
    secrets: tuple[str, ...]
    formats: tuple[SchemeFormat, ...] = (SchemeFormat.ADVANCED, SchemeFormat.SIMPLE)
    tolerance_s: float | None = None
    known: KnownValues = field(default_factory=KnownValues)
    schemes: tuple[NamedScheme, ...] = ()
    automatic: bool = False
    at_own_time: bool = False

    def judge(
        self, headers: Headers, body: bytes, now: float, line: RequestLine | None = None
    ) -> SignatureJudgement:
        """Judge a delivery that arrived at `now`, in Unix seconds; never raises."""
        request = _Request(headers, body, now, line if line and line.is_plain else None)
        contracts = self._contracts(request)
        judgements = [(each, self._judge_by(each, request)) for each in contracts]
        verified = [judgement for _, judgement in judgements if judgement.verified]
        if verified:
            first = verified[0].scheme
            others = tuple(
                each.scheme
                for each in verified[1:]
                if each.scheme is not None and first is not None and each.scheme.name != first.name
            )
            return replace(verified[0], others=others)
        if not any(each.scheme for each in contracts):
            unknown = self._of_unknown_sender(judgements[-1][1], request)
            if unknown is not None:
                return unknown
        diagnosed = [
            (contract, self._with_diagnosis(contract, judgement, request))
            for contract, judgement in judgements
        ]
        _, nearest = min(diagnosed, key=lambda each: self._distance(each[0], each[1], request))
        others = self._verified_by(contracts, request)
        if not others and nearest.diagnosis is not None and not nearest.diagnosis.explained:
            unknown = self._of_unknown_sender(nearest, request)
            if unknown is not None:
                return unknown
        return replace(nearest, others=others)

    def _of_unknown_sender(
        self, refused: SignatureJudgement, request: "_Request"
    ) -> SignatureJudgement | None:
        """The judgement of a delivery that is signed as none of the contracts says."""
        if not self.automatic:
            return None
        found = form_of_unknown_sender(self.secrets, request.headers, request.body, request.line)
        if found is None:
            return None
        return replace(
            refused,
            reason=Reason.MISSING_HEADER,
            detail="no header here is signed as a known scheme says",
            diagnosis=found,
        )

    def _contracts(self, request: "_Request") -> list[Contract]:
        if self.schemes:
            return self._contracts_of(self.schemes, request)
        dialect = [self._tolerant(contract_of_dialect(self.dialect, each)) for each in self.formats]
        if not self.automatic:
            return dialect
        names = {name.lower() for name, _ in request.headers}
        meant = schemes_meant_by(_renamed(request.headers), request.body)
        chosen = [each for each in dialect if not meant or each.signature.header.lower() in names]
        return [*self._contracts_of(meant, request), *chosen]

    def _contracts_of(self, schemes: Sequence[NamedScheme], request: "_Request") -> list[Contract]:
        return [
            self._tolerant(contract_of_scheme(each))
            for scheme in schemes
            for each in scheme.by_headers(request.headers)
        ]

    def _tolerant(self, contract: Contract) -> Contract:
        if self.tolerance_s is None:
            return contract
        signature = replace(contract.signature, tolerance_s=self.tolerance_s)
        return replace(contract, signature=signature)

    def _judge_by(self, contract: Contract, request: "_Request") -> SignatureJudgement:
        moment = self._moment(contract, request)
        outcome = verify(
            contract.signature,
            contract.secret,
            self.secrets,
            request.headers,
            contract.event_id_header,
            request.body,
            moment,
            request.line,
        )
        verified = isinstance(outcome, Verified)
        timestamp = outcome.timestamp if isinstance(outcome, Verified) else None
        return SignatureJudgement(
            format=contract.format,
            scheme=contract.scheme,
            header=contract.signature.header,
            secrets=outcome.secrets if isinstance(outcome, Verified) else (),
            age_s=None if timestamp is None else request.now - timestamp,
            reason=outcome.reason if isinstance(outcome, Unverified) else None,
            detail=outcome.detail if isinstance(outcome, Unverified) else None,
            by_service=contract.signature.public_key is not None,
            by_own_time=verified and moment != request.now,
            repeated=isinstance(outcome, Verified) and _repeats(outcome.in_order),
        )

    def _moment(self, contract: Contract, request: "_Request") -> float:
        """When a delivery counts as arrived, in Unix seconds: a saved one when it was sent.

        A time that is ahead, or decades away, is wrong whenever the delivery was saved.
        """
        if not self.at_own_time:
            return request.now
        try:
            sent = _read(contract, request).timestamp
        except VerificationRefused:
            readings = read_loosely(contract.signature, request.headers, contract.event_id_header)
            sent = sent_seconds(readings.times[0]) if readings.times else None
        is_past = sent is not None and 0 <= request.now - sent <= OLDEST_SAVED_S
        return sent if is_past and sent is not None else request.now

    def _with_diagnosis(
        self, contract: Contract, judgement: SignatureJudgement, request: "_Request"
    ) -> SignatureJudgement:
        diagnosis = diagnose(
            contract.signature,
            contract.secret,
            self.secrets,
            request.headers,
            contract.event_id_header,
            request.body,
            self._moment(contract, request),
            known=self.known,
            line=request.line,
        )
        return replace(judgement, diagnosis=diagnosis)

    def _distance(
        self, contract: Contract, judgement: SignatureJudgement, request: "_Request"
    ) -> tuple[bool, bool, bool, int]:
        """How far a delivery is from a format, for sorting.

        Explained before unexplained, then readable headers before unreadable, secrets of the right
        form before others, then fewer deviations.
        """
        diagnosis = judgement.diagnosis
        assert diagnosis is not None
        try:
            _read(contract, request)
        except VerificationRefused:
            readable = False
        else:
            readable = True
        usable = readable and judgement.reason is not Reason.SECRET_NOT_USABLE
        return not diagnosis.explained, not readable, not usable, len(diagnosis.deviations)

    def _verified_by(
        self, tried: Sequence[Contract], request: "_Request"
    ) -> tuple[NamedScheme, ...]:
        """The schemes that were not asked for and verify the delivery, those that prove most."""
        names = {each.scheme.name for each in tried if each.scheme}
        verifying = [
            each
            for each in shipped_schemes().values()
            if each.name not in names
            and each.is_meant_by(request.headers, request.body)
            and self._judge_by(self._tolerant(contract_of_scheme(each)), request).verified
        ]
        return tuple(sorted(verifying, key=lambda each: each.rank))


class _Request(NamedTuple):
    """What is judged; `now` is in Unix seconds."""

    headers: Headers
    body: bytes
    now: float
    line: RequestLine | None


def _repeats(secrets: Sequence[int | None]) -> bool:
    valid = [index for index in secrets if index is not None]
    return len(valid) > len({*valid})


def _read(contract: Contract, request: _Request) -> SignedMessage:
    """What the headers say; raises VerificationRefused."""
    headers = request.headers
    if isinstance(contract.signature, ProviderScheme):
        headers = prepared(contract.signature, headers, request.body, request.line)[0]
    return read_headers(contract.signature, headers, contract.event_id_header)


def _renamed(headers: Headers) -> Headers:
    """Headers with those that have the names of CGI under their own names as well."""
    return [*headers, *((plain_name(name), value) for name, value in headers)]
