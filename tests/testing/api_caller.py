"""A client of the API of the reference server, as somebody would write it."""

import json
import urllib.error
import urllib.request
from typing import Any

from hookproof import Service


def call(
    service: Service, method: str, path: str, record: dict[str, Any] | None = None
) -> tuple[int, Any]:
    """Call an operation of the service's project; return the status and the `data`."""
    request = urllib.request.Request(
        f"{service.url}/api/v1/projects/{service.project}/{path}",
        method=method,
        data=None if record is None else json.dumps(record).encode(),
        headers={"Authorization": service.authorization, "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read()).get("data")
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, None


def broadcast_to(service: Service, url: str, secret: str, event_type: str = "order.paid") -> str:
    """Create an endpoint, send it an event, and return the identifier of the endpoint."""
    endpoint = {"name": "orders", "url": url, "secret": secret}
    status, created = call(service, "POST", "endpoints", endpoint)
    assert status // 100 == 2
    event = {"event_type": event_type, "data": {"order": 1}}
    assert call(service, "POST", "events/broadcast", event)[0] // 100 == 2
    return str(created["uid"])
