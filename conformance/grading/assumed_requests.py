"""Which assumed answers a request was made by, so that its refusal shows nothing but that one of
them is wrong.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.observations.answer import refused, sent
from hookproof.conformance.observations.succeeding_requests import is_to_succeed
from hookproof.spec.dialect.groups.requests import REQUIRES, REQUIRES_ONE_OF

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


def assumed_answers_behind(
    exchange: Exchange, observation: Observation, assumed: tuple[str, ...]
) -> Iterator[str]:
    """The assumed answers by which a refused request was to succeed.

    What another request of the observation succeeded with is not among them.
    """
    if not (refused(exchange) and is_to_succeed(exchange)):
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
        decide = (*DECIDE.get(field, ()), "requests.text_maximum_of")
        yield from (name for name in assumed if name.startswith(decide))
