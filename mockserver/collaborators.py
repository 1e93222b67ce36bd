"""The classes that the server is made of: what the composition root joins, and what a fault
replaces one of.
"""

from dataclasses import dataclass

from hookproof.mockserver.api.api_keys import Keys
from hookproof.mockserver.api.errors import Refusals
from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.handlers.events import EventHandlers
from hookproof.mockserver.api.handlers.portal_links import PortalLinkHandlers
from hookproof.mockserver.api.handlers.sources import SourceHandlers
from hookproof.mockserver.api.paging import Pager
from hookproof.mockserver.api.request_pipeline import Api
from hookproof.mockserver.api.routes import Routes
from hookproof.mockserver.api.serialization.envelope import Wire
from hookproof.mockserver.api.signing_secrets import SigningSecrets
from hookproof.mockserver.delivery.collaborators import CLEAN, DeliveryCollaborators
from hookproof.mockserver.store.deliveries import Deliveries
from hookproof.mockserver.store.endpoints import Endpoints
from hookproof.mockserver.store.events import Events
from hookproof.mockserver.store.keyset_paging import Listing
from hookproof.mockserver.store.portal_links import PortalLinks


@dataclass(frozen=True, slots=True, kw_only=True)
class Collaborators:
    """One class for each part of the API, and those of the delivery engine."""

    api: type[Api] = Api
    routes: type[Routes] = Routes
    keys: type[Keys] = Keys
    refusals: type[Refusals] = Refusals
    wire: type[Wire] = Wire
    endpoint_handlers: type[EndpointHandlers] = EndpointHandlers
    portal_link_handlers: type[PortalLinkHandlers] = PortalLinkHandlers
    source_handlers: type[SourceHandlers] = SourceHandlers
    event_handlers: type[EventHandlers] = EventHandlers
    pager: type[Pager] = Pager
    listing: type[Listing] = Listing
    endpoints: type[Endpoints] = Endpoints
    portal_links: type[PortalLinks] = PortalLinks
    events: type[Events] = Events
    secrets: type[SigningSecrets] = SigningSecrets
    deliveries: type[Deliveries] = Deliveries
    delivery: DeliveryCollaborators = CLEAN
