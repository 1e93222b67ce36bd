"""Endpoints that were created and fetched again (sections 2.3 to 2.5, 4.1 and 4.2)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.observations.answer import shown_uid
from hookproof.conformance.observations.resources.client_key import (
    ShownClientKey,
    shown_client_keys,
)
from hookproof.conformance.observations.resources.shown_secret import ShownSecret, shown_secrets
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests
from hookproof.spec.dialect.model import Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointCreation(Observation):
    """Endpoints that were created, each perhaps fetched afterwards.

    `shown_client_keys` are the private keys in the answers, compared when they came in.
    """

    shown_client_keys: tuple[ShownClientKey, ...] = ()

    def examined(self, dialect: Dialect) -> Self:
        """The observation with its private keys compared."""
        del dialect
        return replace(self, shown_client_keys=tuple(shown_client_keys(self.exchanges)))

    @property
    def created(self) -> tuple[Exchange, ...]:
        return tuple(
            exchange
            for exchange in self.all_exchanges("create")
            if exchange.operation_id == "createEndpoint"
        )

    @property
    def fetched(self) -> tuple[Exchange, ...]:
        return self.all_exchanges("fetch")

    @property
    def may_lack_mechanism(self) -> bool:
        """Whether the target may show nothing of an authentication mechanism that it was sent."""
        return False

    def created_and_fetched(self) -> Iterator[tuple[Exchange, Exchange]]:
        """Each creation with the last retrieval of the same endpoint."""
        retrievals = {shown_uid(exchange): exchange for exchange in self.fetched}
        for created in self.created:
            fetched = retrievals.get(shown_uid(created))
            if fetched is not None and shown_uid(created) is not None:
                yield created, fetched


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrip(EndpointCreation):
    """Endpoints that were created for the sake of these fields, and fetched."""

    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointRoundTrip(RoundTrip, SucceedingRequests):
    """One endpoint with fields that section 4.1 lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticationRoundTrip(RoundTrip):
    """One endpoint with a mechanism that section 2.5 shows in responses alone.

    `promised` is whether the target file names it as a capability of the target.
    """

    promised: bool

    @property
    def may_lack_mechanism(self) -> bool:
        """Whether the target has not promised the mechanism."""
        return not self.promised


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimalEndpoints(RoundTrip, SucceedingRequests):
    """Endpoints with the required fields alone; the service generates their secrets.

    `shown_secrets` are the secrets in the answers to the creations.
    """

    shown_secrets: tuple[ShownSecret, ...] = ()

    def examined(self, dialect: Dialect) -> Self:
        """The observation with the form of each secret."""
        rules = dialect.signatures.secret
        observed = EndpointCreation.examined(self, dialect)
        return replace(observed, shown_secrets=shown_secrets(self.created, rules))


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointsOfOneOwner(RoundTrip, SucceedingRequests):
    """Several endpoints with the same owner_id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretOfAnotherForm(RoundTrip):
    """One endpoint with a secret that has neither the dialect's prefix nor its form."""
