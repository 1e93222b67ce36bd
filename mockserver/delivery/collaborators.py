"""The classes that a delivery engine is made of, so that one of them can be replaced by another of
its kind.
"""

from dataclasses import dataclass
from typing import Final

from hookproof.mockserver.delivery.attempt.credentials import Credentials
from hookproof.mockserver.delivery.attempt.oauth2 import OAuth2Tokens
from hookproof.mockserver.delivery.attempt.sender import Courier
from hookproof.mockserver.delivery.attempt.signing import Signer
from hookproof.mockserver.delivery.http_client.egress import EgressGuard
from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.delivery.http_client.transport import Transport
from hookproof.mockserver.delivery.scheduling.dispatcher import Dispatcher
from hookproof.mockserver.delivery.scheduling.endpoint_queue import Lane
from hookproof.mockserver.delivery.scheduling.outcomes import Outcomes
from hookproof.mockserver.delivery.scheduling.retry import RetryRules


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryCollaborators:
    """One class for each part."""

    courier: type[Courier] = Courier
    credentials: type[Credentials] = Credentials
    dispatcher: type[Dispatcher] = Dispatcher
    egress: type[EgressGuard] = EgressGuard
    lane: type[Lane] = Lane
    tokens: type[OAuth2Tokens] = OAuth2Tokens
    outcomes: type[Outcomes] = Outcomes
    retry_rules: type[RetryRules] = RetryRules
    signer: type[Signer] = Signer
    tls: type[TlsContexts] = TlsContexts
    transport: type[Transport] = Transport


CLEAN: Final = DeliveryCollaborators()
