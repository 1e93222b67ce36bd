"""The classes that a delivery engine is made of, so that one of them can be replaced by another of its kind."""

from dataclasses import dataclass
from typing import Final

from mockserver.delivery.courier import Courier
from mockserver.delivery.credentials import Credentials
from mockserver.delivery.dispatcher import Dispatcher
from mockserver.delivery.egress import EgressGuard
from mockserver.delivery.lane import Lane
from mockserver.delivery.oauth2 import OAuth2Tokens
from mockserver.delivery.outcomes import Outcomes
from mockserver.delivery.retry import RetryRules
from mockserver.delivery.signing import Signer
from mockserver.delivery.tls import TlsContexts
from mockserver.delivery.transport import Transport


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
