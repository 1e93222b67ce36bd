"""The classes that the server is made of; a fault replaces one of them with a subclass.

`hookproof serve --list-faults --json` shows the field names as `replaces`.
"""

from dataclasses import dataclass

from hookproof.mockserver.api.api_keys import ApiKeys
from hookproof.mockserver.api.errors import ErrorResponses
from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.handlers.events import EventHandlers
from hookproof.mockserver.api.handlers.portal_links import PortalLinkHandlers
from hookproof.mockserver.api.handlers.sources import SourceHandlers
from hookproof.mockserver.api.paging import Pager
from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.routes import Routes
from hookproof.mockserver.api.serialization.response_serializer import ResponseSerializer
from hookproof.mockserver.api.signing_secrets import SecretSource
from hookproof.mockserver.delivery.collaborators import CLEAN, DeliveryCollaborators
from hookproof.mockserver.store.deliveries import Deliveries
from hookproof.mockserver.store.endpoints import EndpointTable
from hookproof.mockserver.store.events import EventTable
from hookproof.mockserver.store.keyset_paging import Listing
from hookproof.mockserver.store.portal_links import PortalLinkTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Collaborators:
    pipeline: type[RequestPipeline] = RequestPipeline
    routes: type[Routes] = Routes
    api_keys: type[ApiKeys] = ApiKeys
    errors: type[ErrorResponses] = ErrorResponses
    serializer: type[ResponseSerializer] = ResponseSerializer
    endpoint_handlers: type[EndpointHandlers] = EndpointHandlers
    portal_link_handlers: type[PortalLinkHandlers] = PortalLinkHandlers
    source_handlers: type[SourceHandlers] = SourceHandlers
    event_handlers: type[EventHandlers] = EventHandlers
    pager: type[Pager] = Pager
    listing: type[Listing] = Listing
    endpoints: type[EndpointTable] = EndpointTable
    portal_links: type[PortalLinkTable] = PortalLinkTable
    events: type[EventTable] = EventTable
    secrets: type[SecretSource] = SecretSource
    deliveries: type[Deliveries] = Deliveries
    delivery: DeliveryCollaborators = CLEAN
