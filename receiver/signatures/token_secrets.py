"""The secrets that sign a token's deliveries, as its owner registered them, and what they say of
what arrives.

A delivery is judged when it arrives, so that a run of any length knows how much of it was signed;
it can be judged again whenever it is shown, since the verdict depends on nothing but the delivery,
the secrets and the time of arrival.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Literal

import msgspec

from hookproof.receiver.inbox.arrival import Arrival
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.inbox.observer import Audience
from hookproof.receiver.signatures.diagnosis import Bisection, Known, bisect
from hookproof.receiver.signatures.fast_path import QuickCheck
from hookproof.receiver.signatures.secret_key import secret_key
from hookproof.receiver.signatures.signed_message import Headers
from hookproof.receiver.signatures.verification import Unverified, Verified, verify
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect, shipped_dialects

Secret = Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]


class Keyring(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The living secrets of a token, the dialect that says how they sign, and which of its two
    formats is used.
    """

    secrets: Annotated[tuple[Secret, ...], msgspec.Meta(min_length=1, max_length=16)]
    dialect: str = "reference"
    scheme: Literal["simple", "advanced"] = "simple"

    def __post_init__(self) -> None:
        """Refuse a dialect that is not shipped, and secrets that are none; msgspec turns ValueError
        into its own.
        """
        if self.dialect not in shipped_dialects():
            raise ValueError(
                f"{self.dialect!r} is no dialect; there are {', '.join(shipped_dialects())}"
            )
        for place, secret in enumerate(self.secrets):
            try:
                secret_key(_dialect(self.dialect).signatures.secret, secret)
            except ValueError as wrong:
                raise ValueError(f"secret {place} {wrong}") from None

    def quick_check(self) -> QuickCheck:
        """A quick look at deliveries that these secrets sign."""
        dialect = _dialect(self.dialect)
        scheme = dialect.signatures.scheme(advanced=self.scheme == "advanced")
        return QuickCheck(
            scheme, dialect.signatures.secret, self.secrets, dialect.delivery.event_id_header
        )

    def verdict(self, headers: Headers, body: bytes, arrived_at: float) -> Verified | Unverified:
        """Judge a delivery by the time when it arrived, in Unix seconds."""
        dialect = _dialect(self.dialect)
        return verify(
            dialect.signatures.scheme(advanced=self.scheme == "advanced"),
            dialect.signatures.secret,
            self.secrets,
            headers,
            dialect.delivery.event_id_header,
            body,
            arrived_at,
        )

    def explanation(self, delivery: ReceivedDelivery, known: Known) -> Bisection | None:
        """Name the mistake of a delivery that is not verified; None for one that is."""
        dialect = _dialect(self.dialect)
        return bisect(
            dialect.signatures.scheme(advanced=self.scheme == "advanced"),
            dialect.signatures.secret,
            self.secrets,
            delivery.headers,
            dialect.delivery.event_id_header,
            delivery.body,
            delivery.arrived_at,
            known=known,
        )


@dataclass(slots=True, kw_only=True)
class Tally:
    """How many of a token's deliveries were verified since its secrets were registered, and why the
    others were not.
    """

    verified: int = 0
    unverified: Counter[str] = field(default_factory=Counter)


class Keyrings:
    """The keyrings of all tokens, and what they told so far."""

    def __init__(self, audience: Audience | None = None) -> None:
        self._audience = audience or Audience()
        self._keyrings: dict[str, tuple[Keyring, QuickCheck, Tally]] = {}

    def put(self, token: str, keyring: Keyring) -> None:
        """Register a token's secrets in place of those it had; its tally begins anew."""
        self._keyrings[token] = (keyring, keyring.quick_check(), Tally())
        for watcher in self._audience.watchers:
            watcher.judged_anew(token)

    def of(self, token: str) -> Keyring | None:
        """A token's secrets, if any are registered."""
        known = self._keyrings.get(token)
        return known[0] if known else None

    def tally(self, token: str) -> Tally | None:
        """What became of the token's deliveries; None without secrets."""
        known = self._keyrings.get(token)
        return known[2] if known else None

    def judge(self, arrival: Arrival) -> None:
        """Count a request as verified or not, if its token has secrets."""
        known = self._keyrings.get(arrival.token)
        if known is None:
            return
        keyring, quick, tally = known
        if quick.certain(arrival.headers, arrival.body, arrival.arrived_at):
            tally.verified += 1
            return
        verdict = keyring.verdict(arrival.text_headers(), arrival.body, arrival.arrived_at)
        if isinstance(verdict, Verified):
            tally.verified += 1
        else:
            tally.unverified[verdict.reason.value] += 1

    def verdict(self, delivery: ReceivedDelivery) -> Verified | Unverified | None:
        """What the secrets say now of a delivery; None without secrets."""
        keyring = self.of(delivery.token)
        return (
            keyring.verdict(delivery.headers, delivery.body, delivery.arrived_at)
            if keyring
            else None
        )

    def explain(self, delivery: ReceivedDelivery) -> str | None:
        """What the sender of a delivery that is not verified did instead, in words; None without
        secrets.

        It takes up to some 50 ms. A secret of another token is looked for too, and told by that
        token's name.
        """
        known = tuple(self._keyrings.items())
        others = {
            f"a secret of the token {token}": secret
            for token, (keyring, _, _) in known
            if token != delivery.token
            for secret in keyring.secrets[:1]
        }
        own = self.of(delivery.token)
        found = own.explanation(delivery, Known(secrets=others)) if own else None
        return found.cause if found else None

    def clear(self) -> None:
        """Forget all secrets."""
        self._keyrings.clear()


@lru_cache(maxsize=16)
def _dialect(name: str) -> Dialect:
    return load_dialect(name)


def verdict_json(verdict: Verified | Unverified) -> dict[str, object]:
    """A verdict as a JSON object: which secrets signed, by their places, or why it is not verified."""
    if isinstance(verdict, Verified):
        return {"verified": True, "secrets": verdict.secrets, "reason": None, "detail": None}
    return {
        "verified": False,
        "secrets": (),
        "reason": verdict.reason.value,
        "detail": verdict.detail,
    }
