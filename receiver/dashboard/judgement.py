"""What is said of a delivery's signature: a verdict, the reason, and in words what the sender did instead."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from receiver.delivery import ReceivedDelivery


class Verdict(StrEnum):
    """Whether a delivery is signed; `UNCHECKED` while no secret of its token is known."""

    VERIFIED = "verified"
    UNVERIFIED = "unverified"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A verdict; `reason` in a word or two and `detail` in a sentence, both None unless it is unverified."""

    verdict: Verdict
    reason: str | None = None
    detail: str | None = None


class Judge(Protocol):
    """Judges deliveries by the secrets that are known for their tokens."""

    def judge(self, delivery: ReceivedDelivery) -> Judgement:
        """The judgement of one delivery; quick enough for every row of the page."""
        ...

    def explain(self, delivery: ReceivedDelivery) -> str | None:
        """What the sender of an unverified delivery signed in place of it, in words; None if that is not known.

        It may take long and is called in a thread.
        """
        ...
