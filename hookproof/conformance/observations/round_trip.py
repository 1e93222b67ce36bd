"""Endpoints that were created and fetched again (sections 2.3 to 2.5, 4.1 and 4.2)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.observations.answer import sent, shown, shown_uid
from hookproof.conformance.observations.client_key import (
    ShownClientKey,
    shown_client_keys,
)
from hookproof.conformance.observations.roles import AllExchanges
from hookproof.conformance.observations.shown_secret import ShownSecret, shown_secrets
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

    fetched = AllExchanges("fetch")

    @property
    def may_lack_mechanism(self) -> bool:
        """Whether the target may show nothing of an authentication mechanism that it was sent."""
        return False

    def created_and_fetched(self) -> Iterator[tuple[Exchange, Exchange]]:
        """Each creation with the last retrieval of the same endpoint.

        The URL tells the endpoint where the answer to its creation shows no uid.
        """
        by_uid = {shown_uid(exchange): exchange for exchange in self.fetched}
        by_url = {url: exchange for exchange in self.fetched if (url := _url(shown(exchange)))}
        for created in self.created:
            uid = shown_uid(created)
            fetched = by_url.get(_url(sent(created))) if uid is None else by_uid.get(uid)
            if fetched is not None:
                yield created, fetched

    def first_shown(self, created: Exchange) -> Exchange:
        """The answer that shows first what was created: that to the creation, or the retrieval if
        that shows no endpoint.
        """
        if shown(created) or not created.succeeded:
            return created
        return self._retrievals.get(id(created), created)

    def known_uid(self, created: Exchange) -> str | None:
        """The uid of what was created, from the answer to its creation or from its retrieval."""
        return shown_uid(created) or shown_uid(self._retrievals.get(id(created)))

    @property
    def _retrievals(self) -> dict[int, Exchange]:
        return {id(created): fetched for created, fetched in self.created_and_fetched()}


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

    `shown_secrets` are the secrets in the answers that show them first.
    """

    shown_secrets: tuple[ShownSecret, ...] = ()

    def examined(self, dialect: Dialect) -> Self:
        """The observation with the form of each secret."""
        rules = dialect.signatures.secret
        observed = EndpointCreation.examined(self, dialect)
        secrets = shown_secrets(map(self.first_shown, self.created), rules)
        return replace(observed, shown_secrets=secrets)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointsOfOneOwner(RoundTrip, SucceedingRequests):
    """Several endpoints with the same owner_id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TellingRoundTrip(RoundTrip):
    """One endpoint whose texts change in whatever a service does to texts; any may be refused."""


def _url(endpoint: Mapping[str, Any]) -> str:
    """The url of an endpoint if it is a text, else an empty one."""
    url = endpoint.get("url")
    return url if isinstance(url, str) else ""
