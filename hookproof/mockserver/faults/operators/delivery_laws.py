"""Which requirements a wrong delivery violates, by its place: each law is here once."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from hookproof.mockserver.faults.operators.laws import requirements_of
from hookproof.mockserver.faults.operators.place import DELIVERY, Place

# A signature that does not verify, or is missing.
_SIGNATURE: Final = (
    "signed_simple signed_advanced retries_signed advanced_layout simple_by_default"
    " shown_secret_signs"
)
_ROLLED_SIGNATURE: Final = (
    "old_secret_signs new_secret_signs new_secret_signs_alone each_old_secret_signs"
    " simple_signer expiry_meant"
)
_NOT_DELIVERED: Final = "delivered failures_apart reached targets_reached enabled_receives"
_OVER_LIMIT: Final = "rate_limit rate_limit_everywhere over_limit"

# What is wrong, in words of the operators, a pattern of places without DELIVERY, and the laws that
# this breaks.
Rows = Sequence[tuple[str, str, str]]
DELIVERY_ROWS: Final[Rows] = (
    # One part of what attempts send.
    ("changed missing stale", "sent.body.*", "body_is_data form_body digits_kept body_kept"),
    ("changed missing stale", "sent.event_id.*", "event_id_sent event_id_kept"),
    ("changed missing stale", "sent.attempt_number.*", "attempts_numbered"),
    ("changed missing stale", "sent.event_type.*", "event_type_sent"),
    ("changed missing", "sent.content_type.*", "default_content_type_sent content_type_sent"),
    ("changed missing stale", "sent.custom_headers.*", "custom_headers_sent"),
    ("stale", "sent.custom_headers.*", "no_foreign_headers"),
    ("changed missing unverified", "sent.signature.*", _SIGNATURE),
    ("changed missing unverified", "sent.signature.rolled", _ROLLED_SIGNATURE),
    ("changed missing", "sent.timestamp.*", _SIGNATURE),
    ("changed missing", "sent.timestamp.rolled", _ROLLED_SIGNATURE),
    ("changed stale", "sent.timestamp.*", "signed_time"),
    ("outdated", "sent.signature.*", "signed_time"),
    ("unverified", "sent.event_id.*", _SIGNATURE),
    ("changed missing", "sent.api_key.*", "api_key_sent"),
    ("changed missing", "sent.basic_auth.*", "basic_auth_sent"),
    (
        "changed missing",
        "sent.oauth2.*",
        "token_sent mapped_names_read mapped_type_read token_scheme unmapped_names",
    ),
    ("stale", "sent.oauth2.*", "token_lifetime mapped_lifetime_read"),
    ("missing", "sent.client_certificate.*", "certificate_presented"),
    # Attempts as a whole.
    (
        "endless",
        "attempt.*",
        (
            "timeout default_timeout endless_answer zero_timeout attempts_enough silence_retried"
            " interim_timeout"
        ),
    ),
    (
        "elsewhere",
        "attempt.*",
        (
            "attempts_enough attempt_waits success_is_final failure_retried silence_retried"
            " redirect_counted retry_after attempts_numbered not_reached delivered_once"
        ),
    ),
    # It goes past the other's limit, and counts as delivered when the other one accepts it.
    ("elsewhere", "attempt.*", f"{_OVER_LIMIT} disabled_after_failures chat_notified mail_sent"),
    ("elsewhere", "attempt.rolled", _NOT_DELIVERED),
    # What follows an answer, or silence.
    ("final", "answered.[2345]*", "attempts_enough failure_retried retry_after"),
    ("final", "answered.3*", "redirect_counted"),
    ("final", "answered.[a-z]*", "attempts_enough silence_retried"),
    ("repeated_first repeated_retry", "answered.2*", "success_is_final"),
    ("repeated_first repeated_retry", "answered.3*", "redirect_counted"),
    # An endpoint cannot tell a delivery that is repeated from that of a duplicate.
    (
        "repeated_first",
        "answered.2*",
        "duplicate_undelivered delivered_once interim_not_final long_answer_counts",
    ),
    ("followed", "answered.3*", "redirect_counted redirect_unfollowed token_redirect_unfollowed"),
    # Rate limits.
    ("uncounted swapped", "limited", _OVER_LIMIT),
    # Swapped numbers also hold back what the limit of the endpoint lets through.
    ("swapped", "limited", "limits_apart default_duration delivered reached"),
    ("shared", "limited", "limits_apart"),
    ("shared_dropped", "limited", "limits_apart over_limit delivered failures_apart reached"),
    ("left_out", "reached.*", _NOT_DELIVERED),
    ("new_left_out", "reached.*", f"{_NOT_DELIVERED} reached_after_creation"),
    ("trusted", "connected.*", "certificates_verified"),
    ("trusted", "token_request.connected.*", "token_certificates_verified"),
    ("kept", "lifetime", "token_lifetime mapped_lifetime_read"),
    ("dropped", "lifetime", "token_used_again"),
    ("mixed_up", "token.url", "token_sent"),
    ("mixed_up", "token.client_id", "token_of_own_client"),
    ("mixed_up", "token.scope", "token_of_own_scope"),
    ("mixed_up", "token.audience", "token_of_own_scope"),
    # Idempotency keys; the first event shows what it was created with.
    ("alike", "*.idempotency_key", "first_no_duplicate other_keys_differ delivered reached"),
    ("used_before", "*.idempotency_key", "duplicate_answered duplicate_undelivered"),
    ("of_others", "*.idempotency_key", "keys_by_project"),
    (
        "shown_as_first",
        "*.idempotency_key",
        (
            "unique@createBroadcastEvent echoed@createBroadcastEvent.event_type"
            " echoed@createBroadcastEvent.idempotency_key data_shown"
        ),
    ),
    ("of_others_shown", "*.idempotency_key", "own_project unique@createBroadcastEvent"),
    # Secrets.
    (
        "unused",
        "signing.advanced.*",
        (
            "new_secret_signs expired_secret_unused new_secret_signs_alone expiry_meant"
            " signed_advanced advanced_layout shown_secret_signs"
        ),
    ),
    (
        "unused",
        "signing.simple.*",
        "expiry_meant signed_simple simple_by_default shown_secret_signs",
    ),
    ("unused_at_once", "signing.simple.*", "simple_signer"),
    ("mislabelled", "signing.advanced.*", "new_secret_signs signed_advanced advanced_layout"),
    ("mislabelled", "signing.simple.*", "simple_signer"),
    ("foreign", "signing.*", "own_secret_signs shown_secret_signs expiry_meant"),
    (
        "foreign",
        "signing.advanced.*",
        (
            "signed_advanced advanced_layout old_secret_signs new_secret_signs"
            " new_secret_signs_alone each_old_secret_signs"
        ),
    ),
    ("foreign", "signing.simple.*", "signed_simple simple_by_default simple_signer"),
    (
        "early",
        "signing.advanced.*",
        "old_secret_signs each_old_secret_signs expiry_meant advanced_layout",
    ),
    ("early", "signing.simple.*", "simple_signer expiry_meant"),
    (
        "late",
        "signing.advanced.*",
        "expired_secret_unused each_old_secret_signs expiry_meant advanced_layout",
    ),
    ("late", "signing.simple.*", "simple_signer expiry_meant signed_simple"),
)


def violated_by_delivery(place: Place, *wrong: str) -> tuple[str, ...]:
    """The requirements that deliveries violate where this is wrong with them."""
    where = place.name.removeprefix(f"{DELIVERY}.")
    broken = (
        laws
        for words, pattern, laws in DELIVERY_ROWS
        if not set(wrong).isdisjoint(words.split()) and fnmatchcase(where, pattern)
    )
    return requirements_of(*broken)
