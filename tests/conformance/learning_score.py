"""Compares learned answers with those of the dialect under which a server runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hookproof.conformance.learning.deliveries.gathering import RETRY_AFTER_S
from hookproof.conformance.learning.error_body import shape
from hookproof.conformance.learning.learned_answers import Certainty, LearnedAnswer, LearnedAnswers
from hookproof.spec.contract.responses import template_schema
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.answers import answers_of
from hookproof.spec.dialect.file_schema import LABELS
from hookproof.spec.dialect.given_settings import least_http_timeout
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import (
    Acceptance,
    CreationVisit,
    EventEcho,
    IdentifierForm,
    KeyScope,
    OnInput,
    RetryAfter,
    SecretForm,
    SigningSecrets,
    ZeroTimeout,
)

ONE_SECRET = (SigningSecrets.NEWEST, SigningSecrets.OLDEST)
# As many as two rolls lead to.
SIGNATURES = 3
# By how much a learned time may be longer than the true one, in seconds, or as a share.
LONGER = 1.0
# The widest that a signed time is away from its arrival, in seconds, for it to be recognised.
LEAST_TOLERANCE_S = 120.0


class Outcome(StrEnum):
    RIGHT = "right"
    WRONG = "wrong"
    OPEN = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How a field was learned; `observable` is whether a run of this kind can show it."""

    field: str
    outcome: Outcome
    observable: bool
    learned: LearnedAnswer
    true: Any


def scores(answers: LearnedAnswers, true: Dialect) -> list[Score]:
    known = dict(answers_of(true))
    return [
        Score(
            field=field,
            outcome=outcome(answers.answer(field), known[field], true),
            observable=is_observable(field, true),
            learned=answers.answer(field),
            true=known[field],
        )
        for field in answers.fields
        if field not in LABELS
    ]


def outcome(learned: LearnedAnswer, true: Any, dialect: Dialect) -> Outcome:
    """What was seen must not contradict the truth; it may be one of several that are true."""
    if learned.certainty in (Certainty.ASSUMED, Certainty.UNSEEN):
        return Outcome.OPEN
    rule = RULES.get(learned.field)
    if rule is not None:
        return Outcome.RIGHT if rule(learned.values[0], true, dialect) else Outcome.WRONG
    if isinstance(true, Answer):
        allowed, seen = set(true.allowed), set(learned.values)
        agrees = not allowed or seen <= allowed or allowed <= seen
        return Outcome.RIGHT if agrees else Outcome.WRONG
    agrees = learned.values[0] == (list(true) if isinstance(true, tuple) else true)
    return Outcome.RIGHT if agrees else Outcome.WRONG


def _same_members(learned: Any, true: Any, _dialect: Dialect) -> bool:
    return set(learned) == set(true)


def _words_in_use(learned: Any, true: Any, _dialect: Dialect) -> bool:
    """Words that no resource shows are not seen; words that never come accuse nobody."""
    return bool(set(learned) & set(true))


def _at_least(learned: Any, true: Any, _dialect: Dialect) -> bool:
    return bool(true <= learned <= true + LONGER)


def _wide_enough(learned: Any, _true: Any, _dialect: Dialect) -> bool:
    """What receivers accept does not show; the servers here send the time as it is."""
    return bool(learned >= LEAST_TOLERANCE_S)


def _labels(name: str) -> Callable[[Any, Any, Dialect], bool]:
    """The last label is that of all further signatures, and may count them."""

    def rule(learned: Any, true: Any, dialect: Dialect) -> bool:
        one = getattr(dialect.signatures, name).secrets in ONE_SECRET
        count = 1 if one else SIGNATURES
        return _first_labels(learned, count) == _first_labels(true, count)

    return rule


def _first_labels(versions: Any, count: int) -> list[str]:
    labels = [*versions, *([versions[-1]] * count if versions else ())]
    return [label.replace("{n}", str(place)) for place, label in enumerate(labels[:count], 1)]


def _prefixes(learned: Any, true: Any, _dialect: Dialect) -> bool:
    """A pattern is learned wider than it is, with the same prefix, where there is one."""
    return all(
        kind in true and pattern.partition("[")[0] == true[kind].partition("[")[0]
        for kind, pattern in learned.items()
    )


def _identifier(learned: Any, true: Any, dialect: Dialect) -> bool:
    """Any text, where resources of which too little was seen have a pattern of their own."""
    opaque = learned == IdentifierForm.OPAQUE and bool(dialect.representation.identifier_of)
    return learned in true.allowed or opaque


def _other_words(learned: Any, true: Any, dialect: Dialect) -> bool:
    """What an update of a portal link shows alone counts for all fields."""
    return any(
        answer.allows(learned) for answer in (true, dialect.words.other_words_in("auth_type"))
    )


def _other_words_of(learned: Any, _true: Any, dialect: Dialect) -> bool:
    return all(dialect.words.other_words_in(name).allows(word) for name, word in learned.items())


def _least_timeout(learned: Any, _true: Any, dialect: Dialect) -> bool:
    """A minimum of 1, and a 0 that is refused, are the same behaviour."""
    return bool(learned == least_http_timeout(dialect))


def _zero_timeout(learned: Any, true: Any, dialect: Dialect) -> bool:
    if dialect.requests.http_timeout_minimum > 0:
        return bool(learned == ZeroTimeout.REFUSED)
    return learned in true.allowed or len(true.allowed) == 0 or learned == ZeroTimeout.DEFAULT


def _retry_after(learned: Any, true: Any, dialect: Dialect) -> bool:
    """A wait that is honoured up to a shorter one than was asked for, is one that is ignored."""
    short = dialect.retry.retry_after_maximum_s < RETRY_AFTER_S
    return learned in true.allowed or (short and learned == RetryAfter.IGNORED)


def _visit(learned: Any, true: Any, _dialect: Dialect) -> bool:
    """A service that may try URLs with any request uses some of them only."""
    return learned in true.allowed or CreationVisit.ANY in true.allowed


def _format_separator(name: str) -> Callable[[Any, Any, Dialect], bool]:
    def rule(learned: Any, true: Any, dialect: Dialect) -> bool:
        scheme = getattr(dialect.signatures, name)
        return scheme.secrets in ONE_SECRET or learned == true

    return rule


def _unknown_resource(learned: Any, _true: Any, dialect: Dialect) -> bool:
    """Where operations differ, that of most is learned as the usual one."""
    return any(status.allows(learned) for status in dialect.errors.statuses("unknown_resource"))


def _by_operation(learned: Any, _true: Any, dialect: Dialect) -> bool:
    return all(
        dialect.errors.status(refusal, operation).allows(status)
        for operation, statuses in learned.items()
        for refusal, status in statuses.items()
    )


def _error_body(learned: Any, true: Any, _dialect: Dialect) -> bool:
    """Some placeholders stand for the same texts."""
    return bool(template_schema(learned) == template_schema(true))


def _own_bodies(learned: Any, true: Any, _dialect: Dialect) -> bool:
    """Bodies that were seen once are learned wider than they are, with the same members."""
    return all(
        kind in true and shape(body or {}) == shape(true[kind] or {})
        for kind, body in learned.items()
    )


def _key_format(learned: Any, true: Any, dialect: Dialect) -> bool:
    """A key that is taken with a scheme and alone may be learned as either."""
    taken = dialect.authentication.other_key_formats.prefers(Acceptance.TAKEN)
    return learned == true or (taken and "{key}" in (learned, true))


def _other_key_formats(learned: Any, true: Any, dialect: Dialect) -> bool:
    """Of a service that takes the key alone and in one scheme of its own, that scheme is the other
    format, and whichever is tried is refused.
    """
    has_scheme = dialect.authentication.key_format != "{key}"
    return learned in true.allowed or (has_scheme and true.allowed == (Acceptance.TAKEN,))


RULES: Mapping[str, Callable[[Any, Any, Dialect], bool]] = {
    "authentication.key_format": _key_format,
    "authentication.other_key_formats": _other_key_formats,
    "representation.masked": _same_members,
    "errors.unknown_resource": _unknown_resource,
    "errors.by_operation": _by_operation,
    "errors.body": _error_body,
    "errors.bodies": _own_bodies,
    "requests.create_broadcast_event_requires_one_of": _same_members,
    "requests.update_portal_link_requires_one_of": _same_members,
    **{
        f"requests.{operation}_requires": _same_members
        for operation in (
            "create_endpoint",
            "expire_endpoint_secret",
            "update_portal_link",
            "create_broadcast_event",
        )
    },
    "requests.service_assigned": _same_members,
    "representation.identifier": _identifier,
    "words.other_words": _other_words,
    "words.other_words_of": _other_words_of,
    "representation.identifier_of": _prefixes,
    "requests.http_timeout_minimum": _least_timeout,
    "delivery.zero_http_timeout": _zero_timeout,
    **{
        f"words.{name}": _words_in_use
        for name in (
            "portal_auth_types",
            "source_types",
            "source_providers",
            "verifier_types",
            "pub_sub_types",
            "oauth2_expiry_units",
        )
    },
    "delivery.creation_visit": _visit,
    "retry.jitter": _at_least,
    "retry.retry_after": _retry_after,
    # How long to wait: longer than it takes accuses nobody.
    "delivery.visible_within_s": lambda learned, true, _dialect: learned >= true,
    "signatures.simple.tolerance_s": _wide_enough,
    "signatures.advanced.tolerance_s": _wide_enough,
    "signatures.simple.versions": _labels("simple"),
    "signatures.advanced.versions": _labels("advanced"),
    "signatures.simple.separator": _format_separator("simple"),
    "signatures.advanced.separator": _format_separator("advanced"),
}

# What nothing shows that a run in the standard profile does.
NEVER = frozenset(
    {
        "retry.retry_after_maximum_s",
        "delivery.both_contacts",
        # What was seen closes no list of words.
        "words.portal_auth_types",
        "words.source_types",
        "words.source_providers",
        "words.verifier_types",
        "words.pub_sub_types",
        "words.hmac_encodings",
        "words.kafka_auth_types",
        # Jitter is told from the noise of a machine only where it is larger.
        "retry.jitter",
        "requests.service_assigned",
        "delivery.further_reserved_headers",
        "representation.no_value_of",
        "representation.identifier_of",
        "words.other_words_of",
        "errors.by_operation",
    }
)


def _needs_no_form(dialect: Dialect) -> bool:
    rules = dialect.signatures.secret
    return not rules.prefix and rules.form is SecretForm.TEXT


def _is_refused(dialect: Dialect) -> bool:
    return dialect.idempotency.duplicate_status.value >= 300


def _is_slow_limit(dialect: Dialect) -> bool:
    """A limit over minutes takes longer to show than there is time."""
    return dialect.delivery.rate_limit_unit.in_seconds > 1


def _sends_no_time(name: str) -> Callable[[Dialect], bool]:
    def rule(dialect: Dialect) -> bool:
        scheme = getattr(dialect.signatures, name)
        return "{timestamp}" not in scheme.value and scheme.timestamp_header is None

    return rule


def _signs_no_time(name: str) -> Callable[[Dialect], bool]:
    return lambda dialect: "{timestamp}" not in getattr(dialect.signatures, name).signed


def _is_not_capped(dialect: Dialect) -> bool:
    retry = dialect.retry
    longest = retry.initial_s.value * retry.factor.value ** max(0, retry.attempts.value - 2)
    return bool(longest <= retry.maximum_s.value)


def _has_none(field: str) -> Callable[[Dialect], bool]:
    """A bound that does not exist is met by no request."""

    def rule(dialect: Dialect) -> bool:
        known = dict(answers_of(dialect))[field]
        return None in known.allowed if isinstance(known, Answer) else known is None

    return rule


# What a dialect itself makes impossible to see.
HIDDEN: Mapping[str, Callable[[Dialect], bool]] = {
    **{
        field: _has_none(field)
        for field in (
            "requests.size_limit",
            "requests.http_timeout_maximum",
            "requests.rate_limit_maximum",
            "requests.rate_limit_duration_maximum",
            "requests.expiration_maximum",
            "requests.expiration_minimum",
            "requests.nesting_maximum",
            "paging.maximum_per_page",
            "paging.owner_filter",
            "paging.name_filter",
        )
    },
    "paging.owner_match": lambda d: d.paging.owner_filter is None,
    "paging.name_match": lambda d: d.paging.name_filter is None,
    "signatures.simple.tolerance_s": _signs_no_time("simple"),
    "signatures.advanced.tolerance_s": _signs_no_time("advanced"),
    "retry.final_status": lambda d: (
        d.retry.attempts.value == 1 or 1 in d.retry.deactivate_after.allowed
    ),
    "retry.deactivate_after": lambda d: 0 in d.retry.deactivate_after.allowed,
    "representation.event_header_values": lambda dialect: (
        not dialect.representation.event_headers.allows(EventEcho.SENT)
    ),
    "authentication.foreign_key_status": lambda d: (
        d.authentication.key_scope.value is not KeyScope.PROJECT
    ),
    "errors.unknown_project": lambda d: d.authentication.key_scope.value is KeyScope.KEY_DECIDES,
    "paging.above_maximum": lambda d: d.paging.maximum_per_page.value is None,
    "representation.mask": lambda d: not d.representation.masked,
    "rolling.default_expiration": lambda d: (
        "expiration" in d.requests.expire_endpoint_secret_requires
    ),
    "requests.update_portal_link_requires_one_of": lambda d: (
        not d.requests.update_portal_link_requires_one_of
    ),
    "requests.create_broadcast_event_requires_one_of": lambda d: (
        not d.requests.create_broadcast_event_requires_one_of
    ),
    "errors.bodies": lambda d: not d.errors.bodies,
    "errors.body_too_large": lambda d: d.requests.size_limit is None,
    "requests.roll_without_body": lambda d: bool(d.requests.expire_endpoint_secret_requires),
    "requests.update_left_out": lambda d: (
        {"owner_id", "can_manage_endpoint"} <= set(d.requests.update_portal_link_requires)
    ),
    "retry.maximum_s": _is_not_capped,
    "retry.factor": lambda d: d.retry.attempts.value < 3,
    "delivery.first_attempt": lambda d: d.delivery.attempt_header is None,
    "delivery.reach": lambda d: "owner_id" in d.requests.create_endpoint_requires,
    "idempotency.duplicate": _is_refused,
    "delivery.rate_limit_unit": _is_slow_limit,
    "delivery.excess": _is_slow_limit,
    "signatures.secret.other_forms": _needs_no_form,
    "signatures.secret.prefix_in_key": lambda d: not d.signatures.secret.prefix,
    "signatures.simple.timestamp_unit": _sends_no_time("simple"),
    "signatures.advanced.timestamp_unit": _sends_no_time("advanced"),
    "words.oauth2_expiry_units": lambda d: d.words.other_words.value is OnInput.IGNORED,
    "signatures.simple.separator": lambda d: d.signatures.simple.secrets in ONE_SECRET,
}


def is_observable(field: str, dialect: Dialect) -> bool:
    hidden = HIDDEN.get(field)
    return field not in NEVER and not (hidden is not None and hidden(dialect))
