"""The classes that the server is made of: what the composition root joins, and what a fault replaces one of."""

from dataclasses import dataclass

from mockserver.api import Api
from mockserver.delivery.collaborators import CLEAN, DeliveryCollaborators
from mockserver.handlers.endpoints import EndpointHandlers
from mockserver.handlers.events import EventHandlers
from mockserver.handlers.portal_links import PortalLinkHandlers
from mockserver.handlers.sources import SourceHandlers
from mockserver.keys import Keys
from mockserver.paging import Pager
from mockserver.refusals import Refusals
from mockserver.routes import Routes
from mockserver.signing_secrets import SigningSecrets
from mockserver.store.deliveries import Deliveries
from mockserver.store.endpoints import Endpoints
from mockserver.store.events import Events
from mockserver.store.listings import Listing
from mockserver.store.portal_links import PortalLinks
from mockserver.wire import Wire


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
