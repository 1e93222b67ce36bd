"""Which requirements a wrong delivery violates, by its place: each law is here once."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from hookproof.mockserver.faults.operators.laws import in_order
from hookproof.mockserver.faults.operators.place import DELIVERY, Place, PlaceKind
from hookproof.spec.catalogue import load_catalogue

# A signature that does not verify, or is missing.
_SIGNATURE: Final = "6-6 6-7 6-9 6-10 2.3-9 2.4-3"
_ROLLED_SIGNATURE: Final = "4.3-2 4.3-3 4.3-5 4.3-6 4.3-7 4.3-16"
_NOT_DELIVERED: Final = "1-1 1-2 4.8-13 2.8-6 3-5"
_OVER_LIMIT: Final = "8-1 8-2 8-4"

# What is wrong, in words of the operators, a pattern of places without DELIVERY, and what that
# violates.
Rows = Sequence[tuple[str, str, str]]
DELIVERY_ROWS: Final[Rows] = (
    # One part of what attempts send.
    ("changed missing stale", "sent.body.*", "6-3 6-12 4.8-19 1-21"),
    ("changed missing stale", "sent.event_id.*", "4.8-16 1-20"),
    ("changed missing stale", "sent.attempt_number.*", "1-22"),
    ("changed missing stale", "sent.event_type.*", "4.8-17"),
    ("changed missing", "sent.content_type.*", "2.3-6 2.3-7"),
    ("changed missing stale", "sent.custom_headers.*", "6-4"),
    ("stale", "sent.custom_headers.*", "6-5"),
    ("changed missing unverified", "sent.signature.*", _SIGNATURE),
    ("changed missing unverified", "sent.signature.rolled", _ROLLED_SIGNATURE),
    ("changed missing", "sent.timestamp.*", _SIGNATURE),
    ("changed missing", "sent.timestamp.rolled", _ROLLED_SIGNATURE),
    ("changed stale", "sent.timestamp.*", "6-11"),
    ("outdated", "sent.signature.*", "6-11"),
    ("unverified", "sent.event_id.*", _SIGNATURE),
    ("changed missing", "sent.api_key.*", "2.5-9"),
    ("changed missing", "sent.basic_auth.*", "2.5-10"),
    ("changed missing", "sent.oauth2.*", "2.5-3 2.5-6 2.5-15 2.5-16 2.5-27"),
    ("stale", "sent.oauth2.*", "2.5-7 2.5-17"),
    ("missing", "sent.client_certificate.*", "2.3-17"),
    # Attempts as a whole.
    ("endless", "attempt.*", "8-7 8-9 8-19 8-21 1-12 1-17 6-23"),
    ("elsewhere", "attempt.*", "1-12 1-14 1-15 1-16 1-17 1-18 1-19 1-22 4.8-14 4.8-15"),
    # It goes past the other's limit, and counts as delivered when the other one accepts it.
    ("elsewhere", "attempt.*", f"{_OVER_LIMIT} 3-7 6-14 6-26"),
    ("elsewhere", "attempt.rolled", _NOT_DELIVERED),
    # What follows an answer, or silence.
    ("final", "answered.[2345]*", "1-12 1-16 1-19"),
    ("final", "answered.3*", "1-18"),
    ("final", "answered.[a-z]*", "1-12 1-17"),
    ("repeated_first repeated_retry", "answered.2*", "1-15"),
    ("repeated_first repeated_retry", "answered.3*", "1-18"),
    # An endpoint cannot tell a delivery that is repeated from that of a duplicate.
    ("repeated_first", "answered.2*", "4.8-9 4.8-15 6-24 6-25"),
    ("followed", "answered.3*", "1-18 6-17 2.5-14"),
    # Rate limits.
    ("uncounted swapped", "limited", _OVER_LIMIT),
    # Swapped numbers also hold back what the limit of the endpoint lets through.
    ("swapped", "limited", "8-3 8-6 1-1 4.8-13"),
    ("shared", "limited", "8-3"),
    ("shared_dropped", "limited", "8-3 8-4 1-1 1-2 4.8-13"),
    ("left_out", "reached.*", _NOT_DELIVERED),
    ("new_left_out", "reached.*", f"{_NOT_DELIVERED} 4.1-17"),
    ("trusted", "connected.*", "6-21"),
    ("trusted", "token_request.connected.*", "6-27"),
    ("kept", "lifetime", "2.5-7 2.5-17"),
    ("dropped", "lifetime", "2.5-18"),
    ("mixed_up", "token.url", "2.5-3"),
    # Idempotency keys; the first event shows what it was created with.
    ("alike", "*.idempotency_key", "2.8-9 4.8-10 1-1 4.8-13"),
    ("used_before", "*.idempotency_key", "4.8-8 4.8-9"),
    ("of_others", "*.idempotency_key", "4.8-12"),
    ("shown_as_first", "*.idempotency_key", "2.8-2 4.8-4 4.8-5 2.8-4"),
    ("of_others_shown", "*.idempotency_key", "1-3 2.8-2"),
    # Secrets.
    ("unused", "signing.advanced.*", "4.3-3 4.3-4 4.3-5 4.3-16 6-7 6-10 2.4-3"),
    ("unused", "signing.simple.*", "4.3-16 6-6 2.3-9 2.4-3"),
    ("unused_at_once", "signing.simple.*", "4.3-7"),
    ("mislabelled", "signing.advanced.*", "4.3-3 6-7 6-10"),
    ("mislabelled", "signing.simple.*", "4.3-7"),
    ("foreign", "signing.*", "6-8 2.4-3 4.3-16"),
    ("foreign", "signing.advanced.*", "6-7 6-10 4.3-2 4.3-3 4.3-5 4.3-6"),
    ("foreign", "signing.simple.*", "6-6 2.3-9 4.3-7"),
    ("early", "signing.advanced.*", "4.3-2 4.3-6 4.3-16 6-10"),
    ("early", "signing.simple.*", "4.3-7 4.3-16"),
    ("late", "signing.advanced.*", "4.3-4 4.3-6 4.3-16 6-10"),
    ("late", "signing.simple.*", "4.3-7 4.3-16 6-6"),
)


def violated_by_delivery(place: Place, *wrong: str) -> tuple[str, ...]:
    """The requirements that deliveries violate where this is wrong with them."""
    where = place.name.removeprefix(f"{DELIVERY}.")
    found = {
        name
        for words, pattern, requirements in DELIVERY_ROWS
        if not set(wrong).isdisjoint(words.split()) and fnmatchcase(where, pattern)
        for name in requirements.split()
    }
    if place.kind is PlaceKind.TOKEN:
        found |= _by_member(place.path[0])
    return in_order(found)


def _by_member(member: str) -> set[str]:
    """The sentences that forbid a token that was requested for another value of this member."""
    forbidden = rf"access token that was requested for another (?:\w+ or )*{member}\b"
    return {
        one.id for one in load_catalogue().requirements.values() if re.search(forbidden, one.text)
    }
