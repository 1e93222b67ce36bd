"""What an answer can be that nobody knows, so that what fails by each of them fails anyhow.

A check compares an answer with what was sent and shown, so that all that is neither is alike to it:
a mask that no answer shows, a bound between two numbers of the evidence.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from hookproof.conformance.grading.candidate_answers import is_answer, kind_of
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Observation
from hookproof.conformance.observations.answer import sent, shown
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.groups.requests import REQUIRES

# What no service shows or sends.
NEVER: Final = "never-seen-by-anybody"
MASK: Final = "representation.mask"
HEADERS: Final = (
    "delivery.event_id_header",
    "delivery.attempt_header",
    "delivery.event_type_header",
)
BOUNDS: Final = (
    "requests.size_limit",
    "requests.http_timeout_minimum",
    "requests.http_timeout_maximum",
    "requests.rate_limit_maximum",
    "requests.rate_limit_duration_maximum",
    "requests.expiration_maximum",
    "requests.expiration_minimum",
)
REQUIRED_BY: Final[Mapping[str, str]] = {
    f"requests.{name}": operation_id for operation_id, name in REQUIRES.items()
}
# Where a text may be a mask.
MASKED: Final = ("value", "authentication", "mtls_client_cert")
# More texts or numbers than these are not tried.
MOST_VALUES: Final = 40


def possible_answers(
    field: str, observation: Observation, context: CheckContext
) -> tuple[Any, ...]:
    """Values for a field such that each other one would be to a check as one of them; none if that
    cannot be said, as of the names and formats by which requests and signatures are made.
    """
    values = tuple(dict.fromkeys(_values(field, observation, context)))
    if len(values) > MOST_VALUES:
        return ()
    return tuple(Answer((value,)) for value in values) if is_answer(field) else values


def _values(field: str, observation: Observation, context: CheckContext) -> Iterator[Any]:
    kind = kind_of(field)
    if field.startswith("signatures."):
        return
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        yield from kind
    elif kind is bool:
        yield from (False, True)
    elif field == MASK:
        yield from (NEVER, *_texts([each.json for each in observation.exchanges]))
    elif field in HEADERS:
        yield from (None, NEVER)
        yield from (name for each in observation.deliveries for name, _ in each.headers)
    elif field in BOUNDS:
        yield from (0 if kind is int else None, *_edges(observation))
    elif (operation_id := REQUIRED_BY.get(field)) is not None:
        schema = context.contract.operations[operation_id].body_schema or {}
        yield from ((), tuple(schema.get("properties", ())))


def _texts(value: Any, *, may_be_mask: bool = False) -> Iterator[str]:
    """What is shown where a mask may stand."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from _texts(member, may_be_mask=may_be_mask or name in MASKED)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member, may_be_mask=may_be_mask)
    elif isinstance(value, str) and may_be_mask:
        yield value


def _edges(observation: Observation) -> Iterator[int]:
    """The numbers that were sent and shown, and those beside them."""
    for exchange in observation.exchanges:
        for number in (*sent(exchange).values(), *shown(exchange).values()):
            if type(number) is int:
                yield from (edge for edge in (number - 1, number, number + 1) if edge >= 0)
