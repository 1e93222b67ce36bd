"""The classes that a delivery engine is built from; a planted fault replaces one by a subclass."""

from dataclasses import dataclass
from typing import Final

from hookproof.mockserver.delivery.attempt.credentials import Authenticator
from hookproof.mockserver.delivery.attempt.oauth2 import OAuth2Tokens
from hookproof.mockserver.delivery.attempt.sender import AttemptSender
from hookproof.mockserver.delivery.attempt.signing import Signer
from hookproof.mockserver.delivery.http_client.egress import EgressGuard
from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.delivery.http_client.transport import Transport
from hookproof.mockserver.delivery.scheduling.dispatcher import Dispatcher
from hookproof.mockserver.delivery.scheduling.endpoint_queue import EndpointQueue
from hookproof.mockserver.delivery.scheduling.outcomes import Outcomes
from hookproof.mockserver.delivery.scheduling.retry import RetryRules


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryCollaborators:
    attempt_sender: type[AttemptSender] = AttemptSender
    authenticator: type[Authenticator] = Authenticator
    dispatcher: type[Dispatcher] = Dispatcher
    egress: type[EgressGuard] = EgressGuard
    endpoint_queue: type[EndpointQueue] = EndpointQueue
    tokens: type[OAuth2Tokens] = OAuth2Tokens
    outcomes: type[Outcomes] = Outcomes
    retry_rules: type[RetryRules] = RetryRules
    signer: type[Signer] = Signer
    tls: type[TlsContexts] = TlsContexts
    transport: type[Transport] = Transport


CLEAN: Final = DeliveryCollaborators()
