"""What the handlers work with, and what they receive and return."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from hookproof.mockserver.api.errors import ErrorResponses
from hookproof.mockserver.api.paging import Pager
from hookproof.mockserver.api.serialization.response_serializer import ResponseSerializer
from hookproof.mockserver.api.signing_secrets import SecretSource
from hookproof.mockserver.store.database import Database
from hookproof.mockserver.store.endpoints import EndpointTable
from hookproof.mockserver.store.events import EventTable
from hookproof.mockserver.store.identifiers import Identifiers, TimestampWriter
from hookproof.mockserver.store.keyset_paging import Listing
from hookproof.mockserver.store.portal_links import PortalLinkTable
from hookproof.mockserver.store.sources import SourceTable
from hookproof.spec.contract.service_contract import Contract, Operation
from hookproof.spec.dialect.model import Dialect


class Dispatch(Protocol):
    """The delivery engine, as the handlers see it."""

    def wake(self, *endpoint_uids: str) -> None:
        """Report that these endpoints have new deliveries in the store."""

    def visit(self, url: str, *methods: str) -> None:
        """Request a URL in the background, with each method until one gets a 2xx."""

    async def is_answered(self, url: str, *methods: str) -> bool:
        """Request a URL likewise, and return whether one gets a 2xx."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiService:
    """The collaborators of the handlers.

    `now` returns unix seconds and is strictly increasing; `steady` the engine's, which decide when
    a delivery is due and do not follow a clock that is set.
    """

    dialect: Dialect
    contract: Contract
    errors: ErrorResponses
    serializer: ResponseSerializer
    database: Database
    endpoints: EndpointTable
    portal_links: PortalLinkTable
    sources: SourceTable
    events: EventTable
    now: Callable[[], float]
    steady: Callable[[], float]
    timestamp: TimestampWriter
    identifier: Identifiers
    secrets: SecretSource
    pager: type[Pager]
    listing: type[Listing]
    cursor_seal: bytes
    dispatch: Dispatch


class OperationCall(msgspec.Struct, frozen=True, kw_only=True):
    """A request that was accepted for processing.

    `target` is the value of the path's second parameter, `query_text` the query as it was sent,
    `payload` the verbatim text of the body's `data`.
    """

    operation: Operation
    project: str
    target: str
    query: Mapping[str, list[str]]
    body: Mapping[str, Any]
    payload: bytes | None
    query_text: str = ""


class OperationResult(msgspec.Struct, frozen=True, kw_only=True):
    """The status and the body of a successful response."""

    status: int
    body: bytes


Handler = Callable[[OperationCall], OperationResult]
