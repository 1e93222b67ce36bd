"""The handlers: one for each operation of the contract, by operationId."""

from collections.abc import Mapping

from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.handlers.events import EventHandlers
from hookproof.mockserver.api.handlers.portal_links import PortalLinkHandlers
from hookproof.mockserver.api.handlers.sources import SourceHandlers
from hookproof.mockserver.api.service import Handler


def build_handlers(
    endpoints: EndpointHandlers,
    portal_links: PortalLinkHandlers,
    sources: SourceHandlers,
    events: EventHandlers,
) -> Mapping[str, Handler]:
    return {
        "createEndpoint": endpoints.create,
        "getEndpoint": endpoints.get,
        "expireEndpointSecret": endpoints.expire_secret,
        "listPortalLinks": portal_links.list,
        "getPortalLink": portal_links.get,
        "updatePortalLink": portal_links.update,
        "listSources": sources.list,
        "createBroadcastEvent": events.create_broadcast,
    }
