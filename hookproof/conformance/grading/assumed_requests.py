"""Which assumed answers a request was made by, so that what came of it shows nothing but that one
of them is wrong.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.observations.answer import refused, sent
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.spec.dialect.groups.requests import REQUIRES, REQUIRES_ONE_OF
from hookproof.spec.dialect.model import Dialect

REQUESTS: Final = "requests"
# The groups or fields of the dialect that decide whether the value of a field is accepted.
DECIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "authentication": ("words.auth", "words.oauth2"),
    "mtls_client_cert": ("requests.client_certificate",),
    "secret": ("signatures.secret",),
    "url": ("requests.url", "delivery.creation_visit", "delivery.failed_visit"),
    "http_timeout": ("requests.http_timeout", "delivery.zero_http_timeout"),
    "rate_limit": ("requests.rate_limit_maximum", "delivery.zero_rate_limit"),
    "rate_limit_duration": (
        "requests.rate_limit_duration",
        "delivery.default_rate_limit_duration",
        "delivery.rate_limit_unit",
    ),
    "content_type": ("delivery.form_body",),
    "appID": ("requests.app_id",),
    "expiration": ("requests.expiration", "rolling.expiration_unit"),
    "auth_type": ("words.portal_auth_types", "words.other_words"),
    "endpoints": ("requests.portal_endpoints", "requests.unknown_listed_endpoints"),
    "acknowledged_at": ("representation.timestamp",),
    "custom_headers": (
        "requests.header_text",
        "delivery.reserved_headers",
        "delivery.further_reserved_headers",
    ),
    "data": ("requests.nesting_maximum", "requests.other_data"),
    "idempotency_key": ("idempotency",),
}
# Fields that a service may take and understand otherwise, by the same answers.
UNDERSTOOD: Final = (
    "authentication",
    "mtls_client_cert",
    "auth_type",
    "acknowledged_at",
    "endpoints",
    "content_type",
    "rate_limit_duration",
    "expiration",
)
# What decides whether a broadcast comes to an endpoint at all.
REACH: Final = ("delivery.reach", "delivery.visible_within_s", "delivery.disabled_receives")
BROADCAST: Final = "createBroadcastEvent"


def _deciding(
    field: str, given: Iterable[Mapping[str, Any]], assumed: Iterable[str], dialect: Dialect
) -> Iterator[str]:
    """The assumed answers that decide what a field means, by all values that were given for it.

    Of the words for kinds of credentials these are those of the kinds that were given.
    """
    values = [each[field] for each in given if field in each]
    kinds = [value.get("type") for value in values if isinstance(value, Mapping)]
    for name in assumed:
        word = "auth_oauth2" if name.startswith("words.oauth2") else name.removeprefix("words.")
        is_other_kind = word.startswith("auth_") and getattr(dialect.words, word) not in kinds
        if name.startswith(DECIDE.get(field, ())) and not is_other_kind:
            yield name


def assumed_behind_refusal(
    exchange: Exchange, observation: Observation, dialect: Dialect, assumed: tuple[str, ...]
) -> Iterator[str]:
    """The assumed answers by which a refused request was made, so that they may be the reason.

    What another request of the observation succeeded with is not among them.
    """
    if not refused(exchange):
        return
    fields = sent(exchange).keys()
    others = [
        sent(each).keys()
        for each in observation.exchanges
        if each.operation_id == exchange.operation_id and each.succeeded
    ]
    taken = frozenset[str]().union(*others)
    operation_id = exchange.operation_id or ""
    if operation_id in REQUIRES and not any(fields >= other for other in others):
        names = (REQUIRES[operation_id], REQUIRES_ONE_OF.get(operation_id))
        yield from (name for name in assumed if name in {f"{REQUESTS}.{each}" for each in names})
    for field in fields - taken:
        yield from _deciding(field, [sent(exchange)], assumed, dialect)
        yield from (name for name in assumed if name.startswith("requests.text_maximum_of"))


def assumed_behind_settings(
    judgement: Judgement,
    observation: Observation,
    asked: Collection[str],
    dialect: Dialect,
    assumed: tuple[str, ...],
) -> Iterator[str]:
    """The assumed answers by which fields of its requests and endpoints are meant; `asked` are the
    answers that the requirement depends on.
    """
    given: list[Mapping[str, Any]] = [sent(exchange) for exchange in judgement.exchanges]
    if isinstance(observation, DeliveryObservation):
        tokens = {delivery.token for delivery in judgement.deliveries}
        given += [each.settings for each in observation.destinations if each.token in tokens]
    for field in UNDERSTOOD:
        if any(field in each for each in given):
            yield from _deciding(field, given, filter(asked.__contains__, assumed), dialect)


def assumed_behind_silence(
    judgement: Judgement, observation: Observation, dialect: Dialect, assumed: tuple[str, ...]
) -> Iterator[str]:
    """The assumed answers by which a broadcast was to come to an endpoint that got nothing.

    One that got an earlier event is known to be reached, and at that time.
    """
    broadcasts = [each for each in judgement.exchanges if each.operation_id == BROADCAST]
    if not broadcasts or not isinstance(observation, DeliveryObservation):
        return
    roles = {exchange.role for exchange in judgement.exchanges}
    shown = {delivery.token for delivery in judgement.deliveries}
    named = [
        each for each in observation.destinations if each.name in roles and each.token not in shown
    ]
    if shown and not named:
        return
    missing = min(broadcast.sent_at for broadcast in broadcasts)
    earlier = [
        event
        for event in observation.events
        if (sent_with := observation.exchange(event.name)) and sent_with.sent_at < missing
    ]
    reached = {each.token for each, _, _ in observation.arrived_events(named, earlier, dialect)}
    if not named or reached != {each.token for each in named}:
        yield from (name for name in assumed if name in REACH)
