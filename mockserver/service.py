"""What every handler works with: the dialect, the store, and where identifiers, times and secrets come from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from mockserver.identifiers import Identifiers, TimestampWriter
from mockserver.paging import Pager
from mockserver.refusals import Refusals
from mockserver.signing_secrets import SigningSecrets
from mockserver.store.database import Database
from mockserver.store.endpoints import Endpoints
from mockserver.store.events import Events
from mockserver.store.listings import Listing
from mockserver.store.portal_links import PortalLinks
from mockserver.store.sources import Sources
from mockserver.wire import Wire
from spec.contract import Contract, Operation
from spec.dialect import Dialect


class Dispatch(Protocol):
    """What handlers ask of the delivery engine."""

    def wake(self, *endpoint_uids: str) -> None:
        """Look at the store: these endpoints have new deliveries."""

    def visit(self, url: str, method: str) -> None:
        """Try a URL once, in the background; the outcome is nobody's business."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The collaborators of the handlers. `now` is the time in unix seconds and never stands still or goes back."""

    dialect: Dialect
    contract: Contract
    refusals: Refusals
    wire: Wire
    database: Database
    endpoints: Endpoints
    portal_links: PortalLinks
    sources: Sources
    events: Events
    now: Callable[[], float]
    timestamp: TimestampWriter
    identifier: Identifiers
    secrets: SigningSecrets
    pager: type[Pager]
    listing: type[Listing]
    cursor_seal: bytes
    dispatch: Dispatch


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A request that was let in: `target` is the path's second parameter, `payload` the text of the body's `data`."""

    operation: Operation
    project: str
    target: str
    query: Mapping[str, list[str]]
    body: Mapping[str, Any]
    payload: bytes | None


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A successful answer: its status and its body."""

    status: int
    body: bytes


Handler = Callable[[Call], Reply]
