"""All eight operations by the client that openapi-python-client generates; mypy reads it too."""

import sys
from typing import TYPE_CHECKING, assert_type

import httpx
from generated_client import AuthenticatedClient
from generated_client.api.endpoints import create_endpoint, expire_endpoint_secret, get_endpoint
from generated_client.api.events import create_broadcast_event
from generated_client.api.portal_links import get_portal_link, list_portal_links, update_portal_link
from generated_client.api.sources import list_sources
from generated_client.models import (
    CreateBroadcastEvent,
    CreateBroadcastEventCustomHeaders,
    CreateBroadcastEventData,
    CreateEndpoint,
    Endpoint,
    EndpointEnvelope,
    Event,
    EventEnvelope,
    ExpireSecret,
    PortalLink,
    PortalLinkEnvelope,
    PortalLinkPageEnvelope,
    Secret,
    Source,
    SourcePageEnvelope,
    UpdatePortalLink,
)
from generated_client.types import Unset


def endpoints(client: AuthenticatedClient, project: str) -> None:
    body = CreateEndpoint(name="orders", url="https://127.0.0.1/orders", is_disabled=True)
    created = create_endpoint.sync(project, client=client, body=body)
    assert isinstance(created, EndpointEnvelope)
    assert_type(created.data, Endpoint)
    uid = created.data.uid
    assert isinstance(uid, str)
    fetched = get_endpoint.sync(project, uid, client=client)
    assert isinstance(fetched, EndpointEnvelope)
    assert_type(fetched.data.uid, str | Unset)
    assert fetched.data.url == body.url
    roll = ExpireSecret(expiration=1, secret="a-secret-of-its-own-0123456789abcdef")
    rolled = expire_endpoint_secret.sync(project, uid, client=client, body=roll)
    assert isinstance(rolled, EndpointEnvelope)
    secrets = rolled.data.secrets
    assert isinstance(secrets, list)
    assert_type(secrets, list[Secret])
    assert roll.secret in [secret.value for secret in secrets]


def portal_links(client: AuthenticatedClient, project: str) -> None:
    listed = list_portal_links.sync(project, client=client, per_page=1)
    assert isinstance(listed, PortalLinkPageEnvelope)
    link = listed.data.content[0]
    assert_type(link, PortalLink)
    uid = link.uid
    assert isinstance(uid, str)
    body = UpdatePortalLink(name="renamed", owner_id="owner-1")
    updated = update_portal_link.sync(project, uid, client=client, body=body)
    assert isinstance(updated, PortalLinkEnvelope)
    retrieved = get_portal_link.sync(project, uid, client=client)
    assert isinstance(retrieved, PortalLinkEnvelope)
    assert updated.data.name == retrieved.data.name == "renamed"


def sources_and_events(client: AuthenticatedClient, project: str) -> None:
    listed = list_sources.sync(project, client=client)
    assert isinstance(listed, SourcePageEnvelope)
    assert_type(listed.data.content, list[Source])
    assert_type(listed.data.pagination.has_next_page, bool | Unset)
    assert listed.data.content
    body = CreateBroadcastEvent(
        event_type="order.paid",
        data=CreateBroadcastEventData.from_dict({"order": "1042"}),
        custom_headers=CreateBroadcastEventCustomHeaders.from_dict({"X-Shop": "example"}),
    )
    created = create_broadcast_event.sync(project, client=client, body=body)
    assert isinstance(created, EventEnvelope)
    assert_type(created.data, Event)
    headers = created.data.headers
    assert headers is not None
    assert not isinstance(headers, Unset)
    assert headers["X-Shop"] == "example"
    if TYPE_CHECKING:  # what is typed has no field of another name
        wrong = created.data.evnt_type  # type: ignore[attr-defined]
        assert wrong


if __name__ == "__main__":
    url, project, key = sys.argv[1:]
    # Over plain HTTP; tests have no certificates to be read.
    patience = httpx.Timeout(60)
    client = AuthenticatedClient(base_url=url, token=key, verify_ssl=False, timeout=patience)
    endpoints(client, project)
    portal_links(client, project)
    sources_and_events(client, project)
    sys.stdout.write("done\n")
