"""The secrets that sign a token's deliveries, and the verdicts on what arrives.

A delivery is verified when it arrives, so that a run of any length has its counts. It can be
verified again whenever it is shown, since the verdict depends only on the delivery, the secrets and
the time of arrival.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Literal

import msgspec

from hookproof.receiver.inbox.arrival import Arrival
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.inbox.store import Observers
from hookproof.receiver.signatures.diagnosis import Diagnosis, KnownValues, diagnose
from hookproof.receiver.signatures.fast_path import FastPath
from hookproof.receiver.signatures.signed_message import Headers
from hookproof.receiver.signatures.verification import Unverified, Verified, secret_key, verify
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect, shipped_dialects
from hookproof.spec.dialect.signature_scheme import SignatureScheme

Secret = Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]

ShippedDialect = Annotated[str, msgspec.Meta(extra_json_schema={"enum": [*shipped_dialects()]})]


class TokenSecrets(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The secrets of a token, and the dialect and format in which they sign."""

    secrets: Annotated[tuple[Secret, ...], msgspec.Meta(min_length=1, max_length=16)]
    dialect: ShippedDialect = "reference"
    scheme: Literal["simple", "advanced"] = "simple"

    def __post_init__(self) -> None:
        """Refuse unknown dialects and unusable secrets; msgspec converts ValueError to its own."""
        if self.dialect not in shipped_dialects():
            raise ValueError(
                f"{self.dialect!r} is not a dialect; there are {', '.join(shipped_dialects())}"
            )
        for index, secret in enumerate(self.secrets):
            try:
                secret_key(_dialect(self.dialect).signatures.secret, secret)
            except ValueError as error:
                raise ValueError(f"secret {index} {error}") from None

    def fast_path(self) -> FastPath:
        dialect = _dialect(self.dialect)
        return FastPath(
            self._signature_scheme(),
            dialect.signatures.secret,
            self.secrets,
            dialect.delivery.event_id_header,
        )

    def verdict(self, headers: Headers, body: bytes, arrived_at: float) -> Verified | Unverified:
        """Verify a delivery as of its arrival, in Unix seconds."""
        dialect = _dialect(self.dialect)
        return verify(
            self._signature_scheme(),
            dialect.signatures.secret,
            self.secrets,
            headers,
            dialect.delivery.event_id_header,
            body,
            arrived_at,
        )

    def diagnose_delivery(self, delivery: ReceivedDelivery, known: KnownValues) -> Diagnosis | None:
        """Diagnose a delivery that is not verified; None for one that is."""
        dialect = _dialect(self.dialect)
        return diagnose(
            self._signature_scheme(),
            dialect.signatures.secret,
            self.secrets,
            delivery.headers,
            dialect.delivery.event_id_header,
            delivery.body,
            delivery.arrived_at,
            known=known,
        )

    def _signature_scheme(self) -> SignatureScheme:
        return _dialect(self.dialect).signatures.scheme(advanced=self.scheme == "advanced")


@dataclass(slots=True, kw_only=True)
class SignatureTally:
    """The verdicts on a token's deliveries since its secrets were registered.

    `unverified` counts deliveries by the reason.
    """

    verified: int = 0
    unverified: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Registration:
    """The secrets of one token, and what is kept for them."""

    token_secrets: TokenSecrets
    fast_path: FastPath
    tally: SignatureTally


class SecretsByToken:
    """The secrets of all tokens, and the tallies of their deliveries."""

    def __init__(self, observers: Observers | None = None) -> None:
        self._observers = observers or Observers()
        self._registrations: dict[str, _Registration] = {}

    def put(self, token: str, token_secrets: TokenSecrets) -> None:
        """Register a token's secrets in place of its previous ones; its tally starts again."""
        self._registrations[token] = _Registration(
            token_secrets=token_secrets,
            fast_path=token_secrets.fast_path(),
            tally=SignatureTally(),
        )
        for observer in self._observers.observers:
            observer.verdicts_changed(token)

    def find(self, token: str) -> TokenSecrets | None:
        registration = self._registrations.get(token)
        return registration.token_secrets if registration else None

    def tally(self, token: str) -> SignatureTally | None:
        """The tally of the token's deliveries; None without secrets."""
        registration = self._registrations.get(token)
        return registration.tally if registration else None

    def judge(self, arrival: Arrival) -> None:
        """Count a request as verified or not, if its token has secrets."""
        registration = self._registrations.get(arrival.token)
        if registration is None:
            return
        tally = registration.tally
        if registration.fast_path.is_certain(arrival.headers, arrival.body, arrival.arrived_at):
            tally.verified += 1
            return
        verdict = registration.token_secrets.verdict(
            arrival.text_headers(), arrival.body, arrival.arrived_at
        )
        if isinstance(verdict, Verified):
            tally.verified += 1
        else:
            tally.unverified[verdict.reason.value] += 1

    def verdict(self, delivery: ReceivedDelivery) -> Verified | Unverified | None:
        """The verdict on a delivery by the current secrets; None without secrets."""
        token_secrets = self.find(delivery.token)
        if token_secrets is None:
            return None
        return token_secrets.verdict(delivery.headers, delivery.body, delivery.arrived_at)

    def explain(self, delivery: ReceivedDelivery) -> str | None:
        """What the sender of an unverified delivery did instead; None without secrets.

        Takes up to about 50 ms. Secrets of other tokens are tried, too, and named by their token.
        """
        token_secrets = self.find(delivery.token)
        if token_secrets is None:
            return None
        # A copy, since this runs in a thread while secrets may be registered.
        registrations = tuple(self._registrations.items())
        other_secrets = {
            f"a secret of the token {token}": registration.token_secrets.secrets[0]
            for token, registration in registrations
            if token != delivery.token
        }
        diagnosis = token_secrets.diagnose_delivery(delivery, KnownValues(secrets=other_secrets))
        return diagnosis.cause if diagnosis else None

    def clear(self) -> None:
        self._registrations.clear()


@lru_cache(maxsize=16)
def _dialect(name: str) -> Dialect:
    return load_dialect(name)


def verdict_json(verdict: Verified | Unverified) -> dict[str, object]:
    """A verdict as JSON: the indices of the secrets that signed, or why it is not verified."""
    if isinstance(verdict, Verified):
        return {"verified": True, "secrets": verdict.secrets, "reason": None, "detail": None}
    return {
        "verified": False,
        "secrets": (),
        "reason": verdict.reason.value,
        "detail": verdict.detail,
    }
