"""The answers of a dialect by their dotted names, and which of them may stay open."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import islice, product
from typing import Any, Final

from hookproof.spec.dialect.answer import Answer, Undecided
from hookproof.spec.dialect.file_schema import ASSUMED
from hookproof.spec.dialect.model import Dialect

# The gaps that a server may leave open: they are about what it sends besides deliveries, or younger
# than the format of the files.
MAY_STAY_UNDECIDED: Final = (
    "authentication.other_key_formats",
    "paging.bad_cursor",
    "paging.prev_without_cursor",
    "retry.final_status",
    "delivery.notify_on",
    "delivery.own_events",
    "delivery.token_scheme",
    "delivery.both_contacts",
    "delivery.zero_http_timeout",
    "delivery.failed_visit",
    "requests.header_text",
    "requests.client_certificate",
    "requests.partial_field_mapping",
    "requests.update_left_out",
    "requests.unknown_listed_endpoints",
    "requests.given_http_timeout",
    "requests.given_contacts",
    "requests.roll_without_body",
    "requests.undeclared_body",
    "requests.other_data",
    "requests.null_fields",
    "requests.nesting_maximum",
    "requests.url_addresses",
    "requests.url_other_ports",
    "requests.url_user_information",
    "requests.url_odd_hosts",
    "requests.url_fragments",
    "words.hmac_encodings",
    "words.kafka_auth_types",
    "representation.expired_secrets",
    "representation.failure_rate",
    "representation.event_count",
    "representation.event_raw",
    "representation.event_headers",
    "representation.event_header_values",
    "representation.event_acknowledged_at",
    "representation.event_source",
    "representation.event_application",
    "representation.event_query",
)


# How many ways to understand a dialect are tried before a requirement counts as violated.
MOST_READINGS: Final = 64

# How many missing answers a message names; a dialect may leave all of them open.
MOST_NAMED: Final = 10


def answers_of(dialect: Dialect) -> Iterator[tuple[str, object]]:
    """Every answer under its dotted name, such as `retry.attempts`, in the order of the classes."""
    yield from (pair for pair in _answers(dialect, "") if pair[0] != ASSUMED)


def undecided_fields(dialect: Dialect) -> tuple[str, ...]:
    """The dotted names of the answers that a dialect leaves undecided."""
    return tuple(
        name
        for name, answer in answers_of(dialect)
        if isinstance(answer, Answer) and not answer.decided
    )


def readings(dialect: Dialect, ambiguous: Collection[int]) -> Iterator[Dialect]:
    """The dialect with another value preferred in one or more of its answers, at most MOST_READINGS
    times.

    `ambiguous` holds the `id` of each of these answers; all of them allow several values.
    """
    if not ambiguous:
        return
    orders = [
        [(name, Answer((value, *answer.allowed))) for value in answer.allowed]
        for name, answer in answers_of(dialect)
        if isinstance(answer, Answer) and id(answer) in ambiguous
    ]
    for choice in islice(product(*orders), 1, MOST_READINGS + 1):
        reading = dialect
        for name, answer in choice:
            reading = with_answer(reading, name.split("."), answer)
        yield reading


def require_decided(dialect: Dialect, except_for: Collection[str] = MAY_STAY_UNDECIDED) -> None:
    """Raise Undecided, with the first names, if a dialect leaves an answer open that a server
    needs.
    """
    missing = needed_fields(dialect, except_for)
    if missing:
        raise Undecided(
            f"the dialect {dialect.name} cannot be acted on, since it leaves undecided:"
            f" {first_of(missing)}; give each of them a value"
        )


def needed_fields(
    dialect: Dialect, except_for: Collection[str] = MAY_STAY_UNDECIDED
) -> tuple[str, ...]:
    """The answers that a dialect leaves undecided, and without which a server cannot act."""
    return tuple(name for name in undecided_fields(dialect) if name not in except_for)


def first_of(names: Sequence[str]) -> str:
    """The first of some names of fields, and how many more there are, for one line."""
    others = len(names) - MOST_NAMED
    return f"{', '.join(names[:MOST_NAMED])}{f' and {others} more' if others > 0 else ''}"


def with_answer(record: Any, path: Sequence[str], answer: object) -> Any:
    """A copy of a group of answers in which one has another value."""
    first, *rest = path
    value = with_answer(getattr(record, first), rest, answer) if rest else answer
    return replace(record, **{first: value})


def _answers(record: object, prefix: str) -> Iterator[tuple[str, object]]:
    for field in fields(record) if is_dataclass(record) else ():
        value = getattr(record, field.name)
        if is_dataclass(value) and not isinstance(value, Answer):
            yield from _answers(value, f"{prefix}{field.name}.")
        else:
            yield f"{prefix}{field.name}", value
