"""What every handler works with: the dialect, the store, and where identifiers, times and secrets
come from.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from hookproof.mockserver.api.errors import ErrorResponses
from hookproof.mockserver.api.paging import Pager
from hookproof.mockserver.api.serialization.response_serializer import ResponseSerializer
from hookproof.mockserver.api.signing_secrets import SigningSecrets
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
    """What handlers ask of the delivery engine."""

    def wake(self, *endpoint_uids: str) -> None:
        """Look at the store: these endpoints have new deliveries."""

    def visit(self, url: str, method: str) -> None:
        """Try a URL once, in the background; the outcome is nobody's business."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The collaborators of the handlers. `now` is the time in unix seconds and never stands still
    or goes back.
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
    timestamp: TimestampWriter
    identifier: Identifiers
    secrets: SigningSecrets
    pager: type[Pager]
    listing: type[Listing]
    cursor_seal: bytes
    dispatch: Dispatch


class OperationCall(msgspec.Struct, frozen=True, kw_only=True):
    """A request that was let in: `target` is the path's second parameter, `payload` the text of the
    body's `data`.
    """

    operation: Operation
    project: str
    target: str
    query: Mapping[str, list[str]]
    body: Mapping[str, Any]
    payload: bytes | None


class OperationResult(msgspec.Struct, frozen=True, kw_only=True):
    """A successful answer: its status and its body."""

    status: int
    body: bytes


Handler = Callable[[OperationCall], OperationResult]
