"""The API document, transcribed: the operations of section 4 and their parameters.

Read from the document and not from spec/openapi.yaml, as `document_tables.py` is.
"""

import re
from dataclasses import dataclass, field

from tests.spec.document_tables import Fields


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedOperation:
    """One operation of section 4; `data` is the schema of what a success carries.

    `label` is None where the document does not label the success.
    """

    section: str
    method: str
    path: str
    label: str | None
    data: str
    body: str | None = None
    query_parameters: Fields = field(default_factory=dict)
    unnamed_parameters: Fields = field(default_factory=dict)

    @property
    def path_parameters(self) -> tuple[str, ...]:
        return tuple(re.findall(r"\{(\w+)\}", self.path))


PROJECT = "/api/v1/projects/{projectID}"

OPERATIONS = {
    "createEndpoint": DocumentedOperation(
        section="4.1",
        method="post",
        path=f"{PROJECT}/endpoints",
        body="CreateEndpoint",
        label="Created",
        data="Endpoint",
    ),
    "getEndpoint": DocumentedOperation(
        section="4.2",
        method="get",
        path=f"{PROJECT}/endpoints/{{endpointID}}",
        label=None,
        data="Endpoint",
    ),
    "expireEndpointSecret": DocumentedOperation(
        section="4.3",
        method="put",
        path=f"{PROJECT}/endpoints/{{endpointID}}/expire_secret",
        body="ExpireSecret",
        label="OK",
        data="Endpoint",
    ),
    "listPortalLinks": DocumentedOperation(
        section="4.4",
        method="get",
        path=f"{PROJECT}/portal-links",
        query_parameters={
            "direction": "string",
            "next_page_cursor": "string",
            "prev_page_cursor": "string",
            "perPage": "integer",
            "sort": "string",
        },
        unnamed_parameters={
            "portal-owner-filter-name": "string",
            "portal-name-filter-name": "string",
        },
        label=None,
        data="PortalLinkPage",
    ),
    "getPortalLink": DocumentedOperation(
        section="4.5",
        method="get",
        path=f"{PROJECT}/portal-links/{{portalLinkID}}",
        label="OK",
        data="PortalLink",
    ),
    "updatePortalLink": DocumentedOperation(
        section="4.6",
        method="put",
        path=f"{PROJECT}/portal-links/{{portalLinkID}}",
        body="UpdatePortalLink",
        label="Accepted",
        data="PortalLink",
    ),
    "listSources": DocumentedOperation(
        section="4.7",
        method="get",
        path=f"{PROJECT}/sources",
        query_parameters={
            "direction": "string",
            "next_page_cursor": "string",
            "prev_page_cursor": "string",
            "perPage": "integer",
            "provider": "string",
            "sort": "string",
            "type": "string",
        },
        label="OK",
        data="SourcePage",
    ),
    "createBroadcastEvent": DocumentedOperation(
        section="4.8",
        method="post",
        path=f"{PROJECT}/events/broadcast",
        body="CreateBroadcastEvent",
        label="Created",
        data="Event",
    ),
}
