"""Deliveries to endpoints with oauth2 written by hand, masked as checks see them."""

from collections.abc import Sequence
from typing import Any

from hookproof.conformance.model.evidence import Observation
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.subjects.credentials.evidence import (
    OAuth2Deliveries,
    SharedSecretGrant,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import destination, event, observed, sent
from tests.conformance.canned_evidence import NOW, context, delivery

GIVEN = {
    "url": "https://tokens.invalid/path/token",
    "client_id": "me",
    "client_secret": "s+1",
    "grant_type": "client_credentials",
    "scope": "a",
    "audience": "b",
}
MAPPING = {"access_token": "issued", "expires_in": "lifetime", "token_type": "kind"}


def masked(observation: Observation) -> Observation:
    """An observation whose credentials are masked, as it is stored."""
    evidence = Mask([], context().dialect).evidence(observation)
    assert isinstance(evidence, Observation)
    return evidence


def authorized(**members: Any) -> Destination:
    return destination(
        "authorized", authentication={"type": "oauth2", "oauth2": {**GIVEN, **members}}
    )


def with_oauth2(
    kind: type[OAuth2Deliveries] = SharedSecretGrant,
    *,
    authorization: str = "Bearer issued-1",
    requests: Sequence[ReceivedDelivery] = (),
    where: Destination | None = None,
    **fields: Any,
) -> Observation:
    where = where or authorized()
    arrived = sent(event(), where, headers=[("Authorization", authorization)])
    observation = observed(
        kind,
        where,
        arrived,
        *requests,
        issued=("issued-1", "issued-2"),
        token_server="token server",
        **fields,
    )
    return masked(observation)


def token_request(
    body: str = "", *, at: float = NOW, completed_after: float | None = 0.001, **headers: str
) -> ReceivedDelivery:
    return delivery(
        "token server",
        body=body.encode(),
        headers=headers.items(),
        arrived_at=at,
        completed_after=completed_after,
    )
