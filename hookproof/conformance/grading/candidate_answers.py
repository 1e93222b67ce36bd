"""The answers that a question can have, and how evidence is judged under one of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cache
from typing import Any, Final, get_args, get_origin, get_type_hints

from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import NotExaminedError, Observation
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.observations.answer import Kind, refused, resources, sent, shown
from hookproof.spec.catalogue import Level, load_catalogue
from hookproof.spec.dialect.answer import Answer, Undecided
from hookproof.spec.dialect.groups.requests import REQUIRES
from hookproof.spec.dialect.model import Dialect


def judgements_of(check: Check, observation: Observation, context: CheckContext) -> list[Judgement]:
    """The judgements of a check on one observation, as far as it gets under this dialect."""
    judgements: list[Judgement] = []
    with suppress(Undecided, NotExaminedError):
        judgements.extend(check.judgements(observation, context))
    return judgements


@cache
def requirements_of(field: str) -> frozenset[str]:
    """The open requirements that depend on the question that a field answers."""
    catalogue = load_catalogue()
    gaps = {gap.id for gap in catalogue.gaps.values() if field in gap.dialect}
    return frozenset(
        one.id
        for one in catalogue.requirements.values()
        if one.level is Level.OPEN and gaps.intersection(one.gaps) and one.untestable is None
    )


def checks_of(requirements: frozenset[str], checks: Iterable[Check]) -> tuple[Check, ...]:
    return tuple(check for check in checks if requirements.intersection(check.requirements))


def candidate_values(field: str, observations: Sequence[Observation]) -> Sequence[Any]:
    """The values to try for a field: every word of its list, or what was seen of its kind."""
    kind = kind_of(field)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return [member.value for member in kind]
    if kind is bool:
        return [False, True]
    propose = PROPOSED.get(field)
    if propose is None and kind is int and field.startswith(("errors.", "authentication.")):
        propose = _refusal_statuses
    return list(dict.fromkeys(propose(observations))) if propose else []


def kind_of(field: str) -> Any:
    kind = _type_of(field)
    return get_args(kind)[0] if is_answer(field) else kind


def is_answer(field: str) -> bool:
    """Whether a field may have several values, or none."""
    return get_origin(_type_of(field)) is Answer


@cache
def _type_of(field: str) -> Any:
    kind: Any = Dialect
    for name in field.split("."):
        kind = get_type_hints(kind, include_extras=False)[name]
    return kind


def _refusal_statuses(observations: Sequence[Observation]) -> Iterator[int]:
    for observation in observations:
        for exchange in observation.exchanges:
            if refused(exchange) and exchange.status is not None:
                yield exchange.status


def _success_statuses(observations: Sequence[Observation]) -> Iterator[int]:
    return (
        exchange.status
        for observation in observations
        for exchange in observation.exchanges
        if exchange.succeeded and exchange.status is not None
    )


# What is tried for a field whose answers are numbers: what the evidence shows of its kind.
PROPOSED: Final[Mapping[str, Callable[[Sequence[Observation]], Iterator[Any]]]] = {
    f"success.{name}": _success_statuses
    for name in ("created", "accepted", "ok", "get_endpoint", "list_portal_links")
}


def shown_values(field: str, observations: Sequence[Observation]) -> list[Any]:
    """The values that answers show for a field that names one of their members."""
    if field not in SHOWN:
        return []
    kind, member = SHOWN[field]
    values = (
        resource.fields.get(member)
        for observation in observations
        for exchange in observation.exchanges
        for resource in resources(exchange)
        if resource.kind is kind
    )
    return list(dict.fromkeys(value for value in values if isinstance(value, str) and value))


# The member of a resource whose value a field of the dialect names.
SHOWN: Final = {
    "words.endpoint_active": (Kind.ENDPOINT, "status"),
    "words.endpoint_disabled": (Kind.ENDPOINT, "status"),
    "words.event_created": (Kind.EVENT, "status"),
}


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

    A check compares an answer with what was sent and shown, so that all that is neither is alike to
    it: a mask that no answer shows, a bound between two numbers of the evidence.
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
