"""HTTP to domain and back: one handler for each operation of the contract, by operationId."""

from collections.abc import Mapping

from mockserver.handlers.endpoints import EndpointHandlers
from mockserver.handlers.events import EventHandlers
from mockserver.handlers.portal_links import PortalLinkHandlers
from mockserver.handlers.sources import SourceHandlers
from mockserver.service import Handler, Service


def handlers_for(service: Service) -> Mapping[str, Handler]:
    """The handlers of a service, by operationId."""
    endpoints = EndpointHandlers(service)
    portal_links = PortalLinkHandlers(service)
    return {
        "createEndpoint": endpoints.create,
        "getEndpoint": endpoints.get,
        "expireEndpointSecret": endpoints.expire_secret,
        "listPortalLinks": portal_links.list,
        "getPortalLink": portal_links.get,
        "updatePortalLink": portal_links.update,
        "listSources": SourceHandlers(service).list,
        "createBroadcastEvent": EventHandlers(service).create_broadcast,
    }
