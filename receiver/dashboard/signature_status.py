"""How a delivery stands by the secrets that are known of its token now: what its row on the page
shows.

`hookproof.receiver.signatures.judgement` is another matter: the word on one delivery by secrets,
formats and a tolerance that a user names.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from hookproof.receiver.inbox.delivery import ReceivedDelivery


class Verdict(StrEnum):
    """Whether a delivery is signed; `UNCHECKED` while no secret of its token is known."""

    VERIFIED = "verified"
    UNVERIFIED = "unverified"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A verdict; `reason` in a word or two and `detail` in a sentence, both None unless it is
    unverified.
    """

    verdict: Verdict
    reason: str | None = None
    detail: str | None = None


class Standings(Protocol):
    """Says how deliveries stand."""

    def standing(self, delivery: ReceivedDelivery) -> Standing:
        """How one delivery stands; quick enough for every row of the page."""
        ...

    def explain(self, delivery: ReceivedDelivery) -> str | None:
        """What the sender of an unverified delivery signed in place of it, in words; None if that
        is not known.

        It may take long and is called in a thread.
        """
        ...
